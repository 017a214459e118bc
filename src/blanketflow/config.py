"""The configuration, checked and with its defaults filled in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .aggregate import check_rule
from .ci import get_ci_test
from .ci.base import CITest
from .config_keys import DATASET, SELECTOR, SPLITS, TOP
from .core.errors import BlanketflowError, ConfigError, did_you_mean
from .core.parameters import Parameter
from .core.registry import discover
from .evaluate.metrics import METRICS
from .models import get_model
from .selectors import get_method
from .selectors.base import Method
from .selectors.run import check_pair

IDENTIFIER = re.compile(r"[a-z0-9][a-z0-9-]*")


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
    grain: str
    job_seconds: float
    chunks: int | None
    folds: int
    fold_rows: str
    aggregate: Any


def read_config(raw: Mapping[str, Any]) -> Config:
    """Check a configuration and fill in its defaults.

    Parameters
    ----------
    raw : mapping
        As YAML gives it.

    Raises
    ------
    ConfigError
        If a key is unknown or a value wrong; the message names the key and the way out.
    """
    top = _section("config", raw, TOP)
    for key in ("datasets", "selectors"):
        if not isinstance(top[key], Mapping) or not top[key]:
            raise ConfigError(f"config: {key} must name at least one entry, as 'id: {{key: value}}'.")
    datasets = {name: _dataset(name, spec) for name, spec in _entries("datasets", top["datasets"])}
    _check_rule(top["aggregate"], "config")
    ci_tests = {name: _ci_test(name, spec) for name, spec in _entries("ci_tests", top["ci_tests"] or {})}
    selectors = {name: _selector(name, spec, top, ci_tests) for name, spec in _entries("selectors", top["selectors"])}
    splits = _section("config: splits", top["splits"] or {}, SPLITS)
    _check_splits(splits, datasets)
    if top["chunks"] and top["grain"] in ("split", "dataset"):
        raise ConfigError(f"config: chunks scatters what grain: {top['grain']} joins. Remove one of the two.")
    for folds in {top["folds"], *(selector.folds for selector in selectors.values())}:
        if folds == 1:
            raise ConfigError("config: folds is 1, but a partition needs at least 2 parts. Use 0 for all rows once.")
    if splits["evaluation"] and not any(s.method.card.id == "all" for s in selectors.values()):
        selectors["all"] = _selector("all", {"method": "all"}, top, ci_tests)  # the baseline of every evaluation
    types = {name: spec["type"] for name, spec in (top["ci_tests"] or {}).items()}
    return Config(
        output=top["output"].rstrip("/") or "/",
        seed=top["seed"],
        datasets=datasets,
        splits=splits,
        ci_tests=ci_tests,
        test_types={name: types.get(name, test.card.id) for name, test in ci_tests.items()},
        selectors=selectors,
        models=_models(top["models"]),
        metrics=_metrics(top["metrics"]),
        grain=top["grain"],
        job_seconds=top["job_seconds"],
        chunks=top["chunks"],
        folds=top["folds"],
        fold_rows=top["fold_rows"],
        aggregate=top["aggregate"],
    )


def _section(where: str, raw: Any, keys: Mapping[str, tuple[Any, Parameter]]) -> dict[str, Any]:
    """Return a section with defaults, refusing unknown keys and values out of range."""
    if not isinstance(raw, Mapping):
        raise ConfigError(f"{where} must be a mapping 'key: value', but is {raw!r}.")
    for key in raw:
        if key not in keys:
            raise ConfigError(f"{where}: unknown key {key!r}. {did_you_mean(key, keys)}")
    values = {key: raw.get(key, default) for key, (default, _) in keys.items()}
    for key in raw:
        try:
            keys[key][1].check(where, key, raw[key])
        except BlanketflowError as error:
            raise ConfigError(str(error)) from error
    return values


def _entries(section: str, raw: Any) -> list[tuple[str, Mapping[str, Any]]]:
    if not isinstance(raw, Mapping):
        raise ConfigError(f"config: {section} must be a mapping 'id: {{key: value}}', but is {raw!r}.")
    for name in raw:
        if not IDENTIFIER.fullmatch(str(name)):
            raise ConfigError(
                f"config: {section} has the id {name!r}; ids are lower-case letters, digits and hyphens, "
                "since they name files."
            )
    return [(str(name), spec) for name, spec in raw.items()]


def _dataset(name: str, raw: Any) -> dict[str, Any]:
    where = f"config: data set {name!r}"
    spec = _section(where, raw, DATASET)
    if (spec["source"] is None) == (spec["path"] is None):
        raise ConfigError(f"{where} needs either source: (such as sklearn:wine) or path: (such as data/my.csv).")
    return spec


def _check_splits(splits: Mapping[str, Any], datasets: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse splits that ask for nothing, and test rows that do not go with them."""
    if not splits["final"] and not splits["evaluation"]:
        raise ConfigError("config: splits asks for nothing. Set final: true or evaluation: 5.")
    by_test_rows = splits["evaluation"] == 1
    if by_test_rows and splits["repeats"] > 1:
        raise ConfigError("config: splits.evaluation: 1 has the same test rows each time. Remove splits.repeats.")
    for name, spec in datasets.items():
        where = f"config: data set {name!r}"
        if by_test_rows and not spec["test_rows"]:
            raise ConfigError(
                f"{where} has no test_rows, which splits.evaluation: 1 tests on. Set them, or evaluation: 5 for a "
                "partition, 0 for none."
            )
        if spec["test_rows"] and not by_test_rows:
            raise ConfigError(
                f"{where} has test_rows, but splits.evaluation is {splits['evaluation']}. Set it to 1, or remove them."
            )
        if spec["test_rows"] and spec["groups"] is not None:
            raise ConfigError(f"{where} has test_rows, which may cut through its groups. Remove one of the two.")


def _ci_test(name: str, raw: Any) -> CITest:
    if not isinstance(raw, Mapping) or not isinstance(raw.get("type"), str):
        raise ConfigError(f"config: ci_tests.{name} needs a type. {did_you_mean(name, discover('blanketflow.ci'))}")
    # YAML reads a bare `null` as nothing, and `hsic` has an option of that name.
    options = {"null" if key is None else key: value for key, value in raw.items() if key != "type"}
    try:
        test = get_ci_test(raw["type"], **options)
        if "model" in test.parameters():
            get_model(test.model)
    except BlanketflowError as error:
        raise ConfigError(f"config: ci_tests.{name}: {error}") from error
    return test


def _selector(name: str, raw: Any, top: Mapping[str, Any], ci_tests: dict[str, CITest]) -> Selector:
    where = f"config: selector {name!r}"
    if not isinstance(raw, Mapping) or not isinstance(raw.get("method"), str):
        known = discover("blanketflow.selectors")
        raise ConfigError(f"{where} needs a method. {did_you_mean(name, known)}")
    own = {key: raw[key] for key in raw if key in SELECTOR}
    shared = _section(where, own, SELECTOR)
    options = {key: value for key, value in raw.items() if key not in SELECTOR}
    try:
        method = get_method(shared["method"], where, options)
        test_id = _test_of(method, shared["ci_test"], ci_tests)
        check_pair(method, ci_tests[test_id] if test_id else None)
        method.check(where)
    except BlanketflowError as error:
        text = str(error)
        raise ConfigError(text if text.startswith(where) else f"{where}: {text}") from error
    if shared["aggregate"] is not None:
        _check_rule(shared["aggregate"], where)
    return Selector(
        id=name,
        method=method,
        method_name=getattr(method, "path", shared["method"]),  # a wrapped selector is named by its class
        ci_test=test_id,
        folds=top["folds"] if shared["folds"] is None else shared["folds"],
        fold_rows=shared["fold_rows"] or top["fold_rows"],
        aggregate=top["aggregate"] if shared["aggregate"] is None else shared["aggregate"],
        grain=shared["grain"] or top["grain"],
        time_limit=shared["time_limit"],
        max_tests=shared["max_tests"],
    )


def _check_rule(rule: Any, where: str) -> None:
    try:
        check_rule(rule, where)
    except BlanketflowError as error:
        raise ConfigError(str(error)) from error


def _test_of(method: Method, asked: str | None, ci_tests: dict[str, CITest]) -> str | None:
    """Return the id of a selector's test; a test that the config does not list enters with its default options."""
    if method.default_test is None:
        if asked is not None:
            raise ConfigError(f"{method.card.id} uses no CI test: remove ci_test.")
        return None
    wanted = asked or method.default_test
    if wanted not in ci_tests:
        if wanted not in discover("blanketflow.ci"):
            known = [*ci_tests, *discover("blanketflow.ci")]
            raise ConfigError(f"unknown ci_test {wanted!r}. {did_you_mean(wanted, known)}")
        own = method.default_test_options if wanted == method.default_test else {}
        wanted = "-".join([wanted, *map(str, own.values())])  # an id of its own: others may use the plain test
        ci_tests.setdefault(wanted, get_ci_test(method.default_test, **own) if own else get_ci_test(wanted))
    return wanted


def _models(asked: Any) -> list[str]:
    if not isinstance(asked, list) or not all(isinstance(name, str) for name in asked):
        raise ConfigError(f"config: models must be a list of names, such as [tree, svm], but is {asked!r}.")
    for name in asked:
        try:
            get_model(name)
        except BlanketflowError as error:
            raise ConfigError(f"config: models: {error}") from error
    return asked


def _metrics(asked: Any) -> list[str] | str:
    if asked == "auto":
        return asked
    if not isinstance(asked, list) or not asked:
        raise ConfigError(f"config: metrics must be auto or a list of names, but is {asked!r}.")
    for name in asked:
        if name not in METRICS:
            raise ConfigError(f"config: unknown metric {name!r}. {did_you_mean(name, METRICS)}")
    return asked


def canonical_json(value: Any) -> str:
    """Return JSON with sorted keys and plain types: equal values give equal text.

    Examples
    --------
    >>> canonical_json({"b": 1.0, "a": (1, None)})
    '{"a":[1,null],"b":1.0}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
