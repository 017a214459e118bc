"""The configuration, checked and with its defaults filled in."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..ci import get_ci_test
from ..ci.base import CITest
from ..core.errors import BlanketflowError, ConfigError, did_you_mean
from ..core.parameters import Parameter
from ..core.registry import discover
from ..core.shown import shown
from ..models import get_model
from ..models.metrics import METRICS
from ..search.aggregate import check_rule
from ..selectors import get_method
from ..selectors.base import Method
from ..selectors.run import check_pair
from .identifiers import PART, entries
from .keys import DATASET, MOST_PARTS, SELECTOR, SPLITS, TOP
from .output_folder import check_apart, checked_output

#: How deep a configuration may be nested, and how many values it may hold, all aliases written out.
MOST_DEPTH, MOST_VALUES = 20, 1_000_000
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_SIMULATED = ("simulate:", "network:")


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
    printed: dict[str, str]


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
    _check_size(raw)
    top = _section("config", raw, TOP)
    for key in ("datasets", "selectors"):
        if top[key] is None or top[key] == {}:
            raise ConfigError(f"config: {key} must name at least one entry, as 'id: {{key: value}}'.")
    for key in ("splits", "ci_tests"):
        top[key] = {} if top[key] is None else top[key]  # a heading with nothing below it
    datasets = {name: checked_dataset(name, spec) for name, spec in entries("datasets", top["datasets"])}
    _check_rule(top["aggregate"], "config")
    ci_tests = {name: _ci_test(name, spec) for name, spec in entries("ci_tests", top["ci_tests"])}
    selectors = {name: _selector(name, spec, top, ci_tests) for name, spec in entries("selectors", top["selectors"])}
    splits = _section("config: splits", top["splits"], SPLITS)
    _check_splits(splits, datasets)
    _check_names(selectors, datasets)
    if top["chunks"] and top["grain"] in ("split", "dataset"):
        raise ConfigError(f"config: chunks scatters what grain: {top['grain']} joins. Remove one of the two.")
    for where, folds in [
        ("config", top["folds"]),
        *((f"config: selector {s.id!r}", s.folds) for s in selectors.values()),
    ]:
        if folds == 1:
            raise ConfigError(f"{where}: folds is 1, but a partition needs at least 2 parts. Use 0 for all rows once.")
    if splits["evaluation"] and not any(s.method.card.id == "all" for s in selectors.values()):
        if "all" in selectors:
            raise ConfigError(
                "config: selector 'all' is the baseline of all features, which every evaluation has. Rename yours."
            )
        selectors["all"] = _selector("all", {"method": "all"}, top, ci_tests)  # the baseline of every evaluation
    output = checked_output(top["output"])
    for name, spec in datasets.items():
        if spec["path"] is not None:
            check_apart(output, name, spec["path"])
    types = {str(name): spec["type"] for name, spec in top["ci_tests"].items()}
    return Config(
        output=output,
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
        printed=_printed(top["printed"]),
    )


def _check_size(raw: Any) -> None:
    """Refuse what YAML's anchors can make of a few lines: lists within themselves, and lists of millions of lists."""
    n_values, level = 0, [raw]
    for _ in range(MOST_DEPTH):
        n_values += len(level)
        if n_values > MOST_VALUES:
            raise ConfigError(
                f"config: more than {MOST_VALUES:,} values. An anchor (&name, *name) may repeat too much."
            )
        held = (v.values() if isinstance(v, Mapping) else v for v in level if isinstance(v, Mapping | list | tuple))
        level = list(itertools.islice(itertools.chain.from_iterable(held), MOST_VALUES + 1))
        if not level:
            return
    raise ConfigError(f"config: nested more than {MOST_DEPTH} deep. An anchor (&name, *name) may hold itself.")


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
    if spec["sha256"] is not None and not _SHA256.fullmatch(spec["sha256"]):
        raise ConfigError(f"{where}: sha256 is {shown(spec['sha256'])}, but must be 64 hexadecimal digits.")
    if spec["rows"] != DATASET["rows"][0] and not str(spec["source"]).startswith(_SIMULATED):
        raise ConfigError(f"{where}: rows says how many to simulate, and this table is not simulated. Remove it.")
    return spec


def _check_splits(splits: Mapping[str, Any], datasets: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse splits that ask for nothing, and test rows that do not go with them."""
    if not splits["final"] and not splits["evaluation"]:
        raise ConfigError("config: splits asks for nothing. Set final: true or evaluation: 5.")
    if splits["evaluation"] * splits["repeats"] > MOST_PARTS:
        raise ConfigError(f"config: splits.evaluation times splits.repeats is more than {MOST_PARTS:,}. Use fewer.")
    if splits["optimistic"] and not (splits["final"] and splits["evaluation"]):
        raise ConfigError(
            "config: splits.optimistic judges the final blanket on the evaluation splits. Set final: true and "
            "evaluation: 5, or remove it."
        )
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
    known, where = discover("blanketflow.ci"), f"config: ci_tests.{name}"
    if not isinstance(raw, Mapping):
        raise ConfigError(f"{where} needs a type, such as {{type: g2}}, but is {shown(raw)}.")
    if not isinstance(raw.get("type"), str):
        raise ConfigError(f"{where} needs a type{_found(raw, 'type')}. {did_you_mean(name, known)}")
    if name.endswith(PART):
        raise ConfigError(f"{where}: ids of CI tests do not end in {PART}, which results append. Rename it.")
    if name in known and raw["type"] != name:
        raise ConfigError(f"{where} has the type {shown(raw['type'])}, but the name of another CI test. Rename it.")
    # YAML reads a bare `null` as nothing, and `hsic` has an option of that name.
    options = {"null" if key is None else str(key): value for key, value in raw.items() if key != "type"}
    try:
        test = get_ci_test(raw["type"], **options)
        if "model" in test.parameters():
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
        datasets=shared["datasets"],
    )


def _check_names(selectors: Mapping[str, Selector], datasets: Mapping[str, Any]) -> None:
    """Refuse selectors of data sets that are not there."""
    for selector in selectors.values():
        unknown = [name for name in selector.datasets or () if name not in datasets]
        if unknown:
            raise ConfigError(
                f"config: selector {selector.id!r}: unknown data set {shown(unknown[0])}. "
                f"{did_you_mean(unknown[0], datasets)}"
            )


def _printed(raw: Any) -> dict[str, str]:
    """Return the files of printed results by id."""
    named = {} if raw is None else raw
    if not isinstance(named, Mapping) or not all(isinstance(path, str) for path in named.values()):
        raise ConfigError(f"config: printed must name files by id, such as {{paper: paper.yaml}}, but is {shown(raw)}.")
    return dict(entries("printed", named)) if named else {}


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
    wanted = method.default_test if asked is None else asked
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
        raise ConfigError(f"config: models must be a list of names, such as [tree, svm], but is {shown(asked)}.")
    _check_distinct("models", asked)
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
        raise ConfigError(f"config: metrics must be auto or a list of names, but is {shown(asked)}.")
    for name in asked:
        if not isinstance(name, str) or name not in METRICS:
            raise ConfigError(f"config: unknown metric {shown(name)}. {did_you_mean(name, METRICS)}")
    _check_distinct("metrics", asked)
    return asked


def _check_distinct(key: str, names: list[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"config: {key} lists {twice!r} twice. Remove one.")


def canonical_json(value: Any) -> str:
    """Return JSON with sorted keys and plain types: equal values give equal text.

    Examples
    --------
    >>> canonical_json({"b": 1.0, "a": (1, None)})
    '{"a":[1,null],"b":1.0}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
