"""Network files: the user's own, and the ones that the package pgmpy brings."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from ...core.errors import BlanketflowError, ConfigError, DataError, did_you_mean
from ..input_file import existing_file, opened_text
from .bif import parse_bif
from .network import Network
from .network_json import parse_network_json

#: Where pgmpy keeps its networks; its files are read, the package is not imported.
PGMPY_FOLDER = ("utils", "example_models")

_BARE_NAME = re.compile(r"[\w-]*").fullmatch
_SUFFIX = re.compile(r"\.(bif|json)(\.gz)?$")


def find_network(name: str, where: str = "network") -> Path:
    """Return the file of a network: of a path, or of a bare name such as ``alarm`` among those that pgmpy brings.

    What holds a dot or a slash is a path. Raises `ConfigError` if pgmpy is not installed or has no such network, with
    how to get it; `DataError` if there is no such file.
    """
    if not _BARE_NAME(name):
        return existing_file(where, Path(name), "source")
    files = pgmpy_networks()
    if not files:
        raise ConfigError(
            f"{where}: the network {name!r} is looked for among the files of the package pgmpy, which is not "
            'installed or holds none. Run pip install "blanketflow[networks]", or give a file: '
            f"network:path/to/{name}.bif.gz"
        )
    if name not in files:
        raise ConfigError(
            f"{where}: there is no network {name!r} among those of the package pgmpy. {did_you_mean(name, files)} "
            f"Or give a file: network:path/to/{name}.bif.gz"
        )
    return files[name]


def pgmpy_networks() -> dict[str, Path]:
    """Return the network files of the installed pgmpy by name; none if it is not installed."""
    package = importlib.util.find_spec("pgmpy")
    folders = (package.submodule_search_locations or []) if package else []
    files = [path for folder in folders for path in sorted(Path(folder, *PGMPY_FOLDER).glob("*"))]
    return {_SUFFIX.sub("", path.name): path for path in files if _SUFFIX.search(path.name)}


def read_network(name: str | Path, where: str = "network") -> Network:
    """Read a network from a file, BIF or JSON by its content, gzipped or not; its name is the file's.

    `name` is as for `find_network`, or a `Path`. Raises as `find_network` does, and `DataError` if the file cannot be
    read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "coin.bif")
    ...     table = "probability ( c ) { table 0.5, 0.5; }"
    ...     _ = path.write_text("network n { } variable c { type discrete [2] { a, b }; }" + table)
    ...     coin = read_network(path)
    >>> coin.name, list(coin.nodes)
    ('coin', ['c'])
    """
    path = name if isinstance(name, Path) else find_network(name, where)
    with opened_text(where, path) as file:
        text = file.read()
    if not text.strip():
        raise DataError(f"{where}: {path} is empty.")
    parse = parse_network_json if text.lstrip().startswith(("{", "[")) else parse_bif
    try:
        return parse(_SUFFIX.sub("", path.name), text, path)
    except BlanketflowError as error:
        place = "" if str(error).startswith(str(path)) else f"{path}: "
        raise DataError(f"{where}: {place}{error}") from error
