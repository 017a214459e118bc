"""From parsed YAML to the typed configuration with defaults."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from ..ci import get_ci_test
from ..ci.base import CITest
from ..ci.choice import AUTO
from ..ci.missing import incomplete_rule
from ..core.errors import (
    BlanketflowError,
    ConfigError,
    Faults,
    ParameterError,
    as_config_error,
    did_you_mean,
    shown,
)
from ..core.parameters import Parameter
from ..core.registry import discover
from ..core.rows import FORWARD
from ..models import get_model
from ..selectors import get_method
from ..selectors.base import Method
from ..selectors.compatibility import check_choice, check_min_effect, check_pair
from ..targets.forms import with_own_column
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
    checked_supplied,
    checked_tables,
)
from .identifiers import CONFIRM, LONGEST_ID, PART, TestOnRows, entries
from .keys import DATASET, OF_FILES, OF_FORWARD, OF_TARGET, ONLY_IF_SET, SELECTOR, SPLITS, TOP
from .typed import Config, Selector

_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
#: Top-level defaults of a selector's keys.
_SHARED = ("folds", "fold_rows", "aggregate", "grain")
_SIMULATED = ("simulate:", "network:")
#: Top-level keys with further checks of the single value.
_OF_ONE_KEY: dict[str, Callable[[Any], Any]] = {
    "output": checked_output,
    "models": checked_models,
    "metrics": checked_metrics,
    "tables": checked_tables,
}


def read_config(raw: Mapping[str, Any]) -> Config:
    """Check a configuration (parsed YAML) and fill in its defaults.

    Raises `ConfigError` for unknown keys or wrong values, with a line for each that names the key and the remedy.
    """
    check_size(raw)
    faults = Faults()
    top = _section("config", raw, TOP, faults)
    if not isinstance(raw, Mapping):
        faults.refuse()
    for key in ("datasets", "selectors"):  # left out, unless another key may be a misspelling of it
        if top[key] in (None, {}) and (key in raw or raw.keys() <= TOP.keys()):
            faults.note(ConfigError(f"config: {key} must name at least one entry, as 'id: {{key: value}}'."))
    for key in ("datasets", "selectors", "splits", "ci_tests"):
        top[key] = {} if top[key] is None else top[key]  # a heading with nothing below it
    datasets, targets = _datasets(top["datasets"], faults)
    with faults.noted():
        check_aggregate(top["aggregate"], "config")
    ci_tests: dict[str, CITest] = {}
    top["ci_tests"] = dict(entries("ci_tests", top["ci_tests"], faults))
    for name, spec in top["ci_tests"].items():
        with faults.noted():
            ci_tests[name] = _ci_test(name, spec)
    selectors: dict[str, Selector] = {}
    for name, spec in entries("selectors", top["selectors"], faults):
        with faults.noted():
            selectors[name] = _selector(name, spec, top, ci_tests)
    for key, checked in _OF_ONE_KEY.items():
        with faults.noted():
            top[key] = checked(top[key])
    splits = _section("config: splits", top["splits"], SPLITS, faults)
    for name, selector in selectors.items():
        if targets and selector.datasets is not None:
            parts = [part for known in selector.datasets for part in targets.get(known, {known: known}).values()]
            selectors[name] = replace(selector, datasets=parts)
    faults.refuse()  # what follows sets sections beside each other
    with faults.noted():
        check_splits(splits, datasets)
    if splits["evaluation"] == FORWARD:
        datasets = {name: {"time": splits["time"], **spec} for name, spec in datasets.items()}
    else:
        splits = {key: value for key, value in splits.items() if key not in OF_FORWARD}
    with faults.noted():
        check_names(selectors, datasets)
    with faults.noted():
        check_folds(top, selectors)
    if splits["evaluation"]:
        with faults.noted():
            check_references(selectors)
        if not any(s.method.card.id == "all" for s in selectors.values()):
            selectors["all"] = _selector("all", {"method": "all"}, top, ci_tests)  # the baseline of every evaluation
    with faults.noted():
        for name, stage in checked_supplied(top["supplied"], selectors).items():
            selectors[name] = replace(selectors[name], supplied=stage)
    with faults.noted():
        check_confirm(selectors, splits)
    faults.refuse()
    types = {name: spec["type"] for name, spec in top["ci_tests"].items()}
    read = {
        "datasets": datasets,
        "targets": targets,
        "splits": splits,
        "ci_tests": ci_tests,
        "test_types": {name: types.get(name, test.card.id) for name, test in ci_tests.items()},
        "selectors": selectors,
    }
    return Config(**{**top, **read})


def _section(where: str, raw: Any, keys: Mapping[str, tuple[Any, Parameter]], faults: Faults) -> dict[str, Any]:
    """Return a section with defaults; record values out of range and unknown keys as errors."""
    values = {key: default for key, (default, _) in keys.items()}
    if not isinstance(raw, Mapping):
        faults.note(ConfigError(f"{where} must be a mapping 'key: value', but is {shown(raw)}."))
        return values
    for key in raw:
        if key not in keys:
            faults.note(ConfigError(f"{where}: unknown key {shown(key)}. {did_you_mean(key, keys)}"))
            continue
        try:
            keys[key][1].check(where, key, raw[key])
            values[key] = raw[key]
        except BlanketflowError as error:
            faults.note(as_config_error(error))
    return values


def _datasets(raw: Any, faults: Faults) -> tuple[dict[str, dict[str, Any]], DataSets]:
    """Return the valid data sets, one for each target."""
    named: list[tuple[str, Any]] = []
    targets: DataSets = {}
    with faults.noted():
        named, targets = one_data_set_each(entries("datasets", raw, faults))
    alike = {part: whole for whole, parts in targets.items() for part in parts.values()}
    found, wrong = dict[str, dict[str, Any]](), set[str]()
    for name, spec in named:
        if alike.get(name) in wrong:  # what is wrong with one of several targets' data sets is so with all
            continue
        try:
            found[name] = checked_dataset(name, spec)
        except ConfigError as error:
            faults.note(error)
            wrong |= {alike[name]} if name in alike else set()
    return found, targets


def read_as_far_as_possible(raw: Mapping[str, Any]) -> tuple[dict[str, dict[str, Any]], dict[str, Path]]:
    """Return what can be inspected of a faulty configuration: correct data sets, and the `path` of the others."""
    named = raw.get("datasets") if isinstance(raw, Mapping) else None
    found, targets = _datasets(named or {}, Faults())
    read = {*found, *(whole for whole, parts in targets.items() if found.keys() >= {*parts.values()})}
    specs = {str(name): spec for name, spec in named.items()} if isinstance(named, Mapping) else {}
    others = {name: spec.get("path") for name, spec in specs.items() if name not in read and isinstance(spec, Mapping)}
    return found, {name: Path(path) for name, path in others.items() if isinstance(path, str) and path.strip()}


def checked_dataset(name: str, raw: Any) -> dict[str, Any]:
    """Return the keys of a data set with defaults; raises as `read_config` does."""
    where, faults = f"config: data set {name!r}", Faults()
    of_target: dict[str, Any] = {}
    if isinstance(raw, Mapping):
        of_target = {key: raw[key] for key in OF_TARGET if raw.get(key) is not None}
        raw = {key: value for key, value in raw.items() if key not in OF_TARGET}
    spec = _section(where, raw, DATASET, faults) | of_target
    for told in chain(_wrong_values(spec), () if faults else _wrong_together(spec)):
        faults.note(ConfigError(f"{where}{told}"))
    faults.refuse()
    return {key: value for key, value in spec.items() if value is not None or key not in ONLY_IF_SET}


def _wrong_values(spec: Mapping[str, Any]) -> Iterator[str]:
    """Yield the errors of single keys of a data set."""
    if spec["target"] is not None and not isinstance(spec["target"], str):
        yield (
            f": target is {shown(spec['target'])}. Name one column here: several are for a run, for compare, and for "
            "blankets in Python."
        )
    for key in ("source", "path", "target_path"):
        if spec[key] is not None and not spec[key].strip():
            yield f": {key} is {shown(spec[key])}, which names nothing. Write a file's name, or remove the key."
    if spec["sha256"] is not None and not _SHA256.fullmatch(spec["sha256"]):
        yield f": sha256 is {shown(spec['sha256'])}, but must be 64 hexadecimal digits."


def _wrong_together(spec: Mapping[str, Any]) -> Iterator[str]:
    """Yield the errors of combinations of keys of a data set."""
    if (spec["source"] is None) == (spec["path"] is None):
        yield " needs either source: (such as sklearn:wine) or path: (such as data/my.csv)."
        return
    if spec["rows"] != DATASET["rows"][0] and not str(spec["source"]).startswith(_SIMULATED):
        yield ": rows says how many to simulate, and this table is not simulated. Remove it."
    for key in OF_FILES:
        if spec[key] is not None and not spec["path"]:
            yield f": {key} is for files, and this is another source. Remove it."
    if (spec["weights"] is None) != (spec["weights_are"] is None):
        yield " needs both weights and weights_are, or neither: what weights are is never inferred."
    if spec["weights"] is not None and spec["max_rows"] is not None:
        yield " has weights, and rows with weights are not sampled. Remove max_rows."
    try:
        incomplete_rule("", spec["missing"], spec["imputations"])
    except ParameterError as error:
        yield str(error)
    if spec["missing_values"] is not None and not (spec["path"] or str(spec["source"]).startswith("openml:")):
        yield ": missing_values is for files of text, and this is another source. Remove it."


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
    # YAML reads a bare `null` as None, but it is an option of `hsic`.
    options = {"null" if key is None else str(key): value for key, value in raw.items() if key != "type"}
    try:
        test = get_ci_test(raw["type"], **options)
        if "model" in test.parameters() and test.model not in test.own_models:
            get_model(test.model)
    except BlanketflowError as error:
        raise as_config_error(error, where) from error
    return test


def _found(raw: Mapping[str, Any], key: str) -> str:
    """Return a description of the value of a key where a name is expected."""
    return f", but {key} is {shown(raw[key])}" if key in raw else ""


def _selector(name: str, raw: Any, top: Mapping[str, Any], ci_tests: dict[str, CITest]) -> Selector:
    where = f"config: selector {name!r}"
    if not isinstance(raw, Mapping):
        raise ConfigError(f"{where} needs a method, such as {{method: gs}}, but is {shown(raw)}.")
    if not isinstance(raw.get("method"), str):
        known = discover("blanketflow.selectors")
        raise ConfigError(f"{where} needs a method{_found(raw, 'method')}. {did_you_mean(name, known)}")
    faults = Faults()
    shared = _section(where, {key: raw[key] for key in raw if key in SELECTOR}, SELECTOR, faults)
    options = {str(key): value for key, value in raw.items() if key not in SELECTOR}
    if shared["aggregate"] is not None:
        with faults.noted():
            check_aggregate(shared["aggregate"], where)
    asked, configured = shared["ci_test"], top["ci_tests"]
    tests = [AUTO, *configured, *discover("blanketflow.ci")]
    if asked is not None and asked not in tests:
        faults.note(ConfigError(f"{where}: unknown ci_test {asked!r}. {did_you_mean(asked, tests)}"))
    try:
        method = get_method(shared["method"], where, options)
    except BlanketflowError as error:
        faults.note(as_config_error(error, where))
    faults.refuse()
    try:
        test_id = _test_of(method, asked, ci_tests, configured)
        check_pair(method, ci_tests.get(test_id) if test_id else None)
        check_min_effect(where, method, ci_tests.get(test_id) if test_id else None, shared["min_effect"])
        method.check(where)
    except BlanketflowError as error:
        raise as_config_error(error, where) from error
    own = {key: value for key, value in shared.items() if value is not None}
    own |= {"method_name": getattr(method, "path", shared["method"])}  # a wrapped selector is named by its class
    return Selector(**{**{key: top[key] for key in _SHARED}, **own, "id": name, "method": method, "ci_test": test_id})


def _test_of(
    method: Method, asked: str | None, ci_tests: dict[str, CITest], configured: Mapping[Any, Any]
) -> str | None:
    """Return the id of a selector's test, or ``auto``; adds an unconfigured test with its defaults."""
    if method.default_test is None:
        if asked is not None:
            raise ConfigError(f"{method.card.id} uses no CI test: remove ci_test.")
        return None
    wanted = method.default_test if asked is None else asked
    if wanted == AUTO:
        check_choice(method)
        return AUTO
    if wanted not in ci_tests and wanted not in configured:
        own = method.default_test_options if wanted == method.default_test else {}
        wanted = "-".join([wanted, *map(str, own.values())])  # an id of its own: others may use the plain test
        ci_tests.setdefault(wanted, get_ci_test(method.default_test, **own) if own else get_ci_test(wanted))
    return wanted


#: The data set of each target, by the id of the data set with several.
DataSets = dict[str, dict[str, str]]


def one_data_set_each(named: Sequence[tuple[str, Any]]) -> tuple[list[tuple[str, Any]], DataSets]:
    """Return data sets with one target each, and the ids that replace each data set with several targets.

    The new id is the old one, a hyphen, and the target in lower-case letters and digits. The other targets are dropped,
    also from tiers. Raises `ConfigError` for duplicate targets, duplicate ids and ids that are too long.

    >>> found, targets = one_data_set_each([("study", {"path": "study.csv", "target": ["Relapse", "death"]})])
    >>> [(name, spec["target"], spec["drop"]) for name, spec in found]
    [('study-relapse', 'Relapse', ['death']), ('study-death', 'death', ['Relapse'])]
    >>> targets
    {'study': {'Relapse': 'study-relapse', 'death': 'study-death'}}
    """
    found: list[tuple[str, Any]] = []
    of_targets: DataSets = {}
    for name, given in named:
        spec = with_own_column(f"config: data set {name!r}", given)
        targets = spec.get("target") if isinstance(spec, Mapping) else None
        if not isinstance(targets, list) or not all(isinstance(target, str) for target in targets):
            found.append((name, spec))
            continue
        if not targets or len(set(targets)) < len(targets):
            raise ConfigError(f"config: data set {name!r} has the targets {shown(targets)}. Name each once.")
        of_targets[name] = {target: f"{name}-{_part_of_id(target)}" for target in targets}
        found += [(of_targets[name][target], _without_others(spec, target, targets)) for target in targets]
    ids = [name for name, _ in found]
    if twice := [name for name in ids if ids.count(name) > 1]:
        raise ConfigError(
            f"config: two data sets would be called {twice[0]!r}: that is the id of one with several targets, and the "
            "name of a target. Write a data set for each target, with the other targets in drop."
        )
    if too_long := [name for parts in of_targets.values() for name in parts.values() if len(name) > LONGEST_ID]:
        raise ConfigError(
            f"config: the data set of one of several targets would be called {too_long[0]!r}, which has more than "
            f"{LONGEST_ID} characters, and ids name files. Write a data set for each target, with the other targets in "
            "drop."
        )
    return found, of_targets


def _part_of_id(target: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", target.lower()).strip("-") or "target"


def _without_others(spec: Mapping[str, Any], target: str, targets: Sequence[str]) -> dict[str, Any]:
    others = [other for other in targets if other != target]
    drop = spec.get("drop") or []
    own = {**spec, "target": target, "drop": [*drop, *others] if isinstance(drop, list) else drop}
    if isinstance(spec.get("tiers"), list):
        tiers = [[n for n in tier if n not in others] if isinstance(tier, list) else tier for tier in spec["tiers"]]
        own["tiers"] = [tier for tier in tiers if tier]
    return own
