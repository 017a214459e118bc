"""Reads what a CI test found of each feature given nothing."""

from __future__ import annotations

from pathlib import Path

from ..core.results import CIResults
from .arrow import array_from_arrow
from .artefact_columns import ARTEFACTS
from .artefacts import read_arrow
from .provenance import Provenance


def read_marginal(path: Path) -> tuple[list[str], CIResults, Provenance]:
    """Return features and results of a ci_test artefact."""
    names = list(ARTEFACTS["ci_test"].columns)
    table, provenance = read_arrow(path, names)
    arrays = [array_from_arrow(table.column(name)) for name in names if name != "feature"]
    return table.column("feature").to_pylist(), CIResults(*arrays), provenance
