"""Running a method on a table: the stages of one fold, the same for the library and the workflow."""

from __future__ import annotations

from dataclasses import dataclass

from ..ci.base import CITest
from ..core.errors import DataError, UnsupportedError
from ..core.results import CIResults
from ..core.seeds import derive_seed
from ..core.table import Column, Table
from ..search.steps import Step
from .base import Method, Problem


@dataclass
class FoldOutcome:
    """What one fold's stages returned."""

    marginal: CIResults | None
    grown: list[Step]
    decisions: list[Step]
    n_tests: int


def check_pair(method: Method, test: CITest | None) -> None:
    """Raise `UnsupportedError` unless the test measures what the method needs."""
    if test is not None and method.needs not in test.card.measures:
        raise UnsupportedError(
            f"{method.card.id} needs a test that measures {method.needs}, which {test.card.id} does not. "
            "See blanketflow.list_ci_tests()."
        )


def marginal_pass(test: CITest, table: Table, target: str, seed: int) -> CIResults:
    """Test every feature of the table against the target given nothing: the ci_test stage."""
    features = [name for name in table.names if name != target]
    if not features:
        raise DataError("the table has no features besides the target.")
    return test.bind(table, seed=seed, target=target).test_many(features, target)


def fold_seed(*identity: str | int) -> int:
    """Return the seed of one fold, from (base seed, data set, split, fold)."""
    return derive_seed(*identity, "fold")


def run_fold(method: Method, test: CITest | None, features: Table, target: Column, seed: int) -> FoldOutcome:
    """Run ci_test, grow and shrink on one fold's rows."""
    table = Table([*features.columns, target])
    marginal = marginal_pass(test, table, target.name, seed) if test is not None else None
    problem = Problem(
        features.names,
        target.name,
        marginal,
        seed,
        lambda: table,
        lambda t: test.bind(t, seed=seed, target=target.name),
    )
    grown = method.grow(problem)
    decisions = method.shrink(problem, grown)
    n_marginal = len(marginal) if marginal is not None else 0
    return FoldOutcome(marginal, grown, decisions, n_marginal + problem.n_tests)
