"""The public names used as users do. `make lint` has mypy check it: what it says must hold, and it must not complain.

A line with ``type: ignore`` is wrong on purpose; mypy fails here if it is not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, assert_type

import numpy as np
import pandas as pd

import blanketflow as bf
from blanketflow import plugins
from blanketflow.plugins import BoundTest, Card, CIResult, CIResults, CITest, Method, Model, Problem, Step, number


@dataclass
class Strongest(Method):
    """Keep the feature of least p."""

    card: ClassVar[Card] = Card("strongest", "the strongest", "filter", "Keeps the feature of least p.", "none")
    alpha: float = number(0.05, "Significance level.", above=0, below=1)

    def grow(self, problem: Problem) -> list[Step]:
        """Admit one."""
        assert problem.marginal is not None
        return [Step(problem.features[int(problem.marginal.log_p.argmin())])]

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Sequence[Step]:
        """Keep it."""
        return candidates


@dataclass
class Never(CITest):
    """Find everything independent."""

    card: ClassVar[Card] = Card("never", "never", "ci-test", "Finds everything independent.", "none")

    def prepare(self, table: plugins.Table, seed: int, target: int | None) -> plugins.Engine:
        """Prepare nothing."""
        return Nothing()


class Nothing:
    """Answer without a look."""

    def evaluate(self, candidates: Sequence[int] | np.ndarray, target: int, given: tuple[int, ...]) -> CIResults:
        """Answer."""
        return plugins.constant_results(len(candidates), 0)


@dataclass
class Mean(Model):
    """Predict the mean."""

    card: ClassVar[Card] = Card("mean", "mean", "model", "Predicts the mean.", "none", tasks=(plugins.REGRESSION,))

    def assemble(self, task: str, seed: int, n_jobs: int) -> object:
        """Build it."""
        from sklearn.dummy import DummyRegressor

        return DummyRegressor()


def right() -> None:
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [1.0, 0.0, 1.0]})
    y = np.array([0, 1, 0])

    ppfs = bf.PPFS(alpha=0.01, n_repeats=10, significance="corrected-t", random_state=None)
    assert_type(ppfs, bf.PPFS)
    assert_type(ppfs.alpha, float)
    fitted = ppfs.fit(X, y)
    assert_type(fitted.selected_features_, list[str])
    assert_type(fitted.roles_, dict[str, str])
    assert_type(fitted.n_tests_, int)
    assert_type(fitted.status_, str)
    bf.MRMR(n_features=[2, 4], ci_test=bf.get_ci_test("fisher-z"), aggregate={"frequency": 0.6})
    bf.HITONMB(max_k=None, symmetry="or", time_limit=5, task="classification")
    bf.TrueBlanket(blanket={"a": "spouse"})
    assert_type(bf.get_selector("gs", alpha=0.01), bf.MarkovBlanketSelector)

    test = bf.get_ci_test("g2", bins=3)
    assert_type(test, CITest)
    bound = test.bind(X, seed=1)
    assert_type(bound, BoundTest)
    assert_type(bound.test("a", "b", given=["c"]), CIResult)
    assert_type(bound.test_many(["a", "b"], "c").p_value, np.ndarray)
    assert_type(bound.test("a", "b").p_value, float)

    found = bf.blankets(X, method="mmpc", targets=["a"], time_limit=10)
    assert_type(found["a"], list[str])
    assert_type(found.to_dict(), dict[str, list[str]])
    bf.compare(X, y, ["mrmr", ppfs], models=["tree"], evaluation=2).summary()
    bf.list_selectors(), bf.list_ci_tests()
    assert_type(bf.__version__, str)
    bf.get_selector(Strongest, alpha=0.1)
    Never().bind(X)
    plugins.get_model(Mean())


def wrong() -> None:
    bf.PPFS("g2")  # type: ignore[call-arg, arg-type]
    bf.PPFS(alpa=0.01)  # type: ignore[call-arg]
    bf.PPFS(alpha="0.01")  # type: ignore[arg-type]
    bf.HITONMB(symmetry="either")  # type: ignore[arg-type]
    bf.Nonsense  # type: ignore[attr-defined]  # noqa: B018
