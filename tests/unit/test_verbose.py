"""`verbose` says on stderr how far a search is, in the same form for `fit` and `blankets`, and nothing by default."""

import re

import numpy as np
import pytest
from sklearn import config_context
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

import blanketflow as bf
from blanketflow.core.errors import ConfigError, DataError, ParameterError, UnknownNameError
from blanketflow.search.run_fold import run_fold
from blanketflow.selectors.judged.held_out import judge
from blanketflow.selectors.judged.pace import Pace

RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 3))
Y = X[:, 0] + X[:, 1] + RNG.normal(size=100)


def lines(capsys):
    captured = capsys.readouterr()
    assert captured.out == ""
    return [re.sub(r"^\[\d+\.\d s\] ", "", line) for line in captured.err.splitlines()]


def test_nothing_is_said_unasked(capsys):
    bf.HITONMB(ci_test="fisher-z").fit(X, Y)
    bf.blankets(X, ci_test="fisher-z")
    assert lines(capsys) == []


def test_stages_of_each_fold_are_said(capsys):
    found = bf.GS(ci_test="fisher-z", n_folds=2, verbose=1).fit(X, Y)
    said = lines(capsys)
    assert len(said) == 6 and said[0] == "GS, fold 1of2: 3 features tested given nothing, 50 rows"
    assert said[4].startswith("GS, fold 2of2: grow: ") and said[4].endswith(" CI tests")
    assert found.get_params()["verbose"] == 1


def test_steps_are_those_of_the_trace(capsys):
    found = bf.GS(ci_test="fisher-z", verbose=2).fit(X, Y)
    said = [line.split(", p = ")[0] for line in lines(capsys) if ", p = " in line]
    words = {("grow", True): "admits", ("shrink", True): "keeps"}
    expected = [
        f"GS: {row.stage}: {words.get((row.stage, row.kept), 'removes')} {row.feature}"
        for row in found.trace_.itertuples()
    ]
    assert said == expected != []


def test_all_blankets_say_a_line_per_target(capsys):
    found = bf.blankets(X, ci_test="fisher-z", verbose=1)
    assert lines(capsys) == [f"blankets: x{i}: {len(found[f'x{i}'])} in its blanket, ok" for i in range(3)]


def test_rounds_of_judging_are_counted():
    from blanketflow.core.convert import as_table
    from blanketflow.core.task import target_column

    table = as_table(np.c_[X[:40, :1], Y[:40]])
    said = []
    judge(
        table.select(["x0"]),
        target_column(table["x1"], "regression"),
        0,
        2,
        5,
        Pace(),
        tell=said.append,
        search=run_fold,
    )
    assert [line.partition(":")[0] for line in said] == [f"round {i} of 6" for i in range(1, 7)]


@pytest.mark.parametrize("verbose", [-1, 1.5, "yes"])
def test_what_is_no_level_is_refused(verbose):
    with pytest.raises(ParameterError, match="verbose"):
        bf.MRMR(verbose=verbose).fit(X, Y)
    with pytest.raises(ParameterError, match="blankets: verbose"):
        bf.blankets(X, ci_test="fisher-z", verbose=verbose)


@pytest.mark.extended
def test_blankets_do_not_depend_on_the_number_of_processes():
    one, two = (bf.blankets(X, ci_test="fisher-z", n_jobs=n_jobs) for n_jobs in (1, 2))
    assert two.found == one.found and two.statuses == one.statuses and [*two] == [*one]
    assert two.n_tests >= one.n_tests


def test_a_pipeline_with_metadata_routing_takes_a_selector():
    with config_context(enable_metadata_routing=True):
        model = make_pipeline(bf.GS(ci_test="fisher-z"), DecisionTreeRegressor(random_state=0))
        model[0].set_fit_request(sample_weight=True)
        model[-1].set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        weights = np.arange(100) % 3
        scores = cross_val_score(model, X, Y, cv=2, params={"sample_weight": weights}, error_score="raise")
    assert np.isfinite(scores).all()


def test_errors_of_ours_are_value_errors():
    assert all(issubclass(error, ValueError) for error in (ConfigError, DataError, UnknownNameError))


def test_a_test_that_does_not_take_a_column_names_those_that_do():
    classes = np.arange(100) % 3
    with pytest.raises(ValueError, match=r"'target' .* 3 levels\. Set ci_test to lr-mixed or g2, .* or to auto"):
        bf.HITONMB(ci_test="fisher-z").fit(X, classes)
    for test in ("lr-mixed", "g2", "auto"):
        assert bf.IAMB(ci_test=test).fit(X, classes).status_ in ("ok", "unreliable")
