"""The cases of `costs.py`: tables, what is done with them, and what the estimates say of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from blanketflow.ci import get_ci_test
from blanketflow.ci.base import CITest
from blanketflow.core.cards import CATEGORICAL, CLASSIFICATION, NUMERIC
from blanketflow.core.convert import as_table
from blanketflow.core.registry import discover
from blanketflow.core.table import Column, Table
from blanketflow.selectors import get_method
from blanketflow.selectors.base import Method
from blanketflow.workflow import cost
from blanketflow.workflow.peek import Facts

#: Share of the cells that the sparse table stores.
STORED = 0.01


@dataclass(frozen=True)
class Shape:
    """A table: its rows, features, and what these are: ``numbers``, ``levels`` or ``sparse``."""

    n_rows: int
    n_features: int
    form: str

    def facts(self) -> Facts:
        """Return what the plan would know of it."""
        is_sparse = self.form == "sparse"
        return Facts(
            n_rows=self.n_rows,
            n_features=self.n_features,
            exact=True,
            kinds=(CATEGORICAL if self.form == "levels" else NUMERIC,),
            task=CLASSIFICATION,
            task_reason="",
            class_counts=None,
            n_classes=2,
            n_missing=0,
            n_groups=None,
            truth=None,
            feature_names=None,
            n_stored=round(self.n_rows * self.n_features * STORED) if is_sparse else None,
        )

    def draw(self) -> tuple[Table, Column]:
        """Return features that follow up to three of the ten before them, and one of them as the target.

        Numbers are a linear model, half noise; levels its thirds; sparse cells the largest hundredth of each column.
        """
        rng = np.random.default_rng([self.n_rows, self.n_features])
        drawn = rng.normal(size=(self.n_features + 1, self.n_rows))
        for j in range(1, len(drawn)):
            parents = j - 1 - rng.permutation(min(j, 10))[: rng.integers(4)]
            drawn[j] += rng.choice([-1, 1], len(parents)) @ drawn[parents] / max(len(parents), 1) ** 0.5
            drawn[j] /= drawn[j].std()
        at = len(drawn) // 2
        target = Column("target", CATEGORICAL, (drawn[at] > 0).astype(np.int32), ("0", "1"))
        X = np.delete(drawn, at, axis=0).T
        if self.form == "sparse":
            from scipy import sparse

            X[np.quantile(X, 1 - STORED, axis=0) > X] = 0.0
            return as_table(sparse.csc_matrix(X)), target
        if self.form == "numbers":
            return as_table(X), target
        thirds = (X[:, :, None] > np.quantile(X, [1 / 3, 2 / 3], axis=0).T[None]).sum(axis=2, dtype=np.int32)
        levels = ("a", "b", "c")
        return Table([Column(f"x{j}", CATEGORICAL, thirds[:, j], levels) for j in range(self.n_features)]), target


SHAPES = {
    f"{shape.n_rows:,} x {shape.n_features:,} {shape.form}": shape
    for shape in (
        Shape(200, 30, "numbers"),
        Shape(500, 200, "numbers"),
        Shape(2_000, 100, "numbers"),
        Shape(100, 2_000, "numbers"),
        Shape(5_000, 40, "numbers"),
        Shape(500, 200, "levels"),
        Shape(5_000, 100, "levels"),
        Shape(500, 10_000, "sparse"),
    )
}
TINY = {"40 x 6 numbers": Shape(40, 6, "numbers")}
#: Where the methods that ask for p-values are run with other tests than their own, too.
OTHER_TESTS = {"200 x 30 numbers": ("fisher-z", "lr-mixed", "mi-permutation", "ppi", "cpi", "hsic")}
OTHER_TESTS |= {"2,000 x 100 numbers": ("fisher-z",), "100 x 2,000 numbers": ("fisher-z",)}
OTHER_METHODS = ("gs", "iamb", "mmpc", "hiton-mb", "stmb", "ppfs")
MODELS = tuple(sorted(discover("blanketflow.models")))
#: CI tests that need a known network, and one that takes many times as long as the others: on the first table only.
UNBOUND, SLOW = ("oracle", "population"), ("cpi",)


def method_of(name: str) -> Method:
    """Return a method with its default options."""
    return get_method(name, "benchmark", {"blanket": ["x0"]} if name == "true-blanket" else {})


def own_test(name: str) -> str:
    """Return the id of a method's default test, or of one that auto takes; empty without one."""
    default = method_of(name).default_test or ""
    return {"auto": "g2"}.get(default, default)


def test_of(name: str, method: Method | None = None) -> CITest | None:
    """Return a CI test, with the options that it has as a method's default."""
    if not name:
        return None
    is_default = method is not None and method.default_test == name
    return get_ci_test(name, **(method.default_test_options if is_default else {}))


def cases(data: str) -> list[dict[str, str]]:
    """Return what is measured on a table: the marginal stage of tests, methods, and models."""
    tests = [name for name in sorted(discover("blanketflow.ci")) if name not in UNBOUND]
    tests = [name for name in tests if name not in SLOW or name in OTHER_TESTS.get(data, ())]
    found = [{"data": data, "ci_test": name} for name in tests]
    found += [{"data": data, "method": name, "ci_test": own_test(name)} for name in discover("blanketflow.selectors")]
    for test in OTHER_TESTS.get(data, ()):
        found += [{"data": data, "method": name, "ci_test": test} for name in OTHER_METHODS if own_test(name) != test]
    return found + [{"data": data, "model": name} for name in MODELS]


def work_of(method: str) -> str:
    """Return how the work of a method grows."""
    return cost.work_of(method_of(method))


def loading(case: dict[str, Any]) -> float:
    """Return the CPU seconds that a job is reckoned to load for."""
    return cost.LOADING_MODELS if "model" in case else cost.LOADING


def estimate(case: dict[str, Any]) -> float:
    """Return the CPU seconds that the plan would reckon with, without what a job loads."""
    facts = {**SHAPES, **TINY}[case["data"]].facts()
    if "model" in case:
        return cost.evaluate_seconds([case["model"]], facts)
    if "method" in case:
        method = method_of(case["method"])
        return cost.grow_shrink_seconds(method, test_of(case["ci_test"], method), facts)
    return cost.marginal_seconds(test_of(case["ci_test"]), facts)
