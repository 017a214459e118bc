"""From what YAML holds to the typed configuration: each section with its defaults, each id with what it stands for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..ci import get_ci_test
from ..ci.base import CITest
from ..ci.choice import AUTO
from ..ci.incomplete_rows import incomplete_rule
from ..core.errors import BlanketflowError, ConfigError, ParameterError, did_you_mean, shown
from ..core.parameters import Parameter
from ..core.registry import discover
from ..models import get_model
from ..selectors import get_method
from ..selectors.base import Method
from ..selectors.min_effect import check_min_effect
from ..selectors.run_fold import check_choice, check_pair
from .checks import (
    check_aggregate,
    check_confirm,
    check_folds,
    check_names,
    check_references,
    check_size,
    check_splits,
    checked_metrics,
    checked_models,
    checked_output,
    checked_printed,
    checked_supplied,
)
from .identifiers import CONFIRM, PART, TestOnRows, entries
from .keys import DATASET, OF_FILES, ONLY_IF_SET, SELECTOR, SPLITS, TOP
from .targets import one_data_set_each
from .typed import Config, Selector

_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
#: What a selector has from the top level where it says nothing.
_SHARED = ("folds", "fold_rows", "aggregate", "grain")
_SIMULATED = ("simulate:", "network:")


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
    check_size(raw)
    top = _section("config", raw, TOP)
    for key in ("datasets", "selectors"):
        if top[key] is None or top[key] == {}:
            raise ConfigError(f"config: {key} must name at least one entry, as 'id: {{key: value}}'.")
    for key in ("splits", "ci_tests"):
        top[key] = {} if top[key] is None else top[key]  # a heading with nothing below it
    named, targets = one_data_set_each(entries("datasets", top["datasets"]))
    datasets = {name: checked_dataset(name, spec) for name, spec in named}
    check_aggregate(top["aggregate"], "config")
    ci_tests = {name: _ci_test(name, spec) for name, spec in entries("ci_tests", top["ci_tests"])}
    selectors = {name: _selector(name, spec, top, ci_tests) for name, spec in entries("selectors", top["selectors"])}
    for name, selector in selectors.items():
        if targets and selector.datasets is not None:
            parts = [part for known in selector.datasets for part in targets.get(known, {known: known}).values()]
            selectors[name] = replace(selector, datasets=parts)
    splits = _section("config: splits", top["splits"], SPLITS)
    check_splits(splits, datasets)
    check_names(selectors, datasets)
    check_folds(top, selectors)
    if splits["evaluation"]:
        check_references(selectors)
        if not any(s.method.card.id == "all" for s in selectors.values()):
            selectors["all"] = _selector("all", {"method": "all"}, top, ci_tests)  # the baseline of every evaluation
    for name, stage in checked_supplied(top["supplied"], selectors).items():
        selectors[name] = replace(selectors[name], supplied=stage)
    check_confirm(selectors, splits)
    types = {str(name): spec["type"] for name, spec in top["ci_tests"].items()}
    read = {
        "output": checked_output(top["output"]),
        "datasets": datasets,
        "targets": targets,
        "splits": splits,
        "ci_tests": ci_tests,
        "test_types": {name: types.get(name, test.card.id) for name, test in ci_tests.items()},
        "selectors": selectors,
        "models": checked_models(top["models"]),
        "metrics": checked_metrics(top["metrics"]),
        "printed": checked_printed(top["printed"]),
    }
    return Config(**{**top, **read})


def _section(where: str, raw: Any, keys: Mapping[str, tuple[Any, Parameter]]) -> dict[str, Any]:
    """Return a section with defaults, refusing unknown keys and values out of range."""
    if not isinstance(raw, Mapping):
        raise ConfigError(f"{where} must be a mapping 'key: value', but is {shown(raw)}.")
    for key in raw:
        if key not in keys:
            raise ConfigError(f"{where}: unknown key {shown(key)}. {did_you_mean(key, keys)}")
    values = {key: raw.get(key, default) for key, (default, _) in keys.items()}
    for key in raw:
        try:
            keys[key][1].check(where, key, raw[key])
        except BlanketflowError as error:
            raise ConfigError(str(error)) from error
    return values


def checked_dataset(name: str, raw: Any) -> dict[str, Any]:
    """Return the keys of a data set with defaults; raises as `read_config` does."""
    where = f"config: data set {name!r}"
    spec = _section(where, raw, DATASET)
    if (spec["source"] is None) == (spec["path"] is None):
        raise ConfigError(f"{where} needs either source: (such as sklearn:wine) or path: (such as data/my.csv).")
    if spec["target"] is not None and not isinstance(spec["target"], str):
        raise ConfigError(
            f"{where}: target is {shown(spec['target'])}. Name one column here: several are for a run, "
            "for compare, and for blankets in Python."
        )
    for key in ("source", "path", "target_path"):
        if spec[key] is not None and not spec[key].strip():
            raise ConfigError(
                f"{where}: {key} is {shown(spec[key])}, which names nothing. Write a file's name, or remove the key."
            )
    if spec["sha256"] is not None and not _SHA256.fullmatch(spec["sha256"]):
        raise ConfigError(f"{where}: sha256 is {shown(spec['sha256'])}, but must be 64 hexadecimal digits.")
    if spec["rows"] != DATASET["rows"][0] and not str(spec["source"]).startswith(_SIMULATED):
        raise ConfigError(f"{where}: rows says how many to simulate, and this table is not simulated. Remove it.")
    for key in OF_FILES:
        if spec[key] is not None and not spec["path"]:
            raise ConfigError(f"{where}: {key} is for files, and this is another source. Remove it.")
    if (spec["weights"] is None) != (spec["weights_are"] is None):
        raise ConfigError(
            f"{where} needs both weights and weights_are, or neither: what weights are is never inferred."
        )
    if spec["weights"] is not None and spec["max_rows"] is not None:
        raise ConfigError(f"{where} has weights, and rows with weights are not sampled. Remove max_rows.")
    try:
        incomplete_rule(where, spec["missing"], spec["imputations"])
    except ParameterError as error:
        raise ConfigError(str(error)) from error
    if spec["missing_values"] is not None and not (spec["path"] or str(spec["source"]).startswith("openml:")):
        raise ConfigError(f"{where}: missing_values is for files of text, and this is another source. Remove it.")
    return {key: value for key, value in spec.items() if value is not None or key not in ONLY_IF_SET}


def _ci_test(name: str, raw: Any) -> CITest:
    known, where = discover("blanketflow.ci"), f"config: ci_tests.{name}"
    if not isinstance(raw, Mapping):
        raise ConfigError(f"{where} needs a type, such as {{type: g2}}, but is {shown(raw)}.")
    if not isinstance(raw.get("type"), str):
        raise ConfigError(f"{where} needs a type{_found(raw, 'type')}. {did_you_mean(name, known)}")
    if TestOnRows.of(name).test != name:
        raise ConfigError(
            f"{where}: ids of CI tests do not end in {PART} or {CONFIRM} and a number, which results append. Rename it."
        )
    if name == AUTO:
        raise ConfigError(
            f"{where}: ci_test: auto asks for the test that suits each data set. Give yours another name."
        )
    if name in known and raw["type"] != name:
        raise ConfigError(f"{where} has the type {shown(raw['type'])}, but the name of another CI test. Rename it.")
    # YAML reads a bare `null` as nothing, and `hsic` has an option of that name.
    options = {"null" if key is None else str(key): value for key, value in raw.items() if key != "type"}
    try:
        test = get_ci_test(raw["type"], **options)
        if "model" in test.parameters() and test.model not in test.own_models:
            get_model(test.model)
    except BlanketflowError as error:
        raise ConfigError(f"{where}: {error}") from error
    return test


def _found(raw: Mapping[str, Any], key: str) -> str:
    """Return in words what a key holds instead of a name."""
    return f", but {key} is {shown(raw[key])}" if key in raw else ""


def _selector(name: str, raw: Any, top: Mapping[str, Any], ci_tests: dict[str, CITest]) -> Selector:
    where = f"config: selector {name!r}"
    if not isinstance(raw, Mapping):
        raise ConfigError(f"{where} needs a method, such as {{method: gs}}, but is {shown(raw)}.")
    if not isinstance(raw.get("method"), str):
        known = discover("blanketflow.selectors")
        raise ConfigError(f"{where} needs a method{_found(raw, 'method')}. {did_you_mean(name, known)}")
    own = {key: raw[key] for key in raw if key in SELECTOR}
    shared = _section(where, own, SELECTOR)
    options = {str(key): value for key, value in raw.items() if key not in SELECTOR}
    try:
        method = get_method(shared["method"], where, options)
        test_id = _test_of(method, shared["ci_test"], ci_tests)
        check_pair(method, ci_tests.get(test_id) if test_id else None)
        check_min_effect(where, method, ci_tests.get(test_id) if test_id else None, shared["min_effect"])
        method.check(where)
    except BlanketflowError as error:
        text = str(error)
        raise ConfigError(text if text.startswith(where) else f"{where}: {text}") from error
    if shared["aggregate"] is not None:
        check_aggregate(shared["aggregate"], where)
    own = {key: value for key, value in shared.items() if value is not None}
    own |= {"method_name": getattr(method, "path", shared["method"])}  # a wrapped selector is named by its class
    return Selector(**{**{key: top[key] for key in _SHARED}, **own, "id": name, "method": method, "ci_test": test_id})


def _test_of(method: Method, asked: str | None, ci_tests: dict[str, CITest]) -> str | None:
    """Return the id of a selector's test, or ``auto``; a test that is not listed enters with its default options."""
    if method.default_test is None:
        if asked is not None:
            raise ConfigError(f"{method.card.id} uses no CI test: remove ci_test.")
        return None
    wanted = method.default_test if asked is None else asked
    if wanted == AUTO:
        check_choice(method)
        return AUTO
    if wanted not in ci_tests:
        if wanted not in discover("blanketflow.ci"):
            known = [AUTO, *ci_tests, *discover("blanketflow.ci")]
            raise ConfigError(f"unknown ci_test {wanted!r}. {did_you_mean(wanted, known)}")
        own = method.default_test_options if wanted == method.default_test else {}
        wanted = "-".join([wanted, *map(str, own.values())])  # an id of its own: others may use the plain test
        ci_tests.setdefault(wanted, get_ci_test(method.default_test, **own) if own else get_ci_test(wanted))
    return wanted
