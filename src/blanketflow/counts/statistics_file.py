"""Agreements as JSON, and sufficient statistics as Parquet: what places send to each other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import ArtefactError, ConfigError, DataError
from ..data.artefact_columns import ARTEFACTS
from ..data.artefacts import read_columns, write_rows, write_text
from ..data.provenance import Provenance
from .agreement import Agreement
from .sufficient_statistics import Columns, CrossProducts, SufficientStatistics

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
    """Write statistics: a row each for a table, a refused one, the mean of a column, and the product of two.

    A label of more than two levels has several columns in its name, in the order of the levels.
    """
    sums = statistics.cross_products
    rows: list[tuple[str, Columns, np.ndarray, float | None]] = []
    rows += [(COUNTS, columns, table.ravel(), None) for columns, table in statistics.counts.items()]
    rows += [(REFUSED, columns, _NO_CELLS, None) for columns in statistics.refused]
    if sums is not None:
        names = _names_of_parts(statistics.agreement)
        rows += [(MEAN, (name,), _NO_CELLS, value) for name, value in zip(names, sums.means.tolist(), strict=True)]
        products = sums.products[np.triu_indices(len(names))].tolist()
        pairs = combinations_with_replacement(names, 2)
        rows += [(PRODUCT, pair, _NO_CELLS, value) for pair, value in zip(pairs, products, strict=True)]
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
    counts: dict[Columns, np.ndarray] = {}
    refused: list[Columns] = []
    summed: dict[str, list[tuple[Columns, float]]] = {MEAN: [], PRODUCT: []}
    try:
        for kind, columns, cells, value in zip(*rows.values(), strict=True):
            if kind == COUNTS:
                shape = [levels[name] for name in columns]
                counts[tuple(columns)] = np.array(cells, dtype=np.int64).reshape(shape)
            elif kind == REFUSED:
                refused.append(tuple(columns))
            else:
                summed[kind].append((tuple(columns), np.nan if value is None else value))
        sums = _sums(agreement, told["n_rows"], summed) if told["has_products"] else None
    except (KeyError, ValueError) as error:
        raise DataError(f"{path}: its tables do not fit its agreement ({error}). Count again.") from error
    return SufficientStatistics(agreement, told["n_rows"], counts, sums, tuple(refused))


def _names_of_parts(agreement: Agreement) -> list[str]:
    """Return the name of the column of each number and indicator that is summed."""
    return [coding.name for coding in agreement.codings for _ in range(coding.n_parts)]


def _sums(agreement: Agreement, n_rows: int, summed: Mapping[str, list[tuple[Columns, float]]]) -> CrossProducts:
    """Return what rows of means and products tell; raises `ValueError` if they are not those of the agreement."""
    names = _names_of_parts(agreement)
    expected = [*((name,) for name in names), *combinations_with_replacement(names, 2)]
    found = [*summed[MEAN], *summed[PRODUCT]]
    if [columns for columns, _ in found] != expected:
        raise ValueError("means and products are of other columns")
    values = np.array([value for _, value in found])
    products = np.empty((len(names), len(names)))
    products[np.triu_indices(len(names))] = values[len(names) :]
    return CrossProducts(n_rows, values[: len(names)], np.triu(products) + np.triu(products, 1).T)
