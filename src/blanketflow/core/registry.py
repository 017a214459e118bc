"""Finds classes with a card, and loads plug-ins: methods, CI tests, models and result tables of other packages.

A module named by a config may be beside the config. It is imported only if no installed module has its name, so a
``numpy.py`` in that folder never runs. Folder and module names are passed to jobs in environment variables: a job does
not know the config, and joblib unpickles objects of these modules before other code runs.
"""

from __future__ import annotations

import functools
import importlib
import os
import pkgutil
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any

from .errors import BlanketflowError, ConfigError, UnknownNameError, did_you_mean, shown
from .printable import printable

if TYPE_CHECKING:
    from .parameters import Configurable

#: Start of a card in source text.
_CARD = re.compile(r'Card\(\s*id="([^"]+)"')


def _modules(package_name: str) -> Iterator[str]:
    package = importlib.import_module(package_name)
    for info in pkgutil.walk_packages(package.__path__, package_name + "."):
        if not info.ispkg:
            yield info.name


@functools.cache
def discover(package_name: str) -> MappingProxyType[str, type[Configurable]]:
    """Return the classes with a card in a package, by id, sorted; `BlanketflowError` if two classes have one id."""
    found: dict[str, type[Configurable]] = {}
    for module_name in _modules(package_name):
        for identifier, member in _defined_in(module_name).items():
            if identifier in found:
                other = found[identifier].__module__
                raise BlanketflowError(f"{module_name} and {other} both define the id {identifier!r}: rename one.")
            found[identifier] = member
    return MappingProxyType(dict(sorted(found.items())))


@functools.cache
def _defined_in(module_name: str) -> dict[str, type[Configurable]]:
    """Return the classes with a card defined in a module, by id."""
    return {
        member.card.id: member
        for member in vars(importlib.import_module(module_name)).values()
        if isinstance(member, type) and "card" in vars(member) and member.__module__ == module_name
    }


@functools.cache
def _module_of_each(package_name: str) -> Mapping[str, str]:
    """Return the module of each id, parsed from the source, so that a job imports only what it needs."""
    folder = Path(next(iter(importlib.import_module(package_name).__path__)))
    found = {}
    for path in folder.rglob("*.py"):
        module = ".".join([package_name, *path.relative_to(folder).with_suffix("").parts])
        found.update(dict.fromkeys(_CARD.findall(path.read_text(encoding="utf-8")), module))
    return found


def look_up(package_name: str, identifier: str, what: str) -> type[Configurable]:
    """Return the class with this id, or the class ``"module:Class"``; raises `UnknownNameError`, which names `what`."""
    if ":" in identifier:
        return import_name(identifier)
    if identifier in (modules := _module_of_each(package_name)):
        return _defined_in(modules[identifier])[identifier]
    known = discover(package_name)
    if identifier not in known:
        way_out = (
            did_you_mean(identifier, known) if "." not in identifier else "Write a class as 'package.module:Class'."
        )
        raise UnknownNameError(f"unknown {what} {identifier!r}. {way_out}")
    return known[identifier]


def import_name(dotted: str) -> type:
    """Import ``"package.module:Name"``, installed or beside the config; this executes the module.

    Raises `ConfigError` if the import fails or the module's code fails or exits.
    """
    module_name, _, attribute = dotted.partition(":")
    try:
        try:
            module = importlib.import_module(module_name)
        except ModuleNotFoundError as error:
            top = module_name.partition(".")[0]
            if error.name != top or not find_beside(top):
                raise
            module = importlib.import_module(module_name)
        return getattr(module, attribute)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        way_out = (
            "Write it as 'package.module:ClassName', and put module.py beside the config or make sure that the package "
            "is installed in the environment that runs blanketflow."
        )
        raise ConfigError(f"{dotted!r} cannot be imported ({_in_one_line(error)}). {way_out}") from error
    except (Exception, SystemExit) as error:  # foreign code can raise anything
        why = f"{type(error).__name__}: {_in_one_line(error)}"
        raise ConfigError(f"{dotted!r} cannot be imported, since its code fails ({why}). Mend that module.") from error


def _in_one_line(error: BaseException) -> str:
    where = f" ({getattr(error, 'path', None)})"  # the module's path, which its name already says
    return printable(" ".join(str(error).replace(where, "").split()))


def is_foreign(chosen: Any) -> bool:
    """Return whether a method, CI test or model runs code from outside this package.

    `chosen` is an object, a name such as ``"tree"`` or ``"module:Class"``, a mapping with a ``type``, or None.

    >>> from blanketflow.ci import get_ci_test
    >>> is_foreign(get_ci_test("ppi")), is_foreign(get_ci_test("ppi", model="sklearn.svm:SVC"))
    (False, True)
    """
    if isinstance(chosen, str):
        return ":" in chosen
    if isinstance(chosen, Mapping):
        return is_foreign(chosen.get("type"))
    if chosen is None:
        return False
    if type(chosen).__module__.partition(".")[0] != __package__.partition(".")[0]:
        return True
    return getattr(chosen, "wraps_others", False) or is_foreign(getattr(chosen, "model", None))


#: Folders searched for named modules, and the modules found, separated as in PATH.
FOLDERS, MODULES = "BLANKETFLOW_PLUGIN_FOLDERS", "BLANKETFLOW_PLUGIN_MODULES"


def look_in(folder: str | Path) -> None:
    """Search a folder for named modules, in this process and its children."""
    _add(FOLDERS, str(Path(folder).absolute()))


def find_beside(name: str) -> bool:
    """Make a module without dots importable if one of the folders has it; return whether one does.

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
    """Import finder of the named modules only."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a named module."""
        return PathFinder.find_spec(fullname, _known(FOLDERS)) if fullname in _known(MODULES) else None


def _begin() -> None:
    if not any(isinstance(finder, _Named) for finder in sys.meta_path):
        sys.meta_path.append(_Named())  # the last: whatever is installed comes first


if _known(MODULES):
    _begin()


@dataclass(frozen=True)
class RunResults:
    """Results of a run, passed to a further table.

    Attributes
    ----------
    scores : DataFrame
        All evaluations, with `dataset`, `selector` and `selected_on`: ``training rows``, or ``all rows`` for selections
        that used the test rows.
    tables : dict of str to DataFrame
        The result tables runtime, truth and statuses.
    n_folds : int or str
        The config's ``splits: evaluation``.
    """

    scores: Any
    tables: Mapping[str, Any]
    n_folds: int | str


class FurtherTable(ABC):
    """A result table of a run, defined outside the package.

    Options in the config are constructor arguments. A changed file, option or class recomputes the table.

    Examples
    --------
    >>> class Best(FurtherTable):
    ...     def make(self, run):
    ...         return run.scores.groupby(["dataset", "metric"], as_index=False)["value"].max()
    >>> Best().files()
    []
    """

    def files(self) -> list[str]:
        """Return the input files besides those of the run."""
        return []

    def check(self, where: str, n_folds: int | str) -> None:  # noqa: B027 (nothing to refuse unless a class says so)
        """Raise `ConfigError`, starting with `where`, if the table has no use for this evaluation."""

    @abstractmethod
    def make(self, run: RunResults) -> Any:
        """Return the table as a DataFrame."""


def further_table(name: str, spec: Mapping[str, Any]) -> FurtherTable:
    """Return the table that a config names; raises `ConfigError` if there is none."""
    where, options = f"config: tables.{name}", {key: value for key, value in spec.items() if key != "type"}
    found = import_name(spec["type"])
    if not (isinstance(found, type) and issubclass(found, FurtherTable)):
        raise ConfigError(
            f"{where}: {shown(spec['type'])} is no result table: derive it from blanketflow.plugins.FurtherTable."
        )
    try:
        return found(**options)
    except TypeError as error:
        raise ConfigError(f"{where}: {error}. Mend its options.") from error
