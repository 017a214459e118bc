"""Strict reading of a configuration file: YAML that other readers ignore or misread is an error."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ..core.errors import ConfigError, Faults, closest, shown
from ..core.printable import printable
from ..core.registry import look_in

#: Largest size of a file in bytes, number of values with aliases expanded, and nesting depth.
MOST_BYTES, MOST_VALUES, MOST_LEVELS = 10_000_000, 1_000_000, 100
_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "seq", "map")}
_TAGS |= {"tag:yaml.org,2002:merge", "tag:yaml.org,2002:timestamp"}
#: Little-known numbers of YAML 1.1: 012 is 10, 1:30 is 90.
_OCTAL = re.compile(r"[-+]?0[0-7_]+")
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?")


def check_config_files(paths: Iterable[str | Path]) -> None:
    """Raise `ConfigError` as `read_config_file` does."""
    faults = Faults()
    for path in paths:
        with faults.noted():
            read_config_file(path)
    faults.refuse()


def read_config_file(path: str | Path) -> dict[str, Any]:
    """Return the content of a JSON or YAML configuration, and add its folder to the module search path.

    Raises `ConfigError` if it cannot be read as UTF-8, is not a mapping, has a duplicate key, tags, several documents
    or excessive aliases, or has numbers that YAML reads differently from how they look.
    """
    name = _from_here(Path(path))
    text = _text(Path(path), name)
    try:
        found = json.loads(text, object_pairs_hook=lambda pairs: _mapping(name, pairs)) if text[:1] == "{" else None
    except RecursionError:
        raise ConfigError(_too_deep(name)) from None
    except ConfigError:
        raise
    except ValueError:  # YAML in braces
        found = None
    found = _read_yaml(text, name) if found is None else found
    if found is None:
        raise ConfigError(f"{name} is empty. A config names datasets and selectors; blanketflow init writes one.")
    if not isinstance(found, dict):
        raise ConfigError(f"{name} must hold 'key: value' at its top, but holds {shown(found)}.")
    if "__use_yte__" in found:
        raise ConfigError(f"{name}: __use_yte__ would run code out of the file. Remove it and write values.")
    look_in(Path(path).absolute().parent)
    return found


def _from_here(path: Path) -> str:
    """Return a path as a user writes it."""
    here = Path.cwd()
    return printable(path.relative_to(here) if path.is_relative_to(here) and path != here else path)


def _text(path: Path, name: str) -> str:
    if path.is_dir():
        raise ConfigError(f"{name} is a folder. Name a config in it, such as {name.rstrip('/')}/config.yaml.")
    if not path.exists():
        near = closest(path.name, [other.name for other in path.parent.glob("*.yaml")])
        raise ConfigError(f"there is no config {name}. {near or 'Write one by blanketflow init.'}")
    if not path.is_file():
        raise ConfigError(f"{name} is no regular file. Write the config to one.")
    if path.stat().st_size > MOST_BYTES:
        raise ConfigError(f"{name} has more than {MOST_BYTES // 10**6} MB. Is it a table? A config is smaller.")
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{name} is not UTF-8 text ({error.reason}). Save it as UTF-8 and try again.") from error
    except OSError as error:
        raise ConfigError(f"{name} cannot be read ({error.strerror}). Check its permissions.") from error


def _mapping(name: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a mapping of JSON."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _twice(name, next(key for key in keys if keys.count(key) > 1))
    return found


def _read_yaml(text: str, name: str) -> Any:
    import yaml

    fast = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # without libyaml only the slow one is there
    try:
        _check_depth(yaml.parse(text, fast), name)
        loader = fast(text)
        node = loader.get_single_node()
        if node is None:
            return None
        checked = _Checked(name, loader.construct_object)
        checked.size(node)
        checked.faults.refuse()
        return loader.construct_document(node)
    except yaml.YAMLError as error:
        raise ConfigError(_said(text, name, error)) from error


def _check_depth(events: Iterable[Any], name: str) -> None:
    """Raise `ConfigError` for nesting so deep that libyaml would crash the process."""
    depth = 0
    for event in events:
        kind = type(event).__name__
        depth += kind.endswith("StartEvent") - kind.endswith("EndEvent")
        if depth > MOST_LEVELS:
            raise ConfigError(_too_deep(name))


def _said(text: str, name: str, error: Exception) -> str:
    """Return a YAML error in words that do not depend on the reader."""
    import yaml

    try:
        yaml.SafeLoader(text).get_single_node()
    except yaml.YAMLError as slow:
        error = slow
    if isinstance(error, yaml.reader.ReaderError):
        return f"{name} holds the character {shown(chr(error.character))}, which YAML does not allow. Remove it."
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return f"{name} is no YAML ({printable(' '.join(str(error).split()))}). Mend that."
    said = printable(str(getattr(error, "problem", None) or error))
    if "'\\t'" in said:
        said = "YAML is indented by blanks, not by tabs"
    elif "another document" in said or "expected a single document" in str(getattr(error, "context", "")):
        said = "a second document begins (---); a config is one"
    return f"{name}, line {mark.line + 1}, column {mark.column + 1}: {said}. Mend that line, or the one before it."


class _Checked:
    """A walk over the nodes of a YAML document."""

    def __init__(self, name: str, construct: Callable[[Any], Any]) -> None:
        self._name, self._construct, self.faults = name, construct, Faults()
        self._sizes: dict[int, int | None] = {}  # None while a node is being walked over

    def size(self, node: Any) -> int:
        """Return the number of values of a node with aliases expanded; each node is visited once."""
        known = self._sizes.get(id(node), 0)
        if known is None:
            raise ConfigError(f"{self._at(node)}: an anchor that holds itself. Remove the alias in it.")
        if known:
            return known
        self._sizes[id(node)] = None
        if node.tag not in _TAGS:
            tag = printable(node.tag.replace("tag:yaml.org,2002:", "!!"))
            self.faults.note(ConfigError(f"{self._at(node)}: a config holds data only. Remove the tag {tag}."))
            self._sizes[id(node)] = 1
            return 1
        total = 1 + sum(map(self.size, self._parts(node)))
        if total > MOST_VALUES:
            raise ConfigError(f"{self._name}: its aliases repeat more than {MOST_VALUES:,} values. Use fewer.")
        self._sizes[id(node)] = total
        return total

    def _parts(self, node: Any) -> list[Any]:
        if isinstance(node.value, str):
            with self.faults.noted():
                self._check_scalar(node)
            return []
        if node.id == "sequence":
            return list(node.value)
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key.value, str):
                why = "a key must be a text. Put it in quotes if it has brackets."
                self.faults.note(ConfigError(f"{self._at(key)}: {why}"))
                continue
            if key.value in seen:
                self.faults.note(_twice(self._at(key), key.value))
            seen.add(key.value)
        return [part for pair in node.value for part in pair]

    def _check_scalar(self, node: Any) -> None:
        value = node.value
        try:
            if not node.tag.endswith(":merge"):
                self._construct(node)
        except ValueError:
            raise ConfigError(
                f"{self._at(node)}: there is no such number or date as {shown(value)}. Mend it."
            ) from None
        if node.style in (None, "") and node.tag.endswith((":int", ":float")):
            how = "base 8" if _OCTAL.fullmatch(value) else "base 60" if _BASE_60.fullmatch(value) else None
            if how:
                raise ConfigError(
                    f"{self._at(node)}: YAML reads {value} as a number of {how}. Write it in base 10, or in quotes "
                    "if it is a name."
                )

    def _at(self, node: Any) -> str:
        return f"{self._name}, line {node.start_mark.line + 1}"


def _twice(where: str, key: str) -> ConfigError:
    return ConfigError(f"{where}: the key {shown(key)} is there twice, and only the last would count. Remove one.")


def _too_deep(name: str) -> str:
    return f"{name} is nested too deep for a config. Mend its brackets or its indentation."
