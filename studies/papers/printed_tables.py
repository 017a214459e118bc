"""Reads and checks a paper's tables from a YAML file of printed numbers, and knows the measures that papers print."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blanketflow.core.errors import ConfigError, did_you_mean, shown

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Measure:
    """How a printed measure is computed from ours.

    `metric` is None for the number of features. `of_mean` converts the mean of the metric over the parts of one
    partition to the printed unit.
    """

    metric: str | None
    of_mean: Callable[[float], float]
    higher_is_better: bool


def _same(value: float) -> float:
    return value


#: The measures by their names in files of printed results.
MEASURES: dict[str, Measure] = {
    "accuracy": Measure("accuracy", _same, True),
    "accuracy-percent": Measure("accuracy", lambda value: 100 * value, True),
    "error": Measure("accuracy", lambda value: 1 - value, False),
    "error-percent": Measure("accuracy", lambda value: 100 * (1 - value), False),
    "kappa": Measure("kappa", _same, True),
    "auc": Measure("roc-auc", _same, True),
    "balanced-accuracy": Measure("balanced-accuracy", _same, True),
    "root-mean-squared-error": Measure("mse", math.sqrt, False),
    "r2": Measure("r2", _same, True),
    "n-features": Measure(None, _same, False),
}


def measure_of(entry: Mapping[str, Any]) -> str:
    """Return the measure of a printed table: its key compared_as, else its key measure."""
    return str(entry.get("compared_as", entry.get("measure", ""))).replace("_", "-")


def values_of(run: pd.DataFrame, measure: Measure, model: str | None) -> pd.DataFrame:
    """Return the rows of a run with the measure in `value`: one row per selector, split and kind of selection.

    A search that found no blanket has no value, even if the measure is the number of features.
    """
    if measure.metric is None:
        one = ["dataset", "selector", "split", "selected_on"]
        has_blanket = (run["n_features"] > 0) | (run.groupby(one)["value"].transform("count") > 0)
        return run.assign(value=run["n_features"].where(has_blanket)).drop_duplicates(one)
    found = run[run["metric"] == measure.metric]
    return found[found["model"] == model] if model else found


_NUMBER = re.compile(r"\s*(-?[0-9][0-9,]*(?:\.[0-9]+)?)\s*(?:±\s*([0-9]+(?:\.[0-9]+)?))?\s*")
#: The required keys of a table; unknown keys are ignored.
_NEEDED = ("measure", "columns", "rows")
#: The column of all features.
ALL = "all"
#: The keys that say where in the paper a number is printed.
_PLACES = ("table", "figure", "text")


@dataclass(frozen=True)
class PrintedNumber:
    """A cell as printed: the number, half a unit of its last digit, and the number after ± if there is one."""

    value: float
    rounding: float
    spread: float | None = None


@dataclass(frozen=True)
class PrintedTable:
    """One printed table of results, or the numbers that a figure or section prints.

    `measure` is one of `MEASURES`; `model` is None if it is the number of features. The rows of `cells` are data sets,
    the columns are methods; a cell is None if no number is printed. `selectors` maps a column to the ids of the
    selectors that stand for it, with ``{key}`` for an option of the row; any other column stands for the selector of
    its name. If there are several, the best by `chosen_by` (default: the table's own measure) counts, as in papers that
    try several sizes. `options` are those that the paper set for a row. `not_comparable` maps rows, columns or
    "row/column" to the reason why their numbers must not be compared.
    """

    table: str
    title: str
    measure: str
    model: str | None
    cells: dict[tuple[str, str], PrintedNumber | None]
    selectors: dict[str, Any] = field(default_factory=dict)
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    not_comparable: dict[str, str] = field(default_factory=dict)
    chosen_by: str | None = None

    def candidates(self, row: str, column: str) -> list[str]:
        """Return the ids of the selectors that stand for a cell."""
        named = self.selectors.get(column, column)
        return [name.format(**self.options.get(row, {})) for name in ([named] if isinstance(named, str) else named)]

    def methods_of(self, row: str) -> list[float]:
        """Return the numbers of a row that can be compared, but for that of all features, which is no method's."""
        cells = {column: number for (one, column), number in self.cells.items() if one == row and column != ALL}
        return [number.value for column, number in cells.items() if number and not self.why_not(row, column)]

    def why_not(self, row: str, column: str) -> str | None:
        """Return why a cell must not be compared, or None if it may be."""
        found = (self.not_comparable.get(key) for key in (f"{row}/{column}", row, column))
        return next(filter(None, found), None)


def read_printed(path: str | Path) -> list[PrintedTable]:
    """Return the tables in a file that can be compared with a run; tables with an unknown measure are left out.

    The file is a YAML list of tables with the keys table, title, measure, model, columns and rows. Optional keys are
    selectors, options, not_comparable, chosen_by, and cells_of, the models whose numbers a cell ``A/B`` holds, in this
    order. Other keys are ignored. Raises `ConfigError` if the file cannot be read, or a row does not have one cell per
    column.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "paper.yaml")
    >>> _ = path.write_text("[{table: 2, measure: accuracy, columns: [all, gs], rows: {iris: [0.95, 0.9 ± 0.02]}}]")
    >>> read_printed(path)[0].cells["iris", "gs"]
    PrintedNumber(value=0.9, rounding=0.05, spread=0.02)
    """
    return [
        _table(path, raw, model)
        for raw in entries_of(path)
        if "rows" in raw and measure_of(raw) in MEASURES
        for model in _models(path, raw)
    ]


def entries_of(path: str | Path) -> list[Mapping[str, Any]]:
    """Return the entries of a file of printed results, with all values as text, so that numbers keep their digits."""
    import yaml

    try:
        found = yaml.BaseLoader(Path(path).read_text(encoding="utf-8")).get_single_data()
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"printed: {path} cannot be read: {error}. Check its path.") from error
    if not isinstance(found, list) or not all(isinstance(table, Mapping) for table in found):
        raise ConfigError(f"printed: {path} must be a list of tables, each with table, {', '.join(_NEEDED)}.")
    return found


def place_of(path: str | Path, entry: Mapping[str, Any]) -> str:
    """Return where an entry is printed: the number of the table, or the figure or section, and the part of it."""
    place = next((key for key in _PLACES if key in entry), None)
    if place is None:
        raise ConfigError(f"printed: {path} has an entry without a table. Add the table's number as its key table.")
    named = entry[place] if place == "table" else f"{place} {entry[place]}"
    return f"{named}, {entry['part']}" if "part" in entry else named


def _table(path: str | Path, raw: Mapping[str, Any], model: str | None) -> PrintedTable:
    place = place_of(path, raw)
    where = f"printed: {path}, table {place}" if "table" in raw else f"printed: {path}, {place}"
    missing = [key for key in _NEEDED if not raw.get(key)]
    if missing:
        raise ConfigError(f"{where} has no {missing[0]}. Add it.")
    cells: dict[tuple[str, str], PrintedNumber | None] = {}
    for row, values in raw["rows"].items():
        if not isinstance(values, list) or len(values) != len(raw["columns"]):
            raise ConfigError(f"{where}: row {row!r} must have {len(raw['columns'])} cells, one for each column.")
        if model in raw.get("cells_of", []):
            values = [_part(f"{where}: row {row!r}", value, raw["cells_of"], model) for value in values]
        cells |= {(row, c): _cell(f"{where}: row {row!r}", v) for c, v in zip(raw["columns"], values, strict=True)}
    for key in raw.get("selectors", {}):
        if key not in raw["columns"]:
            told = f"selectors names {shown(key)}, which is not a column"
            raise ConfigError(f"{where}: {told}. {did_you_mean(key, raw['columns'])}")
    chosen_by = raw.get("chosen_by")
    if chosen_by is not None and chosen_by not in MEASURES:
        told = f"chosen_by is {shown(chosen_by)}, which is not a measure"
        raise ConfigError(f"{where}: {told}. {did_you_mean(chosen_by, MEASURES)}")
    return PrintedTable(
        table=place,
        title=raw.get("title", ""),
        measure=measure_of(raw),
        model=model,
        cells=cells,
        selectors=raw.get("selectors", {}),
        options=raw.get("options", {}),
        not_comparable=raw.get("not_comparable", {}),
        chosen_by=chosen_by,
    )


def _models(path: str | Path, raw: Mapping[str, Any]) -> list[str | None]:
    """Return the models whose numbers a table holds."""
    found = raw.get("cells_of", [raw.get("model")])
    if not isinstance(found, list) or not found:
        raise ConfigError(f"printed: {path}: cells_of must be a list of models, but is {shown(found)}.")
    return found


def _part(where: str, text: Any, models: list[str], model: str | None) -> Any:
    """Return a cell's text for a model: its part of ``A/B``, or the whole text if there is only one part."""
    parts = text.split("/") if isinstance(text, str) else [text]
    if len(parts) not in (1, len(models)):
        raise ConfigError(f"{where} holds {shown(text)}, but cells_of names {len(models)} models.")
    return parts[models.index(str(model))] if len(parts) > 1 else text


def _cell(where: str, text: Any) -> PrintedNumber | None:
    """Return the printed number; None for a dash or anything else that is not a number."""
    if not isinstance(text, str):
        raise ConfigError(f"{where} holds {shown(text)} where a number should be.")
    found = _NUMBER.fullmatch(text)
    if not found:
        return None
    digits = found[1].replace(",", "")
    return PrintedNumber(
        float(digits), 0.5 * 10 ** -len(digits.partition(".")[2]), None if found[2] is None else float(found[2])
    )
