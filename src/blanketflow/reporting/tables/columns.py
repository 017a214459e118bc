"""The columns of each result table, so that a table without rows has the same schema as one with rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..typed_frames import typed_frame

if TYPE_CHECKING:
    import pandas as pd

_PAIR = {"dataset": "string", "selector": "string"}
_MEASURE = {"metric": "string", "model": "string"}
_RANK = {"selector": "string", "mean_rank": "double", "n_datasets": "int64"}

#: Column types by table, in the type names of `blanketflow.data.artefacts.write_columns`.
TABLES: dict[str, dict[str, str]] = {
    "scores": _PAIR
    | {
        "model": "string",
        "metric": "string",
        "mean": "double",
        "sd": "double",
        "n_splits": "int64",
        "n_features": "double",
        "difference": "double",
        "best": "bool",
        "status": "string",
        "reason": "string",
    },
    "blankets": _PAIR
    | {
        "feature": "string",
        "importance": "double",
        "frequency": "double",
        "n_folds": "int64",
        "role": "string",
    },
    "stability": _PAIR
    | {
        "stability": "double",
        "lower": "double",
        "upper": "double",
        "jaccard": "double",
        "mean_size": "double",
        "sd_size": "double",
        "n_sets": "int64",
        "note": "string",
    },
    "agreement": _PAIR
    | {
        "other": "string",
        "jaccard": "double",
        "n_common": "int64",
        "n_either": "int64",
    },
    "ranks": _MEASURE | _RANK,
    "wins": _MEASURE
    | {
        "selector": "string",
        "other": "string",
        "wins": "int64",
        "ties": "int64",
        "losses": "int64",
    },
    "optimism": _PAIR
    | {
        "model": "string",
        "metric": "string",
        "honest": "double",
        "optimistic": "double",
        "difference": "double",
        "n_splits": "int64",
    },
    "friedman": _MEASURE
    | {
        "n_datasets": "int64",
        "n_selectors": "int64",
        "statistic": "double",
        "p_value": "double",
        "f_statistic": "double",
        "f_p_value": "double",
        "critical_difference": "double",
        "note": "string",
    },
    "friedman_ranks": _MEASURE | _RANK,
    "runtime": _PAIR
    | {
        "n_tests": "int64",
        "selection_seconds": "double",
        "evaluation_seconds": "double",
    },
    "truth": _PAIR
    | {
        "split": "string",
        "precision": "double",
        "recall": "double",
        "f1": "double",
        "n_chosen": "int64",
        "n_true": "int64",
        "n_common": "int64",
        "pc_precision": "double",
        "pc_recall": "double",
        "pc_f1": "double",
        "n_true_pc": "int64",
        "n_pc": "int64",
        "n_spouses": "int64",
        "n_false": "int64",
    },
    "statuses": _PAIR
    | {
        "split": "string",
        "stage": "string",
        "status": "string",
        "reason": "string",
    },
}


def frame(table: str, rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return `rows` as a frame with the columns of `table`, also when there are none."""
    return typed_frame(rows, TABLES[table])
