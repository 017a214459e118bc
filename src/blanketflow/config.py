"""The configuration: every key declared once as data; checks, JSON schema and the docs table come from it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .aggregate import check_rule
from .ci import get_ci_test
from .ci.base import CITest
from .core.errors import BlanketflowError, ConfigError, did_you_mean
from .core.parameters import Parameter
from .core.registry import discover
from .evaluate.metrics import METRICS
from .models import get_model
from .selectors import get_method
from .selectors.base import Method
from .selectors.run import check_pair

IDENTIFIER = re.compile(r"[a-z0-9][a-z0-9-]*")
GRAINS = ("auto", "fold", "split", "dataset")

#: Top-level keys with their defaults.
TOP: dict[str, tuple[Any, Parameter]] = {
    "output": ("results", Parameter("text", "Folder of all results.")),
    "seed": (2026, Parameter("integer", "Every random number is derived from it.", at_least=0)),
    "datasets": (None, Parameter("any", "Data sets by id.")),
    "splits": ({}, Parameter("any", "Outer partitions: final blanket and honest evaluation.")),
    "folds": (5, Parameter("integer", "Inner folds whose blankets are aggregated; 0 for none.", at_least=0)),
    "fold_rows": (
        "train",
        Parameter("choice", "Rows of an inner fold: all but its part, or the part.", choices=("train", "part")),
    ),
    "ci_tests": ({}, Parameter("any", "Configured CI tests by id: a type and its options.")),
    "selectors": (None, Parameter("any", "Configured methods by id: a method and its options.")),
    "aggregate": (
        "best-blanket",
        Parameter("any", "best-blanket, frequency: share, union or intersection."),
    ),
    "models": (["tree", "svm"], Parameter("any", "Models that judge the blankets on test rows.")),
    "metrics": ("auto", Parameter("any", "auto, or a list of metrics.")),
    "grain": (
        "auto",
        Parameter("choice", "Work of a job: one fold, all folds of a split, all splits of a data set.", choices=GRAINS),
    ),
    "job_seconds": (
        5,
        Parameter("number", "With grain: auto, work is joined into one job while it takes about so long.", above=0),
    ),
    "chunks": (
        None,
        Parameter("integer", "Jobs that test a wide table's features on one fold.", at_least=1, nullable=True),
    ),
}
DATASET: dict[str, tuple[Any, Parameter]] = {
    "source": (None, Parameter("text", "sklearn:<name>, simulate:<name>, or network:<name or file>.", nullable=True)),
    "path": (None, Parameter("text", "A CSV, TSV, Parquet or npz file, or the URL of one.", nullable=True)),
    "target": (None, Parameter("text", "Column to predict.", nullable=True)),
    "target_path": (None, Parameter("text", "File of an npz table's target.", nullable=True)),
    "task": ("auto", Parameter("choice", "What to predict.", choices=("auto", "classification", "regression"))),
    "drop": ([], Parameter("names", "Columns to leave out.")),
    "categorical": ([], Parameter("names", "Numeric-looking columns that are labels.")),
    "groups": (None, Parameter("text", "Column whose rows stay together in a split.", nullable=True)),
    "missing": (
        "impute",
        Parameter(
            "choice", "Missing cells: impute on training rows, drop rows, error.", choices=("impute", "drop", "error")
        ),
    ),
    "rows": (1000, Parameter("integer", "Rows to simulate, of simulate: and network: sources.", at_least=2)),
    "test_rows": (0, Parameter("integer", "Last rows, kept to test on: with evaluation: 1 of splits.", at_least=0)),
}
SPLITS: dict[str, tuple[Any, Parameter]] = {
    "evaluation": (
        5,
        Parameter("integer", "Outer folds for the honest estimate; 0: none; 1: test on the test_rows.", at_least=0),
    ),
    "repeats": (1, Parameter("integer", "Repetitions of the outer folds.", at_least=1)),
    "final": (True, Parameter("flag", "Whether to find the final blanket on all rows.")),
    "stratify": (True, Parameter("flag", "Whether folds keep the class shares.")),
}
SELECTOR: dict[str, tuple[Any, Parameter]] = {
    "method": (None, Parameter("text", "Method id, or package.module:Class of a scikit-learn selector.")),
    "ci_test": (None, Parameter("text", "Id out of ci_tests, or of a test with its default options.", nullable=True)),
    "folds": (None, Parameter("integer", "Inner folds of this selector.", at_least=0, nullable=True)),
    "fold_rows": (None, Parameter("choice", "Rows of its folds.", choices=("train", "part"), nullable=True)),
    "aggregate": (None, Parameter("any", "Its aggregation rule.")),
    "grain": (None, Parameter("choice", "Its job grain.", choices=GRAINS, nullable=True)),
    "time_limit": (
        None,
        Parameter("number", "Most seconds of growing, and of shrinking, on one fold.", above=0, nullable=True),
    ),
    "max_tests": (
        None,
        Parameter("integer", "Most CI tests of growing, and of shrinking, on one fold.", at_least=1, nullable=True),
    ),
}


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
    options = {key: value for key, value in raw.items() if key != "type"}
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
        method_name=shared["method"],
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


def json_schema() -> dict[str, Any]:
    """Return the JSON schema (2020-12) of config.yaml, with every method's and test's options."""

    def closed(keys: Mapping[str, tuple[Any, Parameter]], **more: Any) -> dict[str, Any]:
        properties = {key: parameter.schema() for key, (_, parameter) in keys.items()} | more
        return {"type": "object", "additionalProperties": False, "properties": properties}

    def variants(package: str, key: str, shared: Mapping[str, Any]) -> list[dict[str, Any]]:
        out = []
        for identifier, found in discover(package).items():
            own = {name: parameter.schema() for name, parameter in found.parameters().items()}
            properties = {**shared, key: {"const": identifier, "description": found.card.summary}, **own}
            out.append({"type": "object", "required": [key], "additionalProperties": False, "properties": properties})
        plug_in = {"type": "object", "required": [key], "properties": {key: {"type": "string", "pattern": ":"}}}
        return [*out, plug_in]

    shared = {key: parameter.schema() for key, (_, parameter) in SELECTOR.items() if key != "method"}
    names = {"propertyNames": {"pattern": f"^{IDENTIFIER.pattern}$"}, "type": "object"}
    sections = {
        "datasets": {**names, "minProperties": 1, "additionalProperties": closed(DATASET)},
        "splits": closed(SPLITS),
        "ci_tests": {**names, "additionalProperties": {"oneOf": variants("blanketflow.ci", "type", {})}},
        "selectors": {
            **names,
            "minProperties": 1,
            "additionalProperties": {"oneOf": variants("blanketflow.selectors", "method", shared)},
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "blanketflow configuration",
        "required": ["datasets", "selectors"],
        **closed(TOP, **sections),
    }


def canonical_json(value: Any) -> str:
    """Return JSON with sorted keys and plain types: equal values give equal text.

    Examples
    --------
    >>> canonical_json({"b": 1.0, "a": (1, None)})
    '{"a":[1,null],"b":1.0}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
