"""`max_features`: for those who must fit a model's limit."""

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.core.errors import ParameterError


@pytest.fixture(scope="module")
def sums():
    """Each of six columns is needed, the first ones more than the others."""
    X = np.random.default_rng(0).normal(size=(300, 6))
    return pd.DataFrame(X, columns=list("abcdef")), X @ [3, 3, 3, 1, 1, 1]


@pytest.mark.parametrize("most", [1, 3, 5])
def test_no_more_are_kept_and_it_is_said(sums, most):
    found = bf.select(*sums, max_features=most, time_limit=None)
    assert len(found.features) == most and set(found.features[:3]) <= {"a", "b", "c"}
    assert found.verdict.startswith(f"Keep {'this' if most == 1 else 'these'} {most} of 6 features: ")
    assert f"At most {most} {'was' if most == 1 else 'were'} to be kept, as asked." in found.verdict
    assert found.alternatives["n_features"].tolist() == [0, *range(1, most + 1), 6]


def test_a_limit_that_is_no_limit_changes_nothing(sums):
    free, limited = (bf.Auto(max_candidates=20, max_features=most).fit(*sums) for most in (None, 6))
    assert free.verdict_ == limited.verdict_ and len(free.selected_features_) == 6


def test_of_groups_the_columns_count(sums):
    groups = {"first": ["a", "b", "c"], "last": ["d", "e", "f"]}
    kept = [
        bf.Auto(max_candidates=20, feature_groups=groups, max_features=most).fit(*sums).selected_features_
        for most in (2, 3, 6)
    ]
    assert kept[0] == [] and sorted(kept[1]) == ["a", "b", "c"] and len(kept[2]) == 6


def test_more_that_are_included_are_refused(sums):
    with pytest.raises(ParameterError, match="max_features is 2, but 3 features are included"):
        bf.Auto(max_features=2, include=["d", "e", "f"]).fit(*sums)
    found = bf.Auto(max_candidates=20, max_features=3, include=["d", "e", "f"]).fit(*sums)
    assert sorted(found.selected_features_) == ["d", "e", "f"]
