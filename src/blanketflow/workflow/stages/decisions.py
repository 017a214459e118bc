"""Growing and shrinking on a fold: runs a method, and writes and reads its decisions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...core.column import TargetColumn
from ...core.table import Table, by_names
from ...data.artefact_columns import ARTEFACTS
from ...data.artefacts import read_columns, write_columns
from ...data.external_stages import read_supplied
from ...data.provenance import Provenance
from ...moves.steps import Steps, objects, standing
from ...search.assumptions import doubts_of
from ...search.isolated import is_isolated
from ...search.run_fold import as_asked, not_bound
from ...search.stages import run_grow, run_shrink
from ...selectors.base import Method, Problem
from ...selectors.compatibility import notes_on_p_values, why_repeats_mislead
from ..identity import stands
from ..jobs import recorded, require
from .fold import Fold
from .marginal import read_marginal


def open_problem(fold: Fold, marginal: Sequence[Path]) -> Problem:
    """Return the problem of a fold with its prior knowledge; the table is read when first needed.

    Raises `EarlierFailure` if the ci_test stage has no result.
    """
    whole, test = _whole_problem(fold, marginal), fold.test() if marginal else None
    method = fold.method()
    asked = fold.asked.get("min_effect"), fold.prior(), f"selector on {fold.dataset}"
    problem = as_asked(whole, method, test, *asked)
    problem.read_groups, problem.read_gaps = fold.groups, fold.gaps
    problem.say(whole.status, whole.reason)
    if why := why_repeats_mislead(method, test, fold.repeats()):
        problem.say("unreliable", why)
    return problem


def _whole_problem(fold: Fold, marginal: Sequence[Path]) -> Problem:
    """Return the problem of a fold with all features, in the search order of the method."""
    follows_order = fold.method().follows_order()

    def read() -> Table:
        return fold.read() if follows_order else fold.read().in_order_of_names(n_last=1)

    if not marginal:
        table = read()
        return Problem(table.names[:-1], table.names[-1], None, fold.seed, lambda: table, not_bound, fold.limits())
    features, results, provenance = read_marginal(marginal[0])
    require(provenance)
    test = fold.test()
    target = provenance.extra["target"]
    if not follows_order and (order := by_names(features)) is not None:
        features, results = [features[at] for at in order.tolist()], results.take(order)
    problem = Problem(
        features,
        target,
        results,
        fold.seed,
        read,
        lambda t: test.bind(t, seed=fold.seed, target=target),
        fold.limits(),
    )
    problem.say(provenance.status, provenance.reason)
    return problem


def grow_fold(fold: Fold, marginal: Sequence[Path], grow: Path) -> Problem | None:
    """Run a method's grow on a fold and write grow.parquet; return the problem with the rows read.

    `marginal` is the ci_test artefact, or empty for methods without a CI test.
    """
    provenance, steps, problem, method = fold.provenance("grow", grow, marginal), Steps(()), None, fold.method()
    with recorded(provenance):
        problem = open_problem(fold, marginal)
        steps = standing(run_grow(method, problem, _apart(fold, method, marginal)))
        _say(provenance, problem)
        provenance.extra |= fold.sample()
        provenance.n_tests = problem.n_tests
    write_grown(grow, steps, provenance, method.forms_groups)
    return problem


def shrink_fold(fold: Fold, marginal: Sequence[Path], grow: Path, shrink: Path, problem: Problem | None = None) -> None:
    """Run a method's shrink on a fold and write shrink.parquet; `marginal` is as in `grow_fold`.

    The status of growing is passed on. Several Markov blankets are in the provenance: ``answers``, (count, features).
    """
    provenance, decisions, method = fold.provenance("shrink", shrink, [*marginal, grow]), Steps(()), fold.method()
    with recorded(provenance):
        candidates, earlier = read_grown(grow, fold.asked.get("supplied") == "grow")
        require(earlier)
        problem = _without_memory(problem) if problem else open_problem(fold, marginal)
        problem.say(earlier.status, earlier.reason)
        problem.verdict = earlier.extra.get("verdict", {})
        before = problem.n_tests
        decisions = run_shrink(method, problem, candidates, _apart(fold, method, marginal))
        _say(provenance, problem)
        test, min_effect = fold.test() if marginal else None, fold.asked.get("min_effect")
        target = fold.target()
        notes = notes_on_p_values(method, test, min_effect, problem.marginal, fold.n_groups(), target)
        notes["assumptions"] = doubts_of(problem, test, decisions) if isinstance(target, TargetColumn) else ""
        provenance.extra |= fold.sample() | {"notes": {kind: note for kind, note in notes.items() if note}}
        if problem.answers:
            provenance.extra["answers"] = [[answer.count, list(answer.features)] for answer in problem.answers]
        provenance.n_tests = problem.n_tests - before
    write_decisions(shrink, decisions, provenance, method.forms_groups)


def grow_shrink(
    table: Path,
    splits: Path,
    marginal: Sequence[Path],
    grow: Sequence[Path],
    shrink: Sequence[Path],
    dataset: str,
    folds: Sequence[str],
    spec: str,
    code: str = "",
    make_fold: Callable[..., Fold] = Fold,
) -> None:
    """Grow and shrink on each fold (split/fold) and write both; `marginal` is empty for methods without a CI test."""
    for i, name in enumerate(folds):
        fold = make_fold(table, splits, dataset, *name.split("/"), spec, code)
        tested = marginal[i : i + 1]
        if _both_stand(fold, tested, grow[i], shrink[i]):
            continue
        problem = grow_fold(fold, tested, grow[i])
        shrink_fold(fold, tested, grow[i], shrink[i], problem)


def _both_stand(fold: Fold, marginal: Sequence[Path], grow: Path, shrink: Path) -> bool:
    is_grown = stands(grow, fold.provenance("grow", grow, marginal))
    return is_grown and stands(shrink, fold.provenance("shrink", shrink, [*marginal, grow]))


def _apart(fold: Fold, method: Method, marginal: Sequence[Path]) -> bool:
    return is_isolated(method, fold.test() if marginal else None, fold.limits())


def _without_memory(problem: Problem) -> Problem:
    """Return a problem as a separate job would have it, with the rows already read.

    Without results cached by growing, numbers of tests and limits do not depend on whether one job does both.
    """
    return replace(problem, read_table=lambda: problem.table, shared={})


def _say(provenance: Provenance, problem: Problem) -> None:
    """Record the messages of a search; a limit that struck without an answer has raised before."""
    provenance.status, provenance.reason = problem.status, problem.reason
    if problem.verdict:
        provenance.extra["verdict"] = problem.verdict
    if problem.status == "timeout":
        provenance.extra["anytime"] = True


def write_grown(path: Path, steps: Steps, provenance: Provenance, has_groups: bool = False) -> None:
    """Write grow.parquet."""
    columns = _step_columns(steps) | {"order": np.arange(len(steps))}
    write_columns(path, columns, ARTEFACTS["grow"].types(has_groups), provenance)


def read_grown(path: Path, is_supplied: bool = False) -> tuple[Steps, Provenance]:
    """Return the candidates of grow.parquet; with `is_supplied` it was made outside the workflow."""
    columns, provenance = read_supplied(path, "grow") if is_supplied else read_columns(path)
    numbers = {name: np.array(columns[name], dtype=np.float64) for name in ("statistic", "p_value", "importance")}
    texts = {name: objects(columns[name]) for name in ("role", "group") if name in columns}
    given = objects([tuple(names or ()) for names in columns["given"]])
    return Steps(columns["feature"], given=given, **numbers, **texts), provenance


def write_decisions(path: Path, steps: Steps, provenance: Provenance, has_groups: bool = False) -> None:
    """Write shrink.parquet."""
    columns = _step_columns(steps) | {"kept": steps.kept, "step": np.arange(len(steps)), "stand_ins": steps.stand_ins}
    write_columns(path, columns, ARTEFACTS["shrink"].types(has_groups), provenance)


def _step_columns(steps: Steps) -> dict[str, Any]:
    names = ("feature", "role", "statistic", "p_value", "importance", "group", "given")
    return {name: getattr(steps, name) for name in names}
