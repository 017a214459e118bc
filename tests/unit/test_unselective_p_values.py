"""The report says where p-values no longer select, in a real run; a search that asks for an effect is none of them."""

import numpy as np
import pytest

import blanketflow as bf
from blanketflow.reporting.report.dataset import facts

SEARCHES = {
    "strict": {"method": "mmpc", "ci_test": "fisher-z", "alpha": 0.01, "max_k": 1},
    "stricter": {"method": "iamb", "ci_test": "fisher-z", "alpha": 0.001, "min_effect": 0.3},
    "ranking": {"method": "mrmr", "n_features": 3},
}


def table(n):
    rng = np.random.default_rng(0)
    y = rng.normal(size=n)
    return np.column_stack([y + 2 * rng.normal(size=n) for _ in range(10)]), y


@pytest.fixture(scope="module")
def run():
    data = {"many": table(10_500), "few": table(9_500)}
    return bf.compare(data, selectors=SEARCHES, evaluation=0, folds=0).run


def test_it_is_said_once_for_each_test_with_the_alpha_of_the_searches_that_it_holds_for(run):
    (said,) = run.unselective["many"]
    assert said.startswith("fisher-z: with 10,500 rows 10 of 10 features have p <= 0.01 given nothing")
    assert ("p-values", said) in facts(run.cards["many"], None, run.unselective["many"])


def test_nothing_is_said_where_rows_are_few(run):
    assert run.unselective.keys() == {"many"}
    assert "p-values" not in dict(facts(run.cards["few"]))
