"""The aggregate stage: combines the selections of the folds of one split into its blanket."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...core.results import StandIn
from ...data.artefact_columns import ARTEFACTS
from ...data.artefacts import read_columns, read_provenance, write_columns, write_rows
from ...data.external_stages import read_supplied
from ...data.provenance import STATUSES, Provenance
from ...moves.steps import Steps, objects
from ...search.aggregate import aggregate, all_answers
from ..identity import content_of, made, stands, what_of
from ..jobs import passed_on, recorded


def aggregate_splits(
    marginal: Sequence[Path],
    grow: Sequence[Path],
    shrink: Sequence[Path],
    blanket: Sequence[Path],
    by_fold: Sequence[Path],
    answers: Sequence[Path],
    folds: Sequence[str],
    spec: str,
    code: str = "",
) -> None:
    """Combine the folds of each split and write its blanket, and other blankets that a method found.

    `marginal` (empty for methods without a CI test), `grow` and `shrink` list the artefacts of all folds of the first
    split, then of the next; `blanket`, `by_fold` and `answers` have one output per split. `spec` is JSON with the
    aggregation rule, the seed, and the CI test with the reason if it was chosen.
    """
    for i, to in enumerate(zip(blanket, by_fold, answers, strict=True)):
        own = slice(i * len(folds), (i + 1) * len(folds))
        _aggregate_split([marginal[own], grow[own], shrink[own]], folds, to, spec, code)


def _aggregate_split(
    found_in: Sequence[Sequence[Path]], folds: Sequence[str], to: Sequence[Path], spec: str, code: str
) -> None:
    asked = json.loads(spec)
    stages = [list(map(read_provenance, paths)) for paths in found_in[:-2] if paths]
    for stage, paths in zip(("grow", "shrink"), found_in[-2:], strict=True):
        is_supplied = asked.get("supplied") == stage
        stages.append([read_supplied(path, stage)[1] if is_supplied else read_provenance(path) for path in paths])
    made_of = [content_of(path) for paths in found_in for path in paths]
    blanket, by_fold, answers = to
    total = made("blanket", blanket, made_of, spec, code, asked["seed"])
    named = {"folds": replace(total, what=what_of("folds", by_fold))}
    named["blankets"] = replace(total, what=what_of("blankets", answers))
    if all(map(stands, to, (total, *named.values()))):
        return
    features, by_folds, found, has_groups = [], [], [], False
    with recorded(total):
        counted = _counted(total, stages[-1], folds)
        is_supplied = asked.get("supplied") == "shrink"
        shrunk = (found_in[-1][i] for i in counted)
        decisions = [(read_supplied(path, "shrink") if is_supplied else read_columns(path))[0] for path in shrunk]
        has_groups = "group" in decisions[0]
        kept = [_members(columns) for columns in decisions]
        combined = aggregate(kept, asked["aggregate"])
        features = combined.features
        if combined.best is not None:  # a union of folds is not what any fold's verdict is about
            said = stages[-1][counted[combined.best]].extra.get("verdict")
            total.extra |= {"verdict": said} if said else {}
        total.extra |= {"ci_test": asked["ci_test"]} if "ci_test" in asked else {}
        of_one = stages[-1][counted[combined.best or 0]].extra
        notes = of_one.get("notes", {}) | ({"misleading": asked["misleading"]} if "misleading" in asked else {})
        total.extra |= {key: told for key, told in (("sample", of_one.get("sample")), ("notes", notes)) if told}
        found = all_answers(combined, [stages[-1][i].extra.get("answers") for i in counted])
        for at, fold in enumerate(counted):
            own = [stage[fold] for stage in stages]
            tests, seconds = sum(p.n_tests for p in own), sum(p.seconds for p in own)
            by_folds.append((folds[fold], len(kept[at]), combined.z[at], combined.best == at, tests, seconds))
        total.n_tests = sum(row[4] for row in by_folds)
    types = ARTEFACTS["blanket"].types(has_groups)
    write_columns(blanket, {c: [f[c] for f in features] for c in types}, types, total)
    write_rows(by_fold, by_folds, ARTEFACTS["folds"].types(), replace(total, what=what_of("folds", by_fold)))
    write_rows(answers, found, ARTEFACTS["blankets"].types(), replace(total, what=what_of("blankets", answers)))


def _counted(total: Provenance, ended: Sequence[Provenance], folds: Sequence[str]) -> list[int]:
    """Return which folds have a result; if some lack one, the outcome is marked as incomplete.

    Raises `EarlierFailure` if none has one.
    """
    counted = [i for i, provenance in enumerate(ended) if provenance.usable]
    passed_on(total, [ended[i] for i in counted] or ended)
    lacking = [i for i in range(len(folds)) if i not in set(counted)]
    if lacking:
        first = ended[lacking[0]]
        said = (
            f"{len(lacking)} of {len(folds)} folds have no result and do not count; "
            f"fold {folds[lacking[0]]}: {first.status}, {first.reason}"
        )
        total.reason = f"{said}; {total.reason}" if total.reason else said
        total.status = max(total.status, "unreliable", key=STATUSES.index)
    return counted


def _members(columns: Mapping[str, list[Any]]) -> Steps:
    """Return the selected features of a fold, most important first."""
    read = {**columns, "stand_ins": [tuple(StandIn(**row) for row in rows or ()) for rows in columns["stand_ins"]]}
    own = {name: objects(read[name]) for name in ("role", "group", "stand_ins") if name in read}
    steps = Steps(columns["feature"], importance=np.array(columns["importance"], dtype=np.float64), **own)
    kept = np.flatnonzero(columns["kept"])
    return steps[kept[np.argsort(-steps.importance[kept], kind="stable")]]
