"""Result tables from outside the package: what a config names under `tables`, one class a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import ConfigError, shown
from .registry import import_name


@dataclass(frozen=True)
class RunResults:
    """What a run found, as a further table takes it.

    Attributes
    ----------
    scores : DataFrame
        Rows of all evaluations with `dataset`, `selector` and `selected_on`: ``training rows``, or ``all rows`` of
        those that have seen the test rows.
    tables : dict of str to DataFrame
        The result tables runtime, truth and statuses.
    n_folds : int or str
        The config's ``splits: evaluation``.
    """

    scores: Any
    tables: Mapping[str, Any]
    n_folds: int | str


class FurtherTable(ABC):
    """A result table that a run makes beside its own, from outside the package.

    Options of the config are arguments of the constructor. A changed file, option or class makes the table again.

    Examples
    --------
    >>> class Best(FurtherTable):
    ...     def make(self, run):
    ...         return run.scores.groupby(["dataset", "metric"], as_index=False)["value"].max()
    >>> Best().files()
    []
    """

    def files(self) -> list[str]:
        """Return the files that the table is made of beside the run."""
        return []

    def check(self, where: str, n_folds: int | str) -> None:  # noqa: B027 (nothing to refuse unless a class says so)
        """Raise `ConfigError`, whose message begins with `where`, if a run with this evaluation tells nothing."""

    @abstractmethod
    def make(self, run: RunResults) -> Any:
        """Return the table, a DataFrame."""


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
