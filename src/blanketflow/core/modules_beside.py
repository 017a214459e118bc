"""Modules that a config names as plug-ins and that lie beside it, which are found without being installed.

Only a module that is named is imported, and only if none of its name is installed: a ``numpy.py`` in that folder never
runs. Folders and names are handed on by environment variables: a job knows the names but not the config, and a process
of joblib reads objects of these modules before it runs anything of ours.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

#: Folders in which named modules are looked for, and the modules that were named and found; separated as in PATH.
FOLDERS, MODULES = "BLANKETFLOW_PLUGIN_FOLDERS", "BLANKETFLOW_PLUGIN_MODULES"


def look_in(folder: str | Path) -> None:
    """Look for named modules in a folder, in this process and in those that it starts."""
    _add(FOLDERS, str(Path(folder).absolute()))


def find_beside(name: str) -> bool:
    """Make a module without dots importable if it lies in one of the folders; return whether it does.

    Examples
    --------
    >>> find_beside("no_such_module")
    False
    """
    spec = PathFinder.find_spec(name, _known(FOLDERS))
    if spec is None or spec.origin is None:
        return False
    _add(MODULES, name)
    _begin()
    return True


def _known(variable: str) -> list[str]:
    return [entry for entry in os.environ.get(variable, "").split(os.pathsep) if entry]


def _add(variable: str, entry: str) -> None:
    if entry not in _known(variable):
        os.environ[variable] = os.pathsep.join([*_known(variable), entry])


class _Named(MetaPathFinder):
    """Finds the modules that were named, and no others."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a named module lies."""
        return PathFinder.find_spec(fullname, _known(FOLDERS)) if fullname in _known(MODULES) else None


def _begin() -> None:
    if not any(isinstance(finder, _Named) for finder in sys.meta_path):
        sys.meta_path.append(_Named())  # the last: whatever is installed comes first


if _known(MODULES):
    _begin()
