"""Collects the content of the report, for the report job and for `compare`."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from .. import __version__
from ..core.prior import PriorKnowledge
from ..core.registry import discover
from ..data.splits import FINAL
from ..reporting.tables import unclean
from . import collect

if TYPE_CHECKING:
    from ..reporting.report import Run

PACKAGES = ("snakemake", "numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "lightgbm", "numba")


def finished_run(
    spec: str,
    tables: Mapping[str, pd.DataFrame],
    cards: Sequence[Path],
    by_fold: Sequence[Path],
    shrink: Sequence[Path],
) -> Run:
    """Return the content of the report.

    Arguments are as in `collect.tabulate`; `shrink` lists shrink.parquet of each pair and fold of the final split.
    """
    from ..reporting.report import Run

    asked = json.loads(spec)
    known = collect.cards(cards)
    supplied = [name for name, s in asked["selectors"].items() if s.get("supplied") == "shrink"]
    rooms = ("selectors", "ci", "targets", "models")
    declared = {name: found for room in rooms for name, found in discover(f"blanketflow.{room}").items()}
    return Run(
        tables=tables,
        folds=collect.selections(by_fold),
        members=collect.members(shrink, supplied),
        outcomes=unclean(tables["statuses"]),
        skipped=pd.DataFrame(asked["skipped"], columns=["dataset", "selector", "reason"]),
        cards={name: known[name] | _prior(asked["datasets"][name]) for name in asked["order"]["datasets"]},
        selectors=_selectors(asked),
        method_cards={identifier: found.card for identifier, found in declared.items()},
        provenance={
            "blanketflow": __version__,
            "python": platform.python_version(),
            "platform": platform.platform(),
            "seed": asked["seed"],
            "packages": collect.versions(PACKAGES),
            "config": asked,
        },
        verdicts=_verdicts(tables["statuses"]),
        chosen_tests={name: tuple(chosen) for name, chosen in asked["chosen_tests"].items()},
        unselective=collect.notes(by_fold),
        sampled=_sampled(by_fold),
        targets=asked.get("targets", {}),
        searches=collect.searches(by_fold),
        told=collect.final_verdicts(by_fold),
    )


def _sampled(by_fold: Sequence[Path]) -> dict[str, list[str]]:
    """Return by data set which searches took a sample, and its size."""
    alike: dict[str, dict[tuple[int, int], list[str]]] = {}
    for (dataset, selector), (n_taken, n_rows) in collect.samples(by_fold).items():
        alike.setdefault(dataset, {}).setdefault((n_taken, n_rows), []).append(selector)
    said = "{} took {:,} of {:,} rows, stratified by the target"
    return {name: [said.format(", ".join(s), *sizes) for sizes, s in own.items()] for name, own in alike.items()}


def _prior(spec: Mapping[str, Any]) -> dict[str, Any]:
    prior = PriorKnowledge.joined(spec)
    return {"prior": prior.as_dict()} if prior else {}


def _verdicts(statuses: pd.DataFrame) -> dict[tuple[str, str], str]:
    final = statuses[(statuses["split"] == FINAL) & (statuses["stage"] == "select") & (statuses["verdict"] != "")]
    return {(row.dataset, row.selector): row.verdict for row in final.itertuples()}


def _selectors(asked: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        name: {
            **(s := asked["selectors"][name]),
            **s["options"],
            "ci_test": asked["ci_tests"].get(s["ci_test"], s["ci_test"]),
        }
        for name in asked["order"]["selectors"]
    }
