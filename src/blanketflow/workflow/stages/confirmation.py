"""The confirm stage: tests the members of a final blanket on rows that its search left out."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ...core.rows import seed_of_split
from ...data.artefact_columns import ARTEFACTS
from ...data.artefacts import read_columns, write_rows
from ...data.provenance import STATUSES, Provenance
from ...data.splits import FINAL
from ...data.storage import read_features
from ...search.confirmation import Confirmation, are_signed, combined, confirm_members, result_columns, selected_again
from ...search.sample import Sample
from ...search.search import Search
from ..jobs import passed_on, recorded
from .fold import Fold


def confirm_blanket(
    table: Path,
    splits: Path,
    blanket: Path,
    confirmed: Path,
    dataset: str,
    spec: str,
    code: str = "",
    make_fold: Callable[..., Fold] = Fold,
) -> None:
    """Test each member of the blanket of the split ``full`` given the others, and write confirm.parquet.

    `spec` is JSON with the share of left-out rows, the seed and prior knowledge; with several splits also their number
    and the repeated search with its folds and aggregation. `make_fold` makes the folds of repeated searches.
    """
    fold = Fold(table, splits, dataset, FINAL, "0", spec, code)
    provenance, found = fold.provenance("confirm", confirmed, [blanket]), []
    n_splits = fold.asked.get("confirm_splits", 1)
    with recorded(provenance):
        columns, earlier = read_columns(blanket)
        passed_on(provenance, [earlier])
        decided = zip(columns["feature"], columns["chosen"], columns["importance"], strict=True)
        chosen = sorted((one for one in decided if one[1]), key=lambda one: -one[2])
        members = [one[0] for one in chosen]
        found = _tested(fold, members)
        provenance.n_tests = len(found)
        if n_splits > 1:
            by_split = [found]
            for number in range(1, n_splits):
                own, others = _searched_again(fold, number, make_fold, provenance)
                by_split.append(_tested(own, others))
                provenance.n_tests += len(others)
            stored = read_features(table)
            groups = fold.prior().of(stored.features.names, dataset, stored.target.name).feature_groups
            signed = are_signed(stored.features, stored.target, groups)
            found = combined(by_split, members, signed, groups)
    told = result_columns(read_features(table).target, n_splits)
    types = ARTEFACTS["confirm"].types(told)
    write_rows(confirmed, [tuple(getattr(one, name) for name in types) for one in found], types, provenance)


def _tested(fold: Fold, members: Sequence[str]) -> list[Confirmation]:
    """Test each member given the others on the rows that the searches of the fold left out."""
    rows, stored, where = fold.left_out_rows(), read_features(fold.table), f"{fold.dataset}, split {FINAL}"
    known = fold.prior().of(stored.features.names, where, stored.target.name)
    features = fold.filled(replace(stored, features=stored.features.select(members)), rows)
    groups = None if stored.groups is None else stored.groups[rows]
    target = stored.target.take(rows)
    return confirm_members(features, target, members, fold.seed, groups, where, known.feature_groups)


def _searched_again(
    fold: Fold, number: int, make_fold: Callable[..., Fold], provenance: Provenance
) -> tuple[Fold, list[str]]:
    """Search on the rows of another split (1, 2, ...) and return its fold 0 and the selection.

    A run with another base seed on the same folds gives the same result.
    """
    asked = fold.asked
    seed = {"seed": seed_of_split(asked["seed"], number)}
    search, outcomes = json.dumps({**asked["search"], **seed}), []
    for name in asked["folds"]:
        part = make_fold(fold.table, fold.splits, fold.dataset, FINAL, name, search, fold.code)
        whole, target = part.read(), read_features(fold.table).target.name
        features = whole.select([column for column in whole.names if column != target])
        again = Search(
            part.method(),
            part.test() if part.asked["ci_test"] else None,
            limits=part.limits(),
            prior=part.prior(),
            min_effect=part.asked.get("min_effect"),
            where=f"selector on {fold.dataset}",
        )
        sample = Sample(features, whole[target], "", part.groups())
        outcome = again.on_rows(sample, part.seed, finds_stand_ins=False)
        outcomes.append(outcome)
        provenance.n_tests += outcome.n_tests
    members, status, reason = selected_again(outcomes, asked["aggregate"])
    if STATUSES.index(status) > STATUSES.index(provenance.status):
        provenance.status, provenance.reason = status, f"the search of split {number + 1}: {reason}"
    return replace(fold, spec=json.dumps({**asked, **seed})), members
