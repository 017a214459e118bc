"""What methods, tests and models of others can say instead of an answer, and what is said of it."""

import numpy as np
import pandas as pd
import pytest
import zoo

import blanketflow as bf
from blanketflow.core import isolation
from blanketflow.core.convert import as_table
from blanketflow.core.errors import WrongAnswerError
from blanketflow.core.isolation import WorkFailed
from blanketflow.core.limits import NO_LIMITS, LimitReached, Limits
from blanketflow.core.table import Column
from blanketflow.models.evaluation import evaluate_split
from blanketflow.search.run_fold import run_fold
from blanketflow.selectors.external import External


def data(n=40):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=[f"x{j}" for j in range(4)])
    X.loc[3, "x0"] = zoo.LARGEST
    return X, pd.Series((X["x1"] > 0).astype(int), name="y")


def found(method, test=None, limits=NO_LIMITS):
    X, y = data()
    target = Column("y", "categorical", y.to_numpy().astype(np.int32), ("0", "1"))
    return run_fold(method, test, as_table(X), target, 0, limits)


@pytest.mark.parametrize("said", zoo.GROWN)
def test_what_grow_returns(said):
    with pytest.raises(WrongAnswerError) as refused:
        found(zoo.Animal(grown=said))
    assert str(refused.value) == zoo.GROWN[said][1]


@pytest.mark.parametrize("said", zoo.SHRUNK)
def test_what_shrink_returns(said):
    with pytest.raises(WrongAnswerError) as refused:
        found(zoo.Animal(shrunk=said))
    assert str(refused.value) == zoo.SHRUNK[said][1]


def test_a_good_answer_is_taken_as_it_is():
    outcome = found(zoo.Animal())
    assert [(s.feature, s.kept, s.importance) for s in outcome.decisions] == [("x0", True, 1.0)]
    outcome = found(External("zoo:Picker", {}))
    assert [s.feature for s in outcome.decisions] == ["x0"]


@pytest.mark.parametrize("said", zoo.SUPPORTED)
def test_what_a_selector_of_scikit_learn_supports(said):
    with pytest.raises((WrongAnswerError, WorkFailed)) as refused:
        found(External("zoo:Picker", {"said": said}))
    assert str(refused.value).startswith(zoo.SUPPORTED[said][1])


@pytest.mark.parametrize("said", zoo.TESTED)
def test_what_a_ci_test_answers(said):
    with pytest.raises((WrongAnswerError, WorkFailed)) as refused:
        found(bf.GS().configured()[0], zoo.Strange(answer=said))
    assert str(refused.value) == zoo.TESTED[said][1]


@pytest.mark.parametrize(
    "spoken",
    [*({"predicted": said} for said in zoo.PREDICTED), *({"probable": said} for said in zoo.PROBABLE)],
    ids=str,
)
def test_what_a_model_predicts(spoken):
    X, y = data()
    target = Column("y", "categorical", y.to_numpy().astype(np.int32), ("0", "1"))
    table, rows, held_out = as_table(X), np.arange(30), np.arange(30, 40)
    models = [{"type": "zoo:Oracle", **spoken}, "tree"]
    parts = (table.take(rows), target.take(rows), table.take(held_out), target.take(held_out))
    scored = evaluate_split(*parts, models, ["accuracy"], "classification", (0,))
    ((said, one),) = spoken.items()
    assert scored[0]["status"] == "error" and scored[0]["value"] is None
    assert scored[0]["reason"].startswith({"predicted": zoo.PREDICTED, "probable": zoo.PROBABLE}[said][one][1])
    alone = evaluate_split(*parts, ["tree"], ["accuracy"], "classification", (0,))
    assert {**scored[1], "seconds": 0} == {**alone[0], "seconds": 0}


@pytest.mark.parametrize("spoken", [{"predicted": "short"}, {"probable": "sum"}, {"probable": "flat"}])
def test_a_model_inside_a_test_is_looked_at_too(spoken):
    test = bf.get_ci_test("ppi", model=zoo.Oracle(**spoken), n_repeats=5)
    if "predicted" in spoken:  # classes are judged by their probabilities
        found(bf.PPFS().configured()[0], test)
        return
    with pytest.raises(WrongAnswerError, match="the model returned probabilities"):
        found(bf.PPFS().configured()[0], test)


@pytest.mark.parametrize("act", ["hang_in_c", "hang"])
def test_a_search_that_does_not_stop_is_ended(monkeypatch, act):
    monkeypatch.setattr(isolation, "GRACE", 0.3)
    with pytest.raises(LimitReached, match=r"\(time_limit\) was reached, and the method did not stop by itself"):
        found(zoo.Animal(act=act), limits=Limits(time_limit=0.2))


def test_a_search_of_ours_with_a_limit_finds_what_it_finds_without():
    method, test = bf.GS().configured()[0], bf.get_ci_test("fisher-z")
    X, _ = data()
    target = Column("y", "numeric", X["x1"].to_numpy() + X["x2"].to_numpy())
    free = run_fold(method, test, as_table(X), target, 0)
    limited = run_fold(method, test, as_table(X), target, 0, Limits(time_limit=1000.0))
    assert free.grown == limited.grown and free.decisions == limited.decisions and free.decisions
    assert (free.n_tests, free.status, free.answers) == (limited.n_tests, limited.status, limited.answers)


@pytest.mark.extended
def test_the_others_of_a_comparison_are_what_they_are_without(monkeypatch):
    monkeypatch.setattr(isolation, "GRACE", 0.3)
    X, y = data()
    good = {"gs": bf.GS(ci_test=bf.get_ci_test("g2", unreliable="use"))}
    zoo_of = {
        "crash": {"method": "zoo:Animal", "act": "crash"},
        "hang": {"method": "zoo:Animal", "act": "hang_in_c", "time_limit": 0.1},
        "fold": {"method": "zoo:Animal", "act": "vanish", "in_fold": "without the largest"},
    }
    how = {"models": ["tree"], "metrics": ["accuracy"], "evaluation": 2, "folds": 3}
    alone, beside = bf.compare(X, y, good, **how), bf.compare(X, y, good | zoo_of, **how)
    for name in ("scores", "blankets", "stability"):
        one, other = alone.tables[name], beside.tables[name]
        pd.testing.assert_frame_equal(one, other[other["selector"].isin(one["selector"])].reset_index(drop=True))
    ended = {(o.selector, o.stage, o.status) for o in beside.outcomes.itertuples()}
    assert ended == {("crash", "select", "error"), ("hang", "select", "timeout")} | {
        # It fails on every fold of the split whose training rows lack that row, and on one fold of the others.
        ("fold", "select", "unreliable"),
        ("fold", "select", "error"),
    }
    reasons = beside.outcomes.groupby("selector")["reason"].agg(set)
    assert reasons["crash"] == {"the process of the method was ended by signal SIGSEGV"}
    assert any("1 of 3 folds have no result and do not count; fold " in reason for reason in reasons["fold"])
    assert (beside.blankets.query("selector == 'fold'")["n_folds"] == 2).all()
    scores = beside.scores.set_index("selector")
    assert scores.loc["crash", ["status", "reason"]].tolist() == ["error", *reasons["crash"]]
    assert scores.loc["hang", "status"] == "timeout" and np.isnan(scores.loc["hang", "mean"])
    assert scores.loc["fold", "status"] == "unreliable" and scores.loc["fold", "mean"] >= 0
    assert scores.loc["fold", "reason"].startswith("no value on 1 of 2 splits; cv-")
    assert not beside.ranks["selector"].isin(list(zoo_of)).any()
    assert (beside.friedman["note"].str.contains("left out, since without a score .*: crash, hang, fold")).all()
    assert "table, crash: error on 3 splits, the process of the method was ended by signal SIGSEGV" in repr(beside)
