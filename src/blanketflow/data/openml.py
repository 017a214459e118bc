"""Data sets of OpenML by number, through its REST interface, the cache, and the ARFF file whose MD5 it states."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.errors import ConfigError, DataError
from .download import download, downloaded_digest
from .formats.arff import read_arff
from .formats.loaded import Loaded, TableFile
from .missing_markers import MissingMarkers

#: The environment variable that names another server, such as a mirror, and the server without it.
VARIABLE, SERVER = "BLANKETFLOW_OPENML", "https://www.openml.org"


def openml_file(name: str, identifier: str) -> Path:
    """Return the cached copy of a data set's ARFF file, downloaded if it is not there.

    Raises `ConfigError` if the identifier is no number; `DataError` if the data set does not exist or cannot be
    fetched.
    """
    said = _description(name, identifier)
    return download(name, _data_url(said), md5=said.get("md5_checksum") or None)


def read_openml(name: str, identifier: str, markers: MissingMarkers) -> Loaded:
    """Return the columns of a data set, with OpenML's target, and without the columns that it says to ignore.

    Raises as `openml_file` and `read_arff` do.
    """
    said = _description(name, identifier)
    loaded = read_arff(TableFile(name, openml_file(name, identifier), markers=markers))
    targets = _names(said.get("default_target_attribute"))
    aside = {*_names(said.get("row_id_attribute")), *_names(said.get("ignore_attribute"))}
    digest = downloaded_digest(_data_url(said))
    note = f"OpenML {identifier}, {said.get('name')} version {said.get('version')}, SHA-256 {digest}"
    return loaded._replace(
        target=targets[0] if len(targets) == 1 else None,
        aside=frozenset(aside - {*targets}),
        notes=(note,),
        markers=markers.found,
    )


def _description(name: str, identifier: str) -> Mapping[str, Any]:
    if not identifier.isdecimal():
        raise ConfigError(f"{name}: source 'openml:{identifier}' needs the number of a data set, such as openml:61.")
    url = f"{_server()}/api/v1/json/data/{identifier}"
    try:
        path = download(name, url)
    except DataError as error:
        if " 412 " in str(error):  # OpenML's answer for a number that it does not know
            raise DataError(f"{name}: OpenML has no data set {identifier}. Look for it on {_server()}.") from error
        raise
    try:
        said = json.loads(path.read_text(encoding="utf-8"))["data_set_description"]
        return {**said, "file_id": str(said["file_id"])}
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{name}: {path} is not a description of an OpenML data set. Delete it and try again."
        ) from error


def _data_url(said: Mapping[str, Any]) -> str:
    return f"{_server()}/data/v1/download/{said['file_id']}"


def _server() -> str:
    return (os.environ.get(VARIABLE) or SERVER).rstrip("/")


def _names(said: Any) -> list[str]:
    """Return the attributes in a list of OpenML, which may be a text with commas."""
    texts = said if isinstance(said, list) else str(said or "").split(",")
    return [text.strip() for text in texts if text.strip()]
