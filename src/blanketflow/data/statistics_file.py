"""Agreements as JSON, and sufficient statistics as Parquet: what places send to each other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np

from ..core.agreement import Agreement
from ..core.errors import ArtefactError, ConfigError, DataError
from ..core.sufficient_statistics import Columns, CrossProducts, SufficientStatistics
from .artefact_columns import ARTEFACTS
from .artefacts import read_columns, write_rows, write_text
from .provenance import Provenance

#: What a row of the file tells.
COUNTS, REFUSED, MEAN, PRODUCT = "counts", "refused", "mean", "cross-product"
_NO_CELLS = np.empty(0, dtype=np.int64)


def write_agreement(path: str | Path, agreement: Agreement) -> None:
    """Write an agreement as JSON, a column a line."""
    plain = agreement.as_dict()
    columns = ",\n".join(f"    {json.dumps(told, ensure_ascii=False)}" for told in plain.pop("columns"))
    rest = "".join(f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)},\n" for key, value in plain.items())
    write_text(path, f'{{\n{rest}  "columns": [\n{columns}\n  ]\n}}\n')


def read_agreement(path: str | Path) -> Agreement:
    """Read an agreement; raises `ConfigError` if the file is missing or not one."""
    try:
        return Agreement.from_dict(json.loads(Path(path).read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not a readable agreement ({error}).") from error


def write_statistics(path: str | Path, statistics: SufficientStatistics, provenance: Provenance | None = None) -> None:
    """Write statistics: a row each for a table, a refused one, the mean of a column, and the product of two."""
    names, sums = statistics.agreement.names, statistics.cross_products
    rows: list[tuple[str, Columns, np.ndarray, float | None]] = []
    rows += [(COUNTS, columns, table.ravel(), None) for columns, table in statistics.counts.items()]
    rows += [(REFUSED, columns, _NO_CELLS, None) for columns in statistics.refused]
    if sums is not None:
        rows += [(MEAN, (name,), _NO_CELLS, value) for name, value in zip(names, sums.means.tolist(), strict=True)]
        pairs = combinations_with_replacement(range(len(names)), 2)
        rows += [(PRODUCT, (names[i], names[j]), _NO_CELLS, float(sums.products[i, j])) for i, j in pairs]
    told = {"agreement": statistics.agreement.as_dict(), "n_rows": statistics.n_rows, "has_products": sums is not None}
    provenance = provenance or Provenance(what={"artefact": "counts"})
    write_rows(path, rows, ARTEFACTS["counts"].types(), replace(provenance, extra={**provenance.extra, **told}))


def read_statistics_of(path: str | Path) -> SufficientStatistics:
    """Read statistics.

    Raises `ArtefactError` if the file is damaged or another one, `DataError` if its tables do not fit its agreement.
    """
    rows, provenance = read_columns(path)
    told: Mapping[str, Any] = provenance.extra
    if "agreement" not in told:
        raise ArtefactError(f"{path} is an artefact, but not of counts. blanketflow count writes one.")
    agreement = Agreement.from_dict(told["agreement"])
    levels = {coding.name: coding.n_levels for coding in agreement.codings}
    place = {name: at for at, name in enumerate(agreement.names)}
    counts: dict[Columns, np.ndarray] = {}
    refused: list[Columns] = []
    means, products = np.full(len(place), np.nan), np.full((len(place), len(place)), np.nan)
    try:
        for kind, columns, cells, value in zip(*rows.values(), strict=True):
            if kind == COUNTS:
                shape = [levels[name] for name in columns]
                counts[tuple(columns)] = np.array(cells, dtype=np.int64).reshape(shape)
            elif kind == REFUSED:
                refused.append(tuple(columns))
            elif kind == MEAN:
                means[place[columns[0]]] = value
            elif value is not None:
                i, j = place[columns[0]], place[columns[1]]
                products[i, j] = products[j, i] = value
    except (KeyError, ValueError) as error:
        raise DataError(f"{path}: its tables do not fit its agreement ({error}). Count again.") from error
    sums = CrossProducts(told["n_rows"], means, products) if told["has_products"] else None
    return SufficientStatistics(agreement, told["n_rows"], counts, sums, tuple(refused))
