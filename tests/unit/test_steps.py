"""Steps as columns: equal to a list of steps, and without an object for each."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

import blanketflow as bf
from blanketflow.core.errors import WrongAnswerError
from blanketflow.core.results import StandIn
from blanketflow.moves.steps import MEMBER, SPOUSE, Step, Steps, standing
from blanketflow.search.stages import checked_steps

ALL = [
    Step("a", 1.5, 0.01, 4.0, ("b", "c"), SPOUSE, group="g", stand_ins=(StandIn("b", 0.9, 0.8, 1.0),)),
    Step("b", -np.inf, 0.0, 1e300, None, kept=False),
    Step("c", 3, 1, 2, ("a",)),
    Step("b"),
]


@pytest.mark.parametrize("cut", range(5))
def test_columns_hold_the_steps(cut):
    steps = Steps.of([*ALL[:cut], Steps.of(ALL[cut:])])
    assert list(steps) == ALL == list(pickle.loads(pickle.dumps(steps)))
    assert [steps[i] for i in range(len(steps))] == ALL
    assert steps[1:] == ALL[1:] and steps[np.array([2, 0])] == [ALL[2], ALL[0]] and steps[:0] == []
    assert steps != ALL[:2] and [step.listed for step in ALL] == steps.listed
    assert standing(steps) == [ALL[0], ALL[2], ALL[3]]


def _literal_information(x, y):
    """Return I(X;Y) in nats from counts."""
    cells = [(np.mean((x == a) & (y == b)), np.mean(x == a), np.mean(y == b)) for a in set(x) for b in set(y)]
    return sum(p * np.log(p / (q * r)) for p, q, r in cells if p > 0)


def test_a_ranking_makes_no_step_for_each_feature(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (80, 40))
    y = (X[:, 5] + X[:, 17] + rng.integers(0, 2, 80) > 2).astype(int)
    literal = sorted(range(40), key=lambda j: -round(_literal_information(X[:, j], y), 12))

    made, make = [], Step.__init__
    monkeypatch.setattr(Step, "__init__", lambda self, *values: made.append(values) or make(self, *values))
    for method in (bf.MIM, bf.MRMR, bf.JMI, bf.CMIM):
        made.clear()
        fitted = method(n_features=30, information="plug-in").fit(X, y)
        assert len(fitted.selected_features_) == 30
        assert len(made) < 5  # stand-ins are looked for where a feature says something
        assert fitted.trace_.feature.tolist()[:30] == fitted.trace_.feature.tolist()[30:] == fitted.candidates_
    fitted = bf.MIM(n_features=30, information="plug-in").fit(X, y)
    assert fitted.candidates_ == [f"x{j}" for j in literal[:30]]
    assert fitted.trace_.importance.tolist() == [*range(30, 0, -1)] * 2
    informations = [_literal_information(X[:, j], y) for j in literal[:30]]
    assert fitted.trace_.statistic.tolist()[:30] == pytest.approx(informations)
    assert set(fitted.trace_.role) == {MEMBER} and fitted.trace_.given.tolist() == [[]] * 60


@pytest.mark.parametrize(
    "wrong",
    [
        {"importance": np.array([1.0, np.nan])},
        {"p_value": np.array([0.5, 1.5])},
        {"statistic": np.array([np.nan, 1.0])},
        {"feature": np.array(["a", "z"], dtype=object)},
        {"feature": np.array(["a", "a"], dtype=object)},
        {"role": np.array(["member", 3], dtype=object)},
        {"given": np.fromiter([(), (1,)], dtype=object)},
    ],
)
def test_a_wrong_block_is_refused_like_a_wrong_step(wrong):
    problem, steps = SimpleNamespace(features=["a", "b"], target="t"), Steps(["a", "b"]).with_columns(**wrong)
    with pytest.raises(WrongAnswerError) as of_steps:
        list(checked_steps(list(steps), "grow", problem))
    with pytest.raises(WrongAnswerError) as of_block:
        list(checked_steps(steps, "grow", problem))
    assert str(of_block.value) == str(of_steps.value)
