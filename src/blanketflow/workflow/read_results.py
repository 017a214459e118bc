"""Reads the folder of results of a finished run, for users and other programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import ArtefactError, DataError, did_you_mean
from ..data.artefacts import check_beside, read_columns, read_json, read_provenance
from ..data.findings import in_lines
from ..data.provenance import Provenance
from ..data.splits import FINAL
from ..data.storage import read_table
from ..reporting.export import FIELDS, ExportedBlanket, ExportedRun
from ..reporting.tables import TABLES
from .identity import contents_beside
from .layout import path_of
from .packaged_files import workflow_file

if TYPE_CHECKING:
    from ..reporting.report import Run


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

    def run(self) -> Run:
        """Return the content of the report, with the run's versions; raises `ArtefactError` if a file is damaged."""
        from . import collect
        from .finished_run import finished_run

        provenance, config = read_json(self.at("provenance")), self.config()
        tables = collect.tables([self.at("result_table", table=name) for name in TABLES])
        cards = [self.at("card", dataset=dataset) for dataset in config["order"]["datasets"]]
        searched = tables["statuses"][tables["statuses"]["stage"] == "select"]
        pairs = searched[["dataset", "selector", "split"]].to_dict("records")
        folds = collect.selections([self.at("folds", **ids) for ids in pairs if ids["split"] == FINAL])
        ids_of_folds = folds[["dataset", "selector", "split", "fold"]].to_dict("records")
        shrink = [self.at("shrink", **ids) for ids in ids_of_folds]
        made = finished_run(json.dumps(config), tables, cards, [self.at("folds", **ids) for ids in pairs], shrink)
        return replace(made, provenance={key: provenance[key] for key in made.provenance})

    def files(self, datasets: Sequence[str]) -> dict[str, Path]:
        """Return the results without rows of tables, and the workflow, by their names in a crate.

        Raises `ArtefactError` if a file is not as the run wrote it.
        """
        provenance = self.at("provenance")
        tables = [self.at("result_table", table=name) for name in TABLES]
        paths = [provenance, *self._beside(provenance, read_json(provenance)["beside"]), *tables]
        paths += [path for table in tables for path in self._beside(table, read_provenance(table).beside)]
        paths += [self.at("card", dataset=dataset) for dataset in datasets]
        named = {path.relative_to(self.folder).as_posix(): path for path in paths}
        return {"workflow/Snakefile": Path(workflow_file())} | named

    def _beside(self, artefact: Path, digests: Mapping[str, str]) -> list[Path]:
        """Return the files made with an artefact, if they are as they were written."""
        check_beside(artefact, digests)
        paths = [artefact.parent / name for name in digests]
        for path in paths:
            if not path.is_file() or contents_beside(artefact, [path]).items() - digests.items():
                raise ArtefactError(f"{path} is not as the run wrote it. Run again: it is made again.")
        return paths

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
    results = _finished(folder)
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


def read_run(folder: str | Path, dataset: str | None = None, selector: str | None = None) -> ExportedRun:
    """Read a finished run for papers: all data sets unless one is named, each with the set of a selector or its answer.

    Raises `DataError` if the folder has no such results; the message lists what it has.
    """
    import yaml

    results = _finished(folder)
    run = results.run()
    datasets = list(run.cards)
    if dataset is not None:
        datasets = [_one_of(dataset, datasets, "data set", "--dataset")]
    if selector is not None:
        _one_of(selector, list(run.selectors), "selector", "--selector")
        if not any(selector in run.ran(name) for name in datasets):
            others = ", ".join(run.present(run.tables["blankets"]))
            raise DataError(f"{folder} has no final blanket of {selector}. Name one of {others} with --selector.")
    itself = yaml.safe_load(Path(workflow_file("CITATION.cff")).read_text(encoding="utf-8"))
    ended = results.at("provenance").stat().st_mtime
    return ExportedRun(run, datasets, selector, itself, results.files([*run.cards]), ended)


def _finished(folder: str | Path) -> Results:
    results = Results(Path(folder))
    table = results.at("result_table", table="blankets")
    if not table.is_file():
        raise DataError(f"{folder} holds no finished run ({table} is not there). Run it by blanketflow run first.")
    return results


def _one_of(asked: str | None, known: Sequence[str], what: str, option: str) -> str:
    if asked is None and len(known) == 1:
        return known[0]
    if asked is None:
        raise DataError(f"there is more than one {what}: add {option} with one of {', '.join(known)}.")
    if asked not in known:
        raise DataError(f"the results have no {what} {asked!r}. {did_you_mean(asked, known)}")
    return asked
