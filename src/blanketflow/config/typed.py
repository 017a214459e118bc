"""The configuration as the plan takes it: checked, typed, with its defaults filled in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..ci.base import CITest
from ..selectors.base import Method


@dataclass(frozen=True)
class Selector:
    """A configured selector.

    Attributes
    ----------
    id, method
        Its name and its configured method.
    method_name : str
        The method as the config names it: an id, or ``package.module:Class``.
    ci_test : str or None
        Id of its CI test in `Config.ci_tests`.
    folds, fold_rows, aggregate, grain
        Its own values, or the config's.
    time_limit, max_tests
        What each stage may spend on one fold.
    datasets : list of str or None
        The only data sets that it runs on.
    supplied : {"grow", "shrink"} or None
        The stage that comes from outside.
    """

    id: str
    method: Method
    method_name: str
    ci_test: str | None
    folds: int
    fold_rows: str
    aggregate: Any
    grain: str
    time_limit: float | None = None
    max_tests: int | None = None
    datasets: list[str] | None = None
    supplied: str | None = None


@dataclass(frozen=True)
class Config:
    """The configuration, checked and with defaults filled in."""

    output: str
    seed: int
    datasets: dict[str, dict[str, Any]]
    splits: dict[str, Any]
    ci_tests: dict[str, CITest]
    test_types: dict[str, str]
    selectors: dict[str, Selector]
    models: list[str]
    metrics: list[str] | str
    supplied: Any
    grain: str
    job_seconds: float
    chunks: int | None
    folds: int
    fold_rows: str
    aggregate: Any
    printed: dict[str, str]
