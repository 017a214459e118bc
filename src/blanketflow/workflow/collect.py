"""Collects the many small artefacts of a run into one table each, with the ids in their paths as columns."""

from __future__ import annotations

import csv
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..core.printable import as_cell
from ..core.rows import FORWARD, LEAVE_GROUP_OUT
from ..data.artefact_columns import ARTEFACTS
from ..data.artefacts import (
    read_arrow,
    read_columns,
    read_json,
    read_provenance,
    write_arrow,
    write_text,
)
from ..data.external_stages import read_supplied
from ..data.provenance import Provenance
from ..data.splits import FINAL
from ..reporting.tables import OBSERVED, TABLES, Found, scores
from .identity import contents_beside
from .layout import parse

#: Rows on which a blanket was found: those of the training folds, or all rows including test rows.
HONEST, OPTIMISTIC = "training rows", "all rows"


def selections(paths: Sequence[Path]) -> pd.DataFrame:
    """Return the rows of every usable blanket.parquet, folds.parquet or confirm.parquet with its ids."""
    frames = []
    for path in paths:
        columns, provenance = read_columns(path)
        rows = pd.DataFrame(columns)[: None if provenance.usable else 0]
        frames.append(rows.assign(**parse(path, ("blanket", "folds", "confirm")).ids))
    return _joined(frames, ["dataset", "split", "selector"])


def members(paths: Sequence[Path], supplied: Collection[str] = ()) -> pd.DataFrame:
    """Return the features in every shrink.parquet with its ids; `supplied` lists the external selectors."""
    rows = []
    for path in paths:
        ids = parse(path, ["shrink"]).ids
        columns, provenance = read_supplied(path, "shrink") if ids["selector"] in supplied else read_columns(path)
        if provenance.usable:
            rows += [{**ids, "feature": f} for f, k in zip(columns["feature"], columns["kept"], strict=True) if k]
    return pd.DataFrame(rows, columns=["dataset", "selector", "split", "fold", "feature"])


def searches(paths: Sequence[Path]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the repeatable final searches (`Search.as_dict`) by data set and selector, from folds.parquet."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for path in paths:
        ids = parse(path, ["folds"]).ids
        if ids["split"] == FINAL and not isinstance(asked := asked_search(read_provenance(path)), str):
            found.setdefault(ids["dataset"], {})[ids["selector"]] = asked
    return found


def asked_search(provenance: Provenance) -> dict[str, Any] | str:
    """Return the search behind an aggregation (`Search.as_dict`), or the reason why it cannot be repeated."""
    spec = json.loads(provenance.spec)
    asked = spec.get("search")
    if not asked or "supplied" in asked or "shards" in asked:
        return "it was not found by a search in rows"
    if "stratify" in spec:
        return (
            "its folds are not stratified (splits: stratify: false), and a search by itself stratifies them. Set "
            "stratify: true and run again to repeat its answers"
        )
    identity = [provenance.what["dataset"], provenance.what["split"]]
    # Jobs impute cells that no rule of a CI test handles.
    return {"identity": identity, "missing": "impute", **asked, "folds": spec["folds"], "aggregate": spec["aggregate"]}


def notes(paths: Sequence[Path]) -> dict[str, list[str]]:
    """Return the notes on p-values of the final searches by data set, from folds.parquet, without duplicates."""
    found: dict[str, dict[str, None]] = {}
    for path in paths:
        ids = parse(path, ["folds"]).ids
        if ids["split"] == FINAL:
            for note in read_provenance(path).extra.get("notes", {}).values():
                found.setdefault(ids["dataset"], {})[note] = None
    return {dataset: [*own] for dataset, own in found.items()}


def final_verdicts(paths: Sequence[Path]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the verdicts of final searches by data set and selector, from folds.parquet."""
    found = {}
    for path in paths:
        ids = parse(path, ["folds"]).ids
        if ids["split"] == FINAL and (told := read_provenance(path).extra.get("verdict")):
            found[ids["dataset"], ids["selector"]] = told
    return found


def samples(paths: Sequence[Path]) -> dict[tuple[str, str], list[int]]:
    """Return sample size and number of rows of each sampled search, from the first fold of the first split."""
    found: dict[tuple[str, str], list[int]] = {}
    for path in paths:
        ids = parse(path, ["folds"]).ids
        if sample := read_provenance(path).extra.get("sample"):
            found.setdefault((ids["dataset"], ids["selector"]), sample)
    return found


def evaluations(paths: Sequence[Path]) -> pd.DataFrame:
    """Return the rows of every evaluation with dataset and selector; model and metric are empty where none was fitted.

    `group` and `n_rows` are set if each split holds out a group.
    """
    among, frames = ("evaluate", "evaluate_optimistic"), []
    for path in paths:
        columns, provenance = read_columns(path)
        if groups := provenance.extra.get("held_out"):
            for name in ("group", "n_rows"):
                columns = {**columns, name: [groups[split][name] for split in columns["split"]]}
        frames.append(pd.DataFrame(columns).assign(**parse(path, among).ids))
    return _joined(frames, [*ARTEFACTS["evaluate"].columns, "dataset", "selector"]).replace(
        {"model": {"": None}, "metric": {"": None}}
    )


def observed(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Return the rows of the table ``observed``, which evaluations of further kinds of targets keep by parts."""
    rows = []
    for path in paths:
        for model, parts in read_provenance(path).extra.get("observed", {}).items():
            for part in parts:
                columns = {key: values for key, values in part.items() if isinstance(values, list)}
                of_part = {**dict.fromkeys(OBSERVED.columns), "label": "", **parse(path, ["evaluate"]).ids}
                of_part |= {"model": model} | {key: value for key, value in part.items() if key not in columns}
                rows += [of_part | dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return rows


def drift(paths: Sequence[Path]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the drift that evaluations of forward splits keep (`feature_drift`), by data set and selector."""
    found = {}
    for path in paths:
        if told := read_provenance(path).extra.get("drift"):
            ids = parse(path, ["evaluate"]).ids
            found[ids["dataset"], ids["selector"]] = told
    return found


def both_selections(honest: Sequence[Path], optimistic: Sequence[Path]) -> pd.DataFrame:
    """Return the rows of evaluations with `selected_on`: the training rows alone, or all rows."""
    folded = [evaluations(honest).assign(selected_on=HONEST)]
    seen = [evaluations([path]).assign(selected_on=OPTIMISTIC) for path in optimistic]
    return pd.concat([*folded, *seen], ignore_index=True)


def outcomes(select: Sequence[Path], evaluate: Sequence[Path], confirmed: Sequence[Path] = ()) -> pd.DataFrame:
    """Return status and reason of each search on a split, and of each confirmation or model that had a blanket."""
    rows, failed = [], set()
    for path in select:
        provenance = read_provenance(path)
        ids = parse(path, ["blanket"]).ids
        dataset, split, selector = ids["dataset"], ids["split"], ids["selector"]
        verdict = provenance.extra.get("verdict", {}).get("sentence", "")
        rows.append((dataset, selector, split, "select", provenance.status, provenance.reason, verdict))
        if not provenance.usable:
            failed.add((dataset, selector, split))
    for path in confirmed:
        provenance, ids = read_provenance(path), parse(path, ["confirm"]).ids
        key = ids["dataset"], ids["selector"], ids["split"]
        if key not in failed:
            ended = ("ok", "") if provenance.usable else (provenance.status, provenance.reason)
            rows.append((*key, "confirm", *ended, ""))
    for path in evaluate:
        columns, _ = read_columns(path)
        ids = parse(path, ["evaluate"]).ids
        dataset, selector = ids["dataset"], ids["selector"]
        found: dict[tuple[str, str], tuple[str, str]] = {}
        for split, model, status, reason in zip(
            *(columns[k] for k in ("split", "model", "status", "reason")), strict=True
        ):
            ended = (status, reason) if status == "error" else ("ok", "")  # an undefined metric is no failure
            if (dataset, selector, split) not in failed:
                found.setdefault((split, model), ended)
        rows += [(dataset, selector, split, f"evaluate {model}", *ended, "") for (split, model), ended in found.items()]
    return pd.DataFrame(rows, columns=list(TABLES["statuses"].rows.columns))


def cards(paths: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """Return the data sets' cards by id."""
    return {parse(path, ["card"]).ids["dataset"]: read_json(path) for path in paths}


def tables(paths: Sequence[Path]) -> dict[str, pd.DataFrame]:
    """Return result tables by name."""
    return {parse(path, ["result_table"]).ids["table"]: read_arrow(path)[0].to_pandas() for path in paths}


def write_table(path: Path, frame: pd.DataFrame, provenance: Provenance) -> None:
    """Write a result table as Parquet and CSV; texts in the CSV cannot be read as formulas."""
    import pyarrow as pa

    texts = frame.select_dtypes(exclude=["number", "bool"])
    cells = frame.assign(**{name: texts[name].map(as_cell) for name in texts})
    beside = path.with_suffix(".csv")
    rows = cells.to_csv(index=False, header=False, quoting=csv.QUOTE_NONNUMERIC)
    write_text(beside, ",".join(cells) + "\n" + rows)
    provenance.beside = contents_beside(path, [beside])
    write_arrow(path, pa.Table.from_pandas(frame, preserve_index=False), provenance)


def _joined(frames: Sequence[pd.DataFrame], ids: Sequence[str]) -> pd.DataFrame:
    filled = [frame for frame in frames if len(frame)]
    if not filled:
        return frames[0] if frames else pd.DataFrame(columns=list(ids))
    return pd.concat(filled, ignore_index=True)


def versions(names: Sequence[str]) -> Mapping[str, str]:
    """Return the installed version of each package."""
    from importlib.metadata import version

    return {name: version(name) for name in names}


def tabulate(
    spec: str,
    card_paths: Sequence[Path],
    blanket_paths: Sequence[Path],
    fold_paths: Sequence[Path],
    evaluation_paths: Sequence[Path],
    optimistic_paths: Sequence[Path] = (),
    confirmed_paths: Sequence[Path] = (),
) -> dict[str, pd.DataFrame]:
    """Return every table of `reporting.tables.TABLES` by name, for the tables job and for `compare`.

    `spec` is `Plan.report_spec`; the other arguments are the paths of the artefacts.
    """
    asked = json.loads(spec)
    scored, n_parts = evaluations(evaluation_paths), asked["splits"]["evaluation"]
    if n_parts == FORWARD:  # split k has 1 / k test rows for each training row; 1 / (n_parts - 1) is their mean
        later = asked["splits"]["parts"] - 1
        n_parts = 1 + later / sum(1 / k for k in range(1, later + 1))
    n_parts = 0 if n_parts == LEAVE_GROUP_OUT else n_parts
    found = Found(
        cards=cards(card_paths),
        blankets=selections(blanket_paths),
        folds=selections(fold_paths),
        evaluations=scored,
        both_selections=both_selections(evaluation_paths, optimistic_paths),
        confirmed=selections(confirmed_paths),
        ended=outcomes(blanket_paths, evaluation_paths, confirmed_paths),
        skipped=asked["skipped"],
        selectors=asked["selectors"],
        n_parts=n_parts,
        scores=scores(scored, asked["selectors"], n_parts),
        targets=asked.get("targets", {}),
        observed=observed(evaluation_paths),
        drift=drift(evaluation_paths),
        discoveries={
            ids: told["discoveries"] for ids, told in final_verdicts(fold_paths).items() if told.get("discoveries")
        },
    )
    return {name: table.make(found) for name, table in TABLES.items()}
