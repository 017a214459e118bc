"""Which results are up to date: compares a folder with the plan; outdated results are recomputed."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from ..core.errors import ArtefactError, DataError, EarlierArtefactError, Faults, ForeignArtefactError
from ..data.artefacts import check_beside, opened, read_arrow, read_json, read_provenance, write_rows
from ..data.external_stages import check_supplied, supplied_content
from ..data.provenance import Provenance, identity_of
from ..data.splits import FINAL
from ..reporting.tables import TABLES
from .grain import fold_ids
from .identity import check_place, content_of, digest_of_file, what_of, without_places
from .job_files import JobFiles
from .layout import FOLDERS, PATHS, files_like, path_of
from .sharded import shards
from .specs import Plan

# ----------------------------------------------------------------------------------------------------------------------
# The manifest: what was read of each artefact, so that a plan opens only files that have changed since.
# A file with unchanged size and time is not read again. A job always checks its inputs.

_TYPES = {
    "path": "string",
    "size": "int64",
    "modified": "int64",
    "identity": "string",
    "content": "string",
    "beside": "string",
}


class Known(NamedTuple):
    """What the metadata of a file says.

    `modified` is in nanoseconds. `identity` digests what the artefact is and its inputs; it is empty for files beside
    one. `beside` is JSON with the content digests, by path, of the files made with it.
    """

    size: int
    modified: int
    identity: str
    content: str
    beside: str = "{}"

    def made_with(self, path: Path) -> dict[Path, str]:
        """Return the content digests of the files made with the artefact at a path."""
        return {path.parent / name: content for name, content in json.loads(self.beside).items()}


@dataclass
class Manifest:
    """The files of a folder of results, by their path below it."""

    output: Path
    known: dict[str, Known] = field(default_factory=dict)
    is_changed: bool = False

    @classmethod
    def of(cls, output: str | Path) -> Manifest:
        """Return the manifest of a folder of results; empty if it is missing or damaged."""
        path = Path(output) / path_of("manifest")
        if not path.is_file():
            return cls(Path(output))
        try:
            table = read_arrow(path)[0]
            if {field.name: str(field.type) for field in table.schema} != _TYPES:
                return cls(Path(output))
            rows = zip(*table.to_pydict().values(), strict=True)
            known = {row[0]: Known(*row[1:]) for row in rows}
            for one in known.values():
                if one.beside != "{}":
                    check_beside(path, json.loads(one.beside))
        except (DataError, ValueError, TypeError, RecursionError):  # it only saves time
            return cls(Path(output))
        return cls(Path(output), known)

    def save(self) -> None:
        """Write the manifest if it has changed."""
        if self.is_changed:
            rows = [(path, *known) for path, known in sorted(self.known.items())]
            write_rows(self.output / path_of("manifest"), rows, _TYPES, Provenance())
            self.is_changed = False

    def look(self, path: Path, verify: bool = True) -> Known | None:
        """Return what is known of an artefact, None if it does not exist; files that it names may be missing.

        With `verify` the content of a new file is read, else only its metadata, as right after writing. Raises
        `ArtefactError` if it, or a file made with it, is damaged or misplaced.
        """
        known = self._unchanged(path)
        if known is None and not path.exists():
            return None
        if known is None:
            known = self._keep(path, *_read(path, verify))
        for other, content in known.made_with(path).items():
            of_other = self._unchanged(other)
            if of_other is None:
                if not other.exists():
                    continue
                of_other = self._keep(other, "", content_of(other), "{}")
            if of_other.content != content:
                raise ArtefactError(f"{other} is not as it was written. Run again: it is made again.")
        return known

    def forget(self, paths: Iterable[Path]) -> None:
        """Remove some files, so that they are read again at the next look."""
        for path in paths:
            self.is_changed |= self.known.pop(self._key(path), None) is not None

    def _unchanged(self, path: Path) -> Known | None:
        known = self.known.get(self._key(path))
        if known is None:
            return None
        try:
            state = os.stat(path)
        except OSError:
            return None
        return known if (state.st_size, state.st_mtime_ns) == known[:2] else None

    def _keep(self, path: Path, identity: str, content: str, beside: str) -> Known:
        state = os.stat(path)
        known = Known(state.st_size, state.st_mtime_ns, identity, content, beside)
        self.known[self._key(path)] = known
        self.is_changed = True
        return known

    def _key(self, path: Path) -> str:
        return os.fspath(path)[len(os.fspath(self.output)) + 1 :]


def _read(path: Path, verify: bool) -> tuple[str, str, str]:
    """Return identity, content and files beside; raises `ArtefactError`."""
    if path.suffix == ".json":
        said: Any = read_json(path)
        check_beside(path, said.get("beside", {}))
        return said.get("identity", ""), content_of(path), json.dumps(said.get("beside", {}))
    with opened(path) as (file, provenance):
        check_place(path, provenance)
        check_beside(path, provenance.beside)
        if verify:
            for block in range(len(file.blocks)):
                file.block(block)
    return provenance.identity, provenance.content, json.dumps(provenance.beside)


_ANY = files_like(PATHS)
#: Why an artefact is recomputed, in the order of the message.
REASONS = {
    "spec": "asked for with other settings",
    "code": "made by other code",
    "inputs": "made from other inputs",
    "damaged": "damaged",
    "place": "in the wrong place",
    "earlier": "by blanketflow 0.1.0, which did not say what they are made from",
}


@dataclass
class Comparison:
    """The differences between a folder and a plan.

    `again` has outdated artefacts with reasons of `REASONS`, without dependants; `missing` the missing files, each with
    the artefact whose job makes it; and `foreign` files of other programs in the places of results.
    """

    again: dict[Path, str] = field(default_factory=dict)
    missing: dict[Path, Path] = field(default_factory=dict)
    foreign: list[Path] = field(default_factory=list)
    n_standing: int = 0
    n_planned: int = 0

    @property
    def forced(self) -> set[Path]:
        """The artefacts whose jobs must run whatever Snakemake decides; none if no result exists.

        Snakemake makes a missing file only if it is a target or a job that reads it runs.
        """
        is_empty = sum(path == artefact for path, artefact in self.missing.items()) == self.n_planned
        return {*self.again, *(() if is_empty else self.missing.values())}

    def line(self) -> str:
        """Return one sentence on what is recomputed; empty if nothing is."""
        counts = Counter(self.again.values())
        if not counts:
            return ""
        told = ", ".join(f"{counts[reason]} {words}" for reason, words in REASONS.items() if counts[reason])
        if counts.total() == 1:
            return f"1 result does not match what is planned, and is made again with what depends on it: {told}."
        n = counts.total()
        return f"{n} results do not match what is planned, and are made again with what depends on them: {told}."

    def refuse(self) -> None:
        """Raise `DataError` if files of other programs are in the places of results."""
        if self.foreign:
            more = f", nor were {len(self.foreign) - 1} other files" if len(self.foreign) > 1 else ""
            raise DataError(
                f"{self.foreign[0]} was not written by blanketflow{more}, and would be overwritten. Move it away, or "
                "declare it: supplied: {selector: ..., stage: ...} in the config."
            )


def compare(planned: Iterable[Planned], manifest: Manifest) -> Comparison:
    """Compare existing artefacts with the planned ones, inputs first; `manifest` is extended by what is read."""
    found, contents = Comparison(), dict[Path, str]()
    for one in planned:
        found.n_planned += 1
        try:
            known = manifest.look(one.path)
        except ForeignArtefactError:
            if one.supplied:
                contents[one.path] = supplied_content(one.path)
            else:
                found.foreign.append(one.path)
            continue
        except EarlierArtefactError:
            found.again[one.path] = "earlier"
            continue
        except ArtefactError:
            found.again[one.path] = "damaged" if _is_here(one) else "place"
            continue
        if known is None:
            found.missing[one.path] = one.path
            continue
        if one.supplied:
            contents[one.path] = known.content
            continue
        if gone := [path for path in known.made_with(one.path) if not path.exists()]:
            found.missing |= dict.fromkeys(gone, one.path)
            continue
        own = [contents.get(path) for path in one.inputs]
        if None in own:
            continue
        if known.identity != identity_of(what_of(one.artefact, one.path), one.spec, one.code, [*one.digests, *own]):
            found.again[one.path] = _why(one)
            continue
        found.n_standing += 1
        contents[one.path] = known.content
        contents |= known.made_with(one.path)
    return found


def check(plan: Plan, output: str | Path, keep: bool, deep: bool = False) -> Comparison:
    """Compare a folder of results with its plan.

    `keep` stores what was read; `deep` reads all content again, also of files with unchanged size and time.
    """
    manifest = Manifest(Path(output)) if deep else Manifest.of(output)
    found = compare(_artefacts(plan, output), manifest)
    if keep:
        manifest.forget(found.again)
        manifest.save()
    return found


def check_supplies(plan: Plan, output: str | Path) -> None:
    """Raise `DataError` unless every stage that the config declares as supplied exists and is usable."""
    faults = Faults()
    for one in _artefacts(plan, output) if any(s.supplied for s in plan.config.selectors.values()) else ():
        if one.supplied:
            with faults.noted():
                _check_supply(plan, one)
    faults.refuse()


def _check_supply(plan: Plan, one: Planned) -> None:
    if not one.path.is_file():
        raise DataError(
            f"there is no {one.path}, which the config declares as supplied. Put the file there, or remove it from "
            "the key supplied."
        )
    ids = what_of(one.artefact, one.path)
    features = plan.facts[ids["dataset"]].feature_names
    prior = replace(plan.config.prior(ids["dataset"], ids["selector"]), tiers=())
    known = prior.of(features, f"config: selector {ids['selector']!r}", "")
    check_supplied(one.path, one.artefact, set(features), known.included, known.excluded)


def left_over(plan: Plan, output: str | Path) -> list[Path]:
    """Return existing artefacts outside the plan, such as those of removed selectors."""
    planned = {one.path for one in _artefacts(plan, output)}
    standing = (path for name in FOLDERS for path in (Path(output) / name).rglob("*.parquet"))
    return sorted(path for path in standing if path not in planned and _is_ours(path))


def note(plan: Plan, output: str | Path) -> None:
    """Store the metadata of the files of a run that has just ended."""
    manifest = Manifest.of(output)
    for one in _artefacts(plan, output):
        try:
            manifest.look(one.path, verify=False)
        except ArtefactError:
            manifest.forget([one.path])
    manifest.save()


def _artefacts(plan: Plan, output: str | Path) -> Artefacts:
    return Artefacts(JobFiles(plan, Path(output).joinpath))


def _is_here(one: Planned) -> bool:
    """Whether an unusable artefact claims this place or claims nothing."""
    if one.path.suffix == ".json":
        return True
    try:
        said = read_provenance(one.path).what
    except ArtefactError:
        return True
    return said == what_of(one.artefact, one.path)


def _is_ours(path: Path) -> bool:
    """Whether a file is in the place of a result and not from another program."""
    if not _ANY.fullmatch(path.as_posix()):
        return False
    try:
        read_provenance(path)
    except ForeignArtefactError:
        return False
    except ArtefactError:  # damaged
        pass
    return True


def _why(one: Planned) -> str:
    """Return the first difference between an artefact and its plan."""
    if one.path.suffix == ".json":
        return "spec" if "identity" in read_json(one.path) else "earlier"
    said = read_provenance(one.path)
    if said.what != what_of(one.artefact, one.path):
        return "place"
    if said.spec != one.spec:
        return "spec"
    return "code" if said.code != one.code else "inputs"


@dataclass(frozen=True)
class Planned:
    """An artefact of a plan.

    `inputs` are the artefacts that it is made from, in the order of its metadata, and `digests` the content digests of
    other inputs, which come first. `code` is the digest of the code, and `supplied` marks external artefacts.
    """

    artefact: str
    path: Path
    spec: str
    code: str
    inputs: Sequence[Path]
    digests: Sequence[str] = ()
    supplied: bool = False


@dataclass
class Artefacts:
    """The artefacts of a plan below a folder of results."""

    files: JobFiles
    _codes: dict[tuple[str, ...], str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Planned]:
        """Yield all artefacts except temporary ones, inputs first."""
        for dataset in self.files.plan.config.datasets:
            yield from self._data(dataset)
        for (dataset, test), numbers in self.files.plan.grains.folds_of_tests.items():
            for n_folds in sorted(numbers):
                yield from self._tests(dataset, test, n_folds)
        for dataset, selector in self.files.plan.pairs:
            yield from self._selection(dataset, selector)
        yield from self._tables()

    def _data(self, dataset: str) -> Iterator[Planned]:
        plan, at = self.files.plan, self.files.at
        table = at("table", dataset=dataset)
        spec = without_places(plan.table_spec(dataset))
        yield Planned("table", table, spec, self._code("table", dataset=dataset), (), plan.sources(dataset))
        parts = self.files.splits_of(dataset)
        numbers = plan.numbers_of_folds(dataset)
        for path, n_folds in zip(parts, numbers, strict=True):
            yield Planned("splits", path, plan.splits_spec([n_folds]), self._code("splits"), [table])
        spec, code = plan.splits_spec(numbers), self._code("gather_splits")
        yield Planned("all_splits", at("all_splits", dataset=dataset), spec, code, parts)

    def _tests(self, dataset: str, test: str, n_folds: int) -> Iterator[Planned]:
        plan = self.files.plan
        spec, code = plan.test_spec(dataset, test), self._code("ci_test", test=test)
        splits = self.files.at("splits", dataset=dataset, folds=str(n_folds))
        made_of = [self.files.at("table", dataset=dataset), splits]
        for split in plan.splits(dataset):
            for fold in fold_ids(n_folds):
                ids = {"dataset": dataset, "test": test, "split": split, "fold": fold}
                if shards(plan.config, dataset, test):
                    of_counts, agreement = self._code("counts", test=test), self.files.at("agreement", **ids)
                    yield Planned("agreement", agreement, spec, of_counts, made_of)
                    yield Planned("counts", self.files.at("counts", **ids), spec, of_counts, [*made_of, agreement])
                rows = self.files.rows(ids)
                yield Planned("ci_test", self.files.at("ci_test", **ids), spec, code, [rows, splits])

    def _selection(self, dataset: str, selector: str) -> Iterator[Planned]:
        plan, pair = self.files.plan, {"dataset": dataset, "selector": selector}
        asked, code = plan.method_spec(dataset, selector), self._code("grow_shrink", dataset=dataset, selector=selector)
        splits = self.files.splits(pair)
        made_of = [self.files.at("table", dataset=dataset), splits]
        supplied = plan.selector(selector).supplied
        for split in plan.splits(dataset):
            ids = {**pair, "split": split}
            marginals, grown, shrunk = (
                self.files.marginals(ids),
                self.files.of_folds("grow", ids),
                self.files.of_folds("shrink", ids),
            )
            for i, ((_, fold), grow, shrink) in enumerate(zip(self.files.folds(ids), grown, shrunk, strict=True)):
                tested = [self.files.rows({**ids, "fold": fold}), splits, *marginals[i : i + 1]]
                yield Planned("grow", grow, asked, code, tested, supplied=supplied == "grow")
                yield Planned("shrink", shrink, asked, code, [*tested, grow], supplied=supplied == "shrink")
            for artefact in ("blanket", "folds", "blankets"):
                yield Planned(
                    artefact,
                    self.files.at(artefact, **ids),
                    plan.aggregate_spec(dataset, selector),
                    self._code("aggregate"),
                    [*marginals, *grown, *shrunk],
                )
        if plan.selector(selector).confirm is not None:
            final = {**pair, "split": FINAL}
            spec, inputs = plan.confirm_spec(dataset, selector), [*made_of, self.files.at("blanket", **final)]
            code = self._code("confirm", dataset=dataset, selector=selector)
            yield Planned("confirm", self.files.at("confirm", **final), spec, code, inputs)
        for scores in plan.scores:
            inputs = [*made_of, *self.files.evaluated(scores, pair)]
            spec, code = plan.evaluate_spec(dataset), self._code("evaluate")
            yield Planned(scores, self.files.at(scores, **pair), spec, code, inputs)

    def _tables(self) -> Iterator[Planned]:
        plan, files = self.files.plan, self.files
        cards, by_fold, evaluations = files.cards(), files.of_pairs("folds"), files.scores("evaluate")
        optimistic = files.scores("evaluate_optimistic")
        inputs = [*cards, *files.of_pairs("blanket"), *by_fold, *evaluations, *optimistic, *files.confirmed()]
        tables = [files.at("result_table", table=table) for table in TABLES]
        for path in tables:
            yield Planned("result_table", path, plan.report_spec(), self._code("tables"), inputs)
        for table, further in plan.further.items():
            read = [files.at("result_table", table=table) for table in ("runtime", "truth", "statuses")]
            yield Planned(
                "result_table",
                files.at("result_table", table=table),
                plan.further_spec(table),
                self._code("further_table", table=table),
                [*evaluations, *optimistic, *read],
                [digest_of_file(Path(path)) for path in further.files()],
            )
        inputs = [*cards, *by_fold, *files.final_shrink(), *tables]
        yield Planned("provenance", files.at("provenance"), plan.report_spec(), self._code("report"), inputs)

    def _code(self, stage: str, **ids: str) -> str:
        key = (stage, *ids.values())
        if key not in self._codes:
            self._codes[key] = self.files.plan.code(stage, **ids)
        return self._codes[key]
