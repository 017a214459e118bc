"""The splits stage: all outer splits of a data set with inner folds, drawn once for all selectors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...core.rows import FORWARD, LEAVE_GROUP_OUT
from ...data.artefact_columns import ARTEFACTS
from ...data.artefacts import read_arrow, write_arrow, write_columns
from ...data.periods import described_periods
from ...data.splits import make_splits, split_ids
from ...data.storage import read_table
from ..identity import made


def draw_splits(table: Path, splits: Path, dataset: str, spec: str, code: str = "") -> None:
    """Write the splits of a data set for the numbers of folds in the spec.

    If each split holds out one group, the metadata ``held_out`` has the group and its rows by split; of forward splits,
    ``periods`` has the first and last time of each period and its rows.
    """
    asked = json.loads(spec)
    provenance = made("splits", splits, [table], spec, code, asked["seed"])
    stored = read_table(table, columns=[])
    n_test = stored.extra["n_test"]
    of_rows = stored.groups, n_test, stored.times
    columns = make_splits(stored.target, asked, asked["folds"], asked["seed"], dataset, *of_rows)
    if asked["evaluation"] == FORWARD and stored.times is not None:
        of_times = stored.times, asked["parts"], stored.extra["has_dates"]
        provenance.extra["periods"] = described_periods(*of_times)
    if asked["evaluation"] == LEAVE_GROUP_OUT:
        sizes = np.unique(stored.groups, return_counts=True)[1].tolist()
        groups = zip(split_ids(asked | {"final": False}, len(sizes)), stored.extra["group_labels"], sizes, strict=True)
        provenance.extra["held_out"] = {split: {"group": group, "n_rows": n} for split, group, n in groups}
    write_columns(splits, columns, ARTEFACTS["splits"].types(), provenance)


def gather_splits(parts: Sequence[Path], splits: Path, spec: str, code: str) -> None:
    """Write the splits for every number of folds into one file, for users."""
    import pyarrow as pa

    tables, described = zip(*map(read_arrow, parts), strict=True)
    provenance = made("all_splits", splits, parts, spec, code, json.loads(spec)["seed"])
    provenance.extra = described[0].extra
    write_arrow(splits, pa.concat_tables(tables), provenance)
