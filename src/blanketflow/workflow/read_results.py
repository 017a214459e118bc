"""Reads the folder of results of a finished run, for users and other programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import ArtefactError, DataError, did_you_mean
from ..data.artefacts import read_columns, read_json, read_provenance
from ..data.findings import in_lines
from ..data.provenance import Provenance
from ..data.splits import FINAL
from ..data.storage import read_table
from ..reporting.export import FIELDS, ExportedBlanket
from .layout import path_of


@dataclass(frozen=True)
class Results:
    """The folder of results of a finished run."""

    folder: Path

    def at(self, artefact: str, **ids: str) -> Path:
        """Return the path of an artefact."""
        return self.folder / path_of(artefact, **ids)

    def is_finished(self) -> bool:
        """Whether the run reached its report."""
        return self.at("report").is_file()

    def rows(self, table: str, *names: str) -> list[tuple[Any, ...]]:
        """Return some columns of a result table, row by row."""
        columns, _ = read_columns(self.at("result_table", table=table))
        return list(zip(*(columns[name] for name in names), strict=True))

    def config(self) -> dict[str, Any]:
        """Return `Plan.report_spec` of the run; raises `ArtefactError` if the file is unreadable or wrong."""
        path = self.at("provenance")
        said = read_json(path).get("config")
        if not _is_asked(said):
            raise ArtefactError(f"{path} does not say what was asked for. Delete it and run again.")
        return said

    def final_search(self, dataset: str, selector: str) -> Provenance:
        """Return how the search for a final blanket ended; raises `DataError` if there was none."""
        path = self.at("blanket", dataset=dataset, split=FINAL, selector=selector)
        if not path.is_file():
            raise DataError(
                f"{self.folder} has no final blanket of {selector} on {dataset}: the run had splits: {{final: false}}. "
                "Set it to true and run again."
            )
        return read_provenance(path)

    def look_first(self, dataset: str) -> list[str]:
        """Return what to look at in a table first, as its card says; nothing if there is no such card.

        Raises
        ------
        ArtefactError
            If the card cannot be read, or holds no findings.
        """
        path = self.at("card", dataset=dataset)
        if not path.is_file():
            return []
        try:
            return in_lines(read_json(path)["findings"])
        except (TypeError, KeyError, AttributeError) as error:
            raise ArtefactError(f"{path} does not say what was found in the table. Delete it and run again.") from error


def _is_asked(said: Any) -> bool:
    """Whether a value can be the request of a run; only keys that this module reads are checked."""
    try:
        order, skipped = said["order"], said["skipped"]
        named = [*order["datasets"], *order["selectors"], *(text for row in skipped for text in row)]
        named += [said["selectors"][name]["method"] for name in order["selectors"]]
    except (TypeError, KeyError, IndexError):
        return False
    lists = [order["datasets"], order["selectors"], skipped, *skipped]
    are_lists = all(isinstance(one, list) for one in lists) and all(len(row) == 3 for row in skipped)
    return are_lists and all(isinstance(name, str) for name in named) and isinstance(said.get("seed"), int)


def read_blanket(folder: str | Path, dataset: str | None = None, selector: str | None = None) -> ExportedBlanket:
    """Read a final blanket of a finished run; ids are optional if only one exists.

    Raises `DataError` if the folder has no such results or blanket; the message lists what it has.
    """
    results = Results(Path(folder))
    table = results.at("result_table", table="blankets")
    if not table.is_file():
        raise DataError(f"{folder} holds no finished run ({table} is not there). Run it by blanketflow run first.")
    names = [name for name in FIELDS if name != "kind"]
    rows = results.rows("blankets", "dataset", "selector", *names)
    config = results.config()
    dataset = _one_of(dataset, config["order"]["datasets"], "data set", "--dataset")
    skipped = {name: reason for data, name, reason in config["skipped"] if data == dataset}
    if selector in skipped:
        raise DataError(f"{selector} was skipped on {dataset}: {skipped[selector]}.")
    left = [name for name in config["order"]["selectors"] if name not in skipped]
    selector = _one_of(selector, left, "selector", "--selector")
    features = [dict(zip(names, row[2:], strict=True)) for row in rows if row[:2] == (dataset, selector)]
    stored = read_table(results.at("table", dataset=dataset), [row["feature"] for row in features])
    for row, column in zip(features, stored.features.columns, strict=True):
        row["kind"] = column.kind
    provenance = results.final_search(dataset, selector)
    if not features and not provenance.usable:
        raise DataError(f"{selector} failed on {dataset}: {provenance.reason}")
    method, seed = config["selectors"][selector]["method"], config["seed"]
    target, task = stored.target.name, stored.extra["task"]
    return ExportedBlanket(dataset, target, task, selector, method, features, provenance.version, seed)


def _one_of(asked: str | None, known: Sequence[str], what: str, option: str) -> str:
    if asked is None and len(known) == 1:
        return known[0]
    if asked is None:
        raise DataError(f"there is more than one {what}: add {option} with one of {', '.join(known)}.")
    if asked not in known:
        raise DataError(f"the results have no {what} {asked!r}. {did_you_mean(asked, known)}")
    return asked
