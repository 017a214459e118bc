"""From a data set's spec to its table: finds out what the source is and reads it whole."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ..core.column_checks import number_texts
from ..core.errors import ConfigError, DataError, MemberNeeded
from ..core.formats import find_format
from ..core.printable import redacted
from ..core.table import Column
from .bundled import TARGET, read_bundled
from .card import with_findings
from .cell_meanings import with_meanings
from .column_roles import RawTable, assemble, named_columns, setting, target_parts
from .columns import names_of, only
from .dialect import KEYS, FoundOut, check_dialect
from .download import downloaded_digest, is_remote, is_web, with_downloads
from .features_in_rows import IN_ROWS, lies_on_its_side, turned
from .formats.loaded import Loaded, read_file
from .formats.tell import companions, possible_companions, tell_format
from .input_file import existing_file
from .labelled_samples import check_labels, columns_of_ids, joined, labels_spec, samples_named
from .missing_markers import MissingMarkers
from .openml import openml_file, read_openml
from .packed import UserFile
from .secrets import check_no_secret
from .simulate import Network, find_network, known_network, read_network, simulate
from .sql import database_file, is_database_url, queried_file


class Source(NamedTuple):
    """What to read: ``sklearn`` or ``simulate`` with an id, ``openml`` with an id and a file, or a path.

    With a path, `kind` is the format, or ``network`` for the file of a network to simulate from.
    """

    kind: str
    identifier: str
    path: Path
    #: The table's file as the user has it, if the path is the user's.
    file: UserFile | None = None

    @property
    def user_file(self) -> UserFile:
        """The file as the user has it, which `path` may be a copy of."""
        return self.file or UserFile.of(self.path)

    @property
    def is_file(self) -> bool:
        """Whether it is a table's file, which the reader of its format reads."""
        return self.kind not in ("sklearn", "openml", "simulate", "network")

    @property
    def network(self) -> str | Path | None:
        """The id or file of the network to simulate from; None for a source of another kind."""
        return {"simulate": self.identifier, "network": self.path}.get(self.kind)


def locate(name: str, spec: Mapping[str, Any]) -> Source:
    """Return what a spec refers to; remote files are downloaded into the cache.

    Raises `ConfigError` unless the spec has either `source` or `path`, the source is known and a network that it names
    is installed; `DataError` if the file does not exist, is empty, or cannot be read or fetched.
    """
    if bool(spec.get("source")) == bool(spec.get("path")):
        raise ConfigError(f"{name}: give either source (such as 'sklearn:wine') or path (a file), and not both.")
    for key in ("source", "path"):
        check_no_secret(name, str(spec.get(key) or ""))
    spec = with_downloads(name, spec)
    if not spec.get("source"):
        return _located_file(name, spec)
    source = str(spec["source"])
    scheme, _, identifier = source.partition(":")
    if scheme in ("sklearn", "simulate", "network"):
        return Source(scheme, identifier, find_network(identifier, name) if scheme == "network" else Path())
    if scheme == "openml":
        return Source(scheme, identifier, openml_file(name, identifier))
    if found := database_file(source):
        return Source(found[0], "", existing_file(name, found[1], "source"))
    if is_database_url(source):
        return Source("parquet", "", queried_file(name, source, spec))
    raise ConfigError(
        f"{name}: source {redacted(source)!r} is unknown. Write 'sklearn:<data set>', 'simulate:<network>', "
        "'network:<name or file>', 'openml:<number>', 'duckdb:<file>' or the URL of a database, or give a table's file "
        "by path."
    )


def _located_file(name: str, spec: Mapping[str, Any]) -> Source:
    if is_remote(spec["path"]):
        raise DataError(
            f"{name}: {redacted(spec['path'])} is in object storage, which only the workflow reads. Run it by "
            "snakemake, or download the file."
        )
    stored = existing_file(name, Path(spec["path"]), "path", folders=True)
    file = UserFile.of(stored)
    with file.named():
        if not stored.is_dir():
            file.unpack(name, spec.get("member"), lambda path: possible_companions(path, spec))
        kind = tell_format(name, file.path, file.beside, spec)
        if find_format(kind).is_unpacked and not stored.is_dir():
            file.unpack(name, is_text=False)
    own = find_format(kind).keys
    if spec.get("member") is not None and not file.is_member and "member" not in own:
        raise ConfigError(
            f"{name}: member names one table of a file with several, and {stored} is of the format {kind}, which holds "
            "one: remove it."
        )
    if spec.get("query") and "query" not in own:
        raise ConfigError(f"{name}: {stored} is not a database: remove query.")
    if spec.get("sheet") is not None and "sheet" not in own:
        raise ConfigError(f"{name}: sheet is for workbooks, and {stored} is not one: remove it.")
    if asked := [key for key in KEYS if spec.get(key) is not None and key not in own]:
        raise ConfigError(
            f"{name}: {asked[0]} is for tables of text such as CSV, and {stored} is of the format {kind}: remove it."
        )
    check_dialect(name, spec)
    if spec.get("feature_names") and spec.get("orient") != IN_ROWS:
        raise ConfigError(f"{name}: feature_names is for features in rows. Set orient: {IN_ROWS}, too, or remove it.")
    check_labels(name, spec)
    if spec.get("target_path") and "target_path" not in own:
        raise ConfigError(f"{name}: target_path is for .npz tables, and {stored} is not one: remove it.")
    return Source(kind, "", file.path, file)


def source_files(name: str, spec: Mapping[str, Any]) -> list[str]:
    """Return the files that a data set is read from: the table, then its companions; none for data of a package.

    Files in object storage are given by their URLs, downloaded files by their cached copies. Raises as `locate` does.
    """
    labels = labels_spec(spec)
    of_labels = source_files(f"{name}: labels", labels) if labels else []
    if is_remote(spec.get("path") or ""):
        return [spec["path"], *([spec["target_path"]] if spec.get("target_path") else []), *of_labels]
    source = locate(name, spec)
    if source.kind in ("sklearn", "simulate"):
        return []
    target = spec.get("target_path")
    if source.kind == "npz" and is_remote(target or ""):
        return [str(source.path), target]
    file = source.user_file
    beside = companions(source.kind, file.beside, with_downloads(name, spec)) if source.is_file else []
    more = [*(str(one) for one in beside if str(one) not in file.called), *of_labels]  # others are in the archive
    return more if source.path.is_dir() else [str(file.stored), *more]


def with_files(spec: Mapping[str, Any], files: Sequence[Path | str]) -> dict[str, Any]:
    """Return a spec with files of `source_files` in place of its URLs, which may be redacted.

    >>> found = with_files({"source": "postgresql://***@host/db", "query": "SELECT 1"}, ["/cache/0f.parquet"])
    >>> found["path"], found["source"], found["query"]
    ('/cache/0f.parquet', None, None)
    """
    spec = dict(spec)
    source, path = str(spec.get("source") or ""), str(spec.get("path") or "")
    if is_web(source):
        spec |= {"path": str(files[0]), "source": None}
    elif is_database_url(source) and not database_file(source):
        spec |= {"path": str(files[0]), "source": None, "query": None, "format": "parquet"}
    elif is_web(path) or is_remote(path):
        spec["path"] = str(files[0])
    if "://" in (spec.get("target_path") or ""):
        spec["target_path"] = str(files[1])
    if spec.get("labels") and "://" in spec["labels"]["path"]:
        spec["labels"] = {**spec["labels"], "path": str(files[-1])}
    return spec


def read_source(
    name: str, spec: Mapping[str, Any], seed: int, files: Sequence[Path | str] = (), whole: bool = True
) -> RawTable:
    """Read a data set: features, target, groups, and notes about them.

    `files` replace its URLs, as in `with_files`. Only simulated sources use the seed. Without `whole`, it is one
    place's part of a data set, as in `assemble`. Raises `ConfigError` if a key is wrong, `DataError` if the source
    cannot be read or used.

    >>> raw = read_source("demo", {"source": "simulate:clinic", "rows": 200}, seed=1)
    >>> raw.task.name, raw.features.n_rows, sorted(raw.truth["parents"])
    ('classification', 200, ['infection', 'smoking'])
    """
    asked, spec = spec, with_files(spec, files) if files else spec
    source = locate(name, spec)
    if source.network is not None:
        table, target, truth = simulate(source.network, rows_asked(name, spec), seed, spec.get("target"), name)
        return with_findings(assemble(name, spec, list(table.columns), target, truth))
    _check_digest(name, source, spec)
    loaded = load(name, source, with_files_here(name, source, spec))
    raw = table_of(name, spec, loaded, whole)
    raw.notes.extend([*loaded.notes, *_downloads(asked, spec if files else {})])
    return raw


def table_of(name: str, spec: Mapping[str, Any], loaded: Loaded, whole: bool = True) -> RawTable:
    """Return the table of what was read; raises as `assemble` does."""
    columns = without_aside(loaded, spec)
    with with_proposals(loaded.found):
        target = target_name(name, spec, columns, loaded.target)
        raw = assemble(name, spec, columns, target, whole=whole, markers=loaded.markers)
    raw = noted(raw, loaded, spec)
    labels = {*setting(spec, "categorical"), *setting(spec, "drop"), *raw.suspected.cells}
    return with_findings(raw, number_texts(columns, labels))


def noted(raw: RawTable, loaded: Loaded, spec: Mapping[str, Any]) -> RawTable:
    """Return a table with what its reader suspected and detected."""
    of_target = dict.fromkeys([spec.get("target") or raw.target.name, *target_parts(spec).values()])
    names = [*raw.features.names, *of_target] if loaded.suspected.cells else []
    return replace(raw, suspected=loaded.suspected.of_columns(names), found=tuple(loaded.found))


def read_columns(name: str, spec: Mapping[str, Any]) -> Loaded:
    """Return all columns of a source as they are read, and its own target, if any; raises as `read_source` does."""
    source = locate(name, spec)
    if source.network is not None:
        table, target, _ = simulate(source.network, rows_asked(name, spec), 0, spec.get("target"), name)
        return Loaded(list(table.columns), target)
    _check_digest(name, source, spec)
    return load(name, source, with_files_here(name, source, spec))


def with_files_here(name: str, source: Source, spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a spec with copies of what it names by URL, and the target file of arrays where it does not name it."""
    spec = with_downloads(name, spec)
    if source.kind == "npz" and (beside := companions(source.kind, source.user_file.beside, spec)):
        return {**spec, "target_path": str(beside[0])}
    return spec


def read_source_network(name: str, source: str) -> Network:
    """Return the network of a source such as ``simulate:clinic`` or ``network:alarm``; `ConfigError` if it has none."""
    found = locate(name, {"source": source})
    if found.kind == "simulate":
        return known_network(found.identifier, name)
    if found.kind == "network":
        return read_network(found.path, name)
    raise ConfigError(f"{name}: {source!r} is not a network. Write 'simulate:<network>' or 'network:<name or file>'.")


def load(name: str, source: Source, spec: Mapping[str, Any]) -> Loaded:
    """Return all columns of a source, by the reader of its kind; raises as `read_source` does."""
    if source.kind == "sklearn":
        loaded = Loaded(read_bundled(name, source.identifier), TARGET)
    elif source.kind == "openml":
        loaded = read_openml(name, source.identifier, MissingMarkers.of(spec))
    else:
        loaded = _read_table(name, source, _read_spec(spec))
        loaded = prepared(name, loaded, spec, lambda: read_columns(f"{name}: labels", labels_spec(spec) or {}))
    return with_meanings(name, loaded, spec, source.kind)


def _read_table(name: str, source: Source, spec: Mapping[str, Any]) -> Loaded:
    file, asked = source.user_file, spec.get("member")
    try:
        with file.named():
            return read_file(
                name, source.kind, source.path, {**spec, "member": None} if file.is_member else spec, file.beside
            )
    except MemberNeeded as error:
        if not file.is_member:
            raise
        raise ConfigError(
            f"{name}: {asked!r} in {file.stored} holds several tables, and member names one thing only. Unpack the "
            "archive, set path to that file, and member to the table."
        ) from error


def _read_spec(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the spec with which a table is read that is then turned or joined: ids are texts."""
    ids = [spec["feature_names"]] if spec.get("feature_names") else []
    ids += [columns_of_ids(spec["labels"])[0]] if spec.get("labels") and spec.get("orient") != IN_ROWS else []
    if spec.get("orient") == IN_ROWS:  # what other keys name are features
        return {**spec, "drop": [], "categorical": ids, "target": None}
    return {**spec, "categorical": [*setting(spec, "categorical"), *ids]} if ids else spec


def prepared(name: str, loaded: Loaded, spec: Mapping[str, Any], read: Callable[[], Loaded] | None = None) -> Loaded:
    """Return a table turned and joined with its labels, as its spec says; `read` reads these."""
    labels = read() if read and spec.get("labels") is not None else None
    if spec.get("orient") == IN_ROWS:
        by, ids = samples_named(name, labels, spec["labels"]) if labels else ("sample", None)
        loaded = turned(name, loaded, spec, by, ids)
    elif spec.get("orient") is None and (found := lies_on_its_side(loaded)):
        loaded = loaded._replace(found=[*loaded.found, found])
    return loaded if labels is None else joined(name, loaded, labels, spec["labels"])


@contextmanager
def with_proposals(found: Sequence[FoundOut]) -> Iterator[None]:
    """Add what was proposed on reading a table to an error of what is made of it: a column may be missing for it."""
    try:
        yield
    except DataError as error:
        proposed = [f"{one.what[0].upper()}{one.what[1:]}. {one.proposed}" for one in found if one.proposed]
        if not proposed:
            raise
        raise DataError(" ".join([str(error), *proposed])) from error


def without_aside(loaded: Loaded, spec: Mapping[str, Any]) -> Sequence[Column]:
    """Return all columns except those that the source leaves out and the spec does not name."""
    left_out = loaded.aside - named_columns(spec) - {loaded.target}
    return only(loaded.columns, set(names_of(loaded.columns)) - left_out) if left_out else loaded.columns


def target_name(name: str, spec: Mapping[str, Any], columns: Sequence[Column], own: str | None) -> str:
    """Return the target's name: the spec's, else the source's own; `ConfigError` if neither names it."""
    if spec.get("target") or own:
        return spec.get("target") or own
    raise ConfigError(
        f"{name}: set target to the column to predict. The last column is {columns[-1].name!r}: "
        f"if that is it, write target: {columns[-1].name}"
    )


def _check_digest(name: str, source: Source, spec: Mapping[str, Any]) -> None:
    """Raise `DataError` if the file does not have the SHA-256 that the spec states; `ConfigError` for no file."""
    wanted = spec.get("sha256")
    if not wanted:
        return
    if not source.path.name:
        raise ConfigError(f"{name}: sha256 is of a file, and this source is not a file. Remove it.")
    if source.path.is_dir():
        raise ConfigError(f"{name}: sha256 is of a file, and {source.path} is a folder. Remove it.")
    path = source.user_file.stored
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != wanted.lower():
        raise DataError(f"{name}: {path} has the SHA-256 {found}, but sha256 states {wanted}. It is another file.")


def _downloads(spec: Mapping[str, Any], copies: Mapping[str, Any]) -> list[str]:
    """Return a note on each file that a spec names by URL, given the spec that names the copies, if there is one."""
    notes = []
    for key, copy in (("source", "path"), ("path", "path"), ("target_path", "target_path")):
        if is_web(url := spec.get(key)):
            digest = downloaded_digest(url, Path(copies[copy]) if copies else None)
            notes.append(f"downloaded from {redacted(url)}, SHA-256 {digest}")
    return notes + (_downloads(spec["labels"], copies.get("labels") or {}) if spec.get("labels") else [])


def rows_asked(name: str, spec: Mapping[str, Any]) -> int:
    """Return how many rows to simulate, or raise `ConfigError`."""
    rows = setting(spec, "rows")
    if not isinstance(rows, int) or isinstance(rows, bool) or rows < 1:
        raise ConfigError(f"{name}: rows is {rows!r}, but must be a whole number of at least 1.")
    return rows
