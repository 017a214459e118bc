"""From a data set's spec to its table: finds out what the source is and reads it whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..core.errors import ConfigError, DataError, did_you_mean
from ..core.table import Column
from .arrays import ZIP_MAGIC, read_npz
from .arrow import PARQUET_MAGIC, read_parquet
from .bundled import TARGET, read_bundled
from .quality import with_findings
from .raw import RawTable, assemble, setting
from .remote import is_remote
from .simulate import Network, find_network, known_network, read_network, simulate
from .text import read_text


class Source(NamedTuple):
    """What is to be read: ``sklearn`` or ``simulate`` with an id, or a path.

    With a path, the kind is ``network`` for the file of a network to simulate from, else ``text``, ``npz`` or
    ``parquet``.
    """

    kind: str
    identifier: str
    path: Path

    @property
    def network(self) -> str | Path | None:
        """The id or file of the network to simulate from; None for a source of another kind."""
        return {"simulate": self.identifier, "network": self.path}.get(self.kind)


def locate(name: str, spec: Mapping[str, Any]) -> Source:
    """Find out what a spec points to; a file's format is told by its first bytes.

    Raises
    ------
    ConfigError
        If the spec has neither or both of `source` and `path`, the source is unknown, or a network named in it is not
        installed.
    DataError
        If the file does not exist, cannot be read or is empty.
    """
    if bool(spec.get("source")) == bool(spec.get("path")):
        raise ConfigError(f"{name}: give either source (such as 'sklearn:wine') or path (a file), and not both.")
    if spec.get("source"):
        scheme, _, identifier = str(spec["source"]).partition(":")
        if scheme not in ("sklearn", "simulate", "network"):
            raise ConfigError(
                f"{name}: source {spec['source']!r} is unknown. Write 'sklearn:<data set>', 'simulate:<network>' or "
                "'network:<name or file>', or give a table's file by path."
            )
        return Source(scheme, identifier, find_network(identifier, name) if scheme == "network" else Path())
    if is_remote(spec["path"]):
        raise DataError(
            f"{name}: {spec['path']} is in object storage, which only the workflow reads. Run it by snakemake, or "
            "download the file."
        )
    path = Path(spec["path"])
    if not path.is_file():
        beside = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        hint = f" {did_you_mean(path.name, beside)}" if beside else ""
        raise DataError(
            f"{name}: there is no file {path}. Check the key path; a file that a rule makes must be made first "
            f"(docs/module.md).{hint}"
        )
    try:
        with open(path, "rb") as handle:
            magic = handle.read(4)
    except OSError as error:
        raise DataError(f"{name}: {path} cannot be read ({error.strerror}). Check its permissions.") from error
    if not magic:
        raise DataError(f"{name}: {path} is empty.")
    return Source({ZIP_MAGIC: "npz", PARQUET_MAGIC: "parquet"}.get(magic, "text"), "", path)


def source_files(name: str, spec: Mapping[str, Any]) -> list[str]:
    """Return the files that a data set is read from; none for what comes with packages that blanketflow depends on.

    The table comes first, then the target's file; those in object storage by their URLs, without a look at them.
    Raises as `locate` does.
    """
    if is_remote(spec.get("path") or ""):
        return [spec["path"], *([spec["target_path"]] if spec.get("target_path") else [])]
    source = locate(name, spec)
    if source.kind in ("sklearn", "simulate"):
        return []
    companion = str(spec.get("target_path") or source.path.with_suffix(".y.csv"))
    exists = is_remote(companion) or Path(companion).is_file()
    return [str(source.path), *([companion] if source.kind == "npz" and exists else [])]


def read_source(name: str, spec: Mapping[str, Any], seed: int) -> RawTable:
    """Read a data set whole.

    Parameters
    ----------
    name : str
        The data set, for messages.
    spec : mapping
        `source` or `path`, and optionally `target`, `task`, `drop`, `categorical`, `groups`, `missing`,
        `target_path`, `rows`.
    seed : int
        Seed of simulated sources; files do not depend on it.

    Returns
    -------
    RawTable
        Features, target, groups, and what was noticed about them.

    Raises
    ------
    ConfigError
        If a key or its value is wrong.
    DataError
        If the source cannot be read or used.

    Examples
    --------
    >>> raw = read_source("demo", {"source": "simulate:clinic", "rows": 200}, seed=1)
    >>> raw.task.name, raw.features.n_rows, sorted(raw.truth["parents"])
    ('classification', 200, ['infection', 'smoking'])
    """
    source = locate(name, spec)
    truth = None
    if source.network is not None:
        table, target, truth = simulate(source.network, rows_asked(name, spec), seed, spec.get("target"), name)
        columns = list(table.columns)
    else:
        columns = _read_columns(name, source, spec)
        target = target_name(name, source, spec, columns)
    return with_findings(assemble(name, spec, columns, target, truth))


def read_source_network(name: str, source: str) -> Network:
    """Return the network behind a simulated source such as ``simulate:clinic`` or ``network:alarm``.

    Raises
    ------
    ConfigError
        If the source is of another kind, or unknown.
    """
    found = locate(name, {"source": source})
    if found.kind == "simulate":
        return known_network(found.identifier, name)
    if found.kind == "network":
        return read_network(found.path, name)
    raise ConfigError(f"{name}: {source!r} is no network. Write 'simulate:<network>' or 'network:<name or file>'.")


def _read_columns(name: str, source: Source, spec: Mapping[str, Any]) -> Sequence[Column]:
    if source.kind == "sklearn":
        return read_bundled(name, source.identifier)
    if source.kind == "npz":
        return read_npz(name, source.path, spec)
    if source.kind == "parquet":
        return read_parquet(name, source.path)
    return read_text(name, source.path, setting(spec, "categorical"))


def target_name(name: str, source: Source, spec: Mapping[str, Any], columns: Sequence[Column]) -> str:
    """Return the target's name.

    Raises
    ------
    ConfigError
        If a file's spec does not name it.
    """
    if spec.get("target"):
        return spec["target"]
    if source.kind in ("sklearn", "npz"):
        return TARGET
    raise ConfigError(
        f"{name}: set target to the column to predict. The last column is {columns[-1].name!r}: "
        f"if that is it, write target: {columns[-1].name}"
    )


def rows_asked(name: str, spec: Mapping[str, Any]) -> int:
    """Return how many rows to simulate, or raise `ConfigError`."""
    rows = setting(spec, "rows")
    if not isinstance(rows, int) or isinstance(rows, bool) or rows < 1:
        raise ConfigError(f"{name}: rows is {rows!r}, but must be a whole number of at least 1.")
    return rows
