"""The splits stage: every outer split of a data set with its inner folds, drawn once for all selectors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from ...data.artefact_columns import ARTEFACTS
from ...data.artefacts import read_arrow, write_arrow, write_columns
from ...data.splits import make_splits
from ...data.storage import read_table
from ..identity import made


def draw_splits(table: Path, splits: Path, dataset: str, spec: str, code: str = "") -> None:
    """Write the splits of a data set for the numbers of folds that the spec names."""
    asked = json.loads(spec)
    provenance = made("splits", splits, [table], spec, code, asked["seed"])
    stored = read_table(table, columns=[])
    n_test = stored.extra["n_test"]
    columns = make_splits(stored.target, asked, asked["folds"], asked["seed"], dataset, stored.groups, n_test)
    write_columns(splits, columns, ARTEFACTS["splits"].types(), provenance)


def gather_splits(parts: Sequence[Path], splits: Path, spec: str, code: str) -> None:
    """Write the splits for every number of folds into one file, for people."""
    import pyarrow as pa

    table = pa.concat_tables([read_arrow(path)[0] for path in parts])
    write_arrow(splits, table, made("all_splits", splits, parts, spec, code, json.loads(spec)["seed"]))
