"""Turns the arguments of `compare` into entries of a configuration: tables, selectors and CI tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...ci.base import CITest
from ...ci.choice import AUTO
from ...core.errors import BlanketflowError, ConfigError
from ...core.prior import KEYS, as_texts
from ...core.registry import discover
from ...core.table import Column
from ...data.in_memory import SOURCE, columns_in_memory
from ...selectors.external import WRAPPED
from ..estimator import MarkovBlanketSelector
from ..frames import own_names

#: What a comparison has for all selectors alike, so that one of them cannot have it differently.
_OF_ALL = ("task", "random_state", "missing", "imputations", "weights_are", "max_rows")
#: What a selector takes from the comparison where it is left at its default, by the key of a configuration.
_OWN = {
    "n_folds": "folds",
    "fold_rows": "fold_rows",
    "aggregate": "aggregate",
    "time_limit": "time_limit",
    "max_tests": "max_tests",
    "confirm": "confirm",
    "confirm_splits": "confirm_splits",
    **{key: key for key in KEYS},
}
#: What may stand beside the target of a data set, in this order where it is given as one of several.
_PARTS = ("groups", "weights", "within")


@dataclass(frozen=True)
class DataSet:
    """A data set at hand: its id, its spec as a configuration has it, all its columns, and names that are not text."""

    name: str
    spec: dict[str, Any]
    columns: Sequence[Column]
    own_names: dict[str, Any]


def data_sets(
    X: Any, y: Any, rows: Mapping[str, Any], weights_are: str, name: str, of_all: Mapping[str, Any]
) -> list[DataSet]:
    """Return the data sets that `compare` is given.

    `rows` has groups, weights and strata by these names, and `of_all` the keys of a configuration that all data sets
    have.
    """
    asked = {key: as_texts(value) if key in KEYS else value for key, value in of_all.items() if value is not None}
    if not isinstance(X, Mapping):
        return [_data_set(name, (X, y, *map(rows.get, _PARTS)), weights_are, asked)]
    if any(part is not None for part in (y, *rows.values())):
        raise ConfigError(
            "compare: with a mapping of data sets, y, groups, weights and within belong in it: "
            "{name: (X, y, groups, weights, within)}. None stands for what a data set does not have."
        )
    for name, parts in X.items():
        if not isinstance(parts, tuple) or not 2 <= len(parts) <= 2 + len(_PARTS):
            raise ConfigError(
                f"compare: data set {name!r} must be (X, y), or begin so and have groups, weights and within, in this "
                "order."
            )
    return [_data_set(name, parts, weights_are, asked) for name, parts in X.items()]


def _data_set(name: str, parts: Sequence[Any], weights_are: str, of_all: Mapping[str, Any]) -> DataSet:
    columns, target, names = columns_in_memory(name, *parts)
    spec = {"source": SOURCE, "target": target, **names, **of_all}
    spec |= {"weights_are": weights_are} if "weights" in names else {}
    return DataSet(name, spec, columns, own_names(parts[0]))


def selectors_and_tests(selectors: Any, ci_tests: Mapping[str, Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the sections `selectors` and `ci_tests` of a configuration.

    Raises `ConfigError` if two selectors have one id, or one has a parameter out of range, or a seed or task of its
    own.

    Examples
    --------
    >>> selectors_and_tests(["mrmr", {"strict": {"method": "gs", "alpha": 0.001}}], None)[0]
    {'mrmr': {'method': 'mrmr'}, 'strict': {'method': 'gs', 'alpha': 0.001}}
    """
    tests = {name: _spec_of_test(test) for name, test in (ci_tests or {}).items()}
    specs: dict[str, Any] = {}
    for name, asked in _named(selectors):
        if name in specs:
            raise ConfigError(f"compare: two selectors are called {name!r}. Name them: {{id: selector, id: selector}}.")
        specs[name] = _spec(name, asked, tests)
    return specs, tests


def _spec_of_test(test: Any) -> Any:
    return {"type": test.card.id, **test.options()} if isinstance(test, CITest) else test


def _named(selectors: Any) -> Iterable[tuple[str, Any]]:
    """Yield each selector with its id: by default the id of its method, with a number if it is taken."""
    if isinstance(selectors, str) or not isinstance(selectors, Iterable):
        raise ConfigError(f"compare: selectors must be a list or a mapping, but is {selectors!r}.")
    if isinstance(selectors, Mapping):
        yield from selectors.items()
        return
    selectors = list(selectors)
    taken = {name for asked in selectors if isinstance(asked, Mapping) for name in asked}
    for asked in selectors:
        if isinstance(asked, Mapping):
            yield from asked.items()
            continue
        first, n = _identifier(asked), 1
        name = first
        while name in taken:
            n += 1
            name = f"{first}-{n}"
        taken.add(name)
        yield name, asked


def _identifier(asked: Any) -> str:
    """Return the id of a method, or the name of a class written as one."""
    if isinstance(asked, MarkovBlanketSelector):
        return asked.method_class.card.id
    called = asked.rpartition(":")[2] if isinstance(asked, str) else type(asked).__name__
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_", "-", called).lower()


def _spec(name: str, asked: Any, tests: dict[str, Any]) -> Any:
    if isinstance(asked, str):
        return {"method": asked}
    if isinstance(asked, MarkovBlanketSelector):
        return _spec_of_ours(name, asked, tests)
    if hasattr(asked, "fit") and not isinstance(asked, type):
        return {"method": WRAPPED, "selector": asked}
    return asked  # a spec; anything else is refused where all specs are checked


def _spec_of_ours(name: str, asked: MarkovBlanketSelector, tests: dict[str, Any]) -> dict[str, Any]:
    for parameter in _OF_ALL:
        if getattr(asked, parameter) != getattr(MarkovBlanketSelector, parameter):
            raise ConfigError(f"compare: selector {name!r} has a {parameter} of its own. Give it to compare.")
    try:
        method, test = asked.configured()
    except BlanketflowError as error:
        raise ConfigError(f"compare: selector {name!r}: {error}") from error
    own = type(method)
    is_listed = discover("blanketflow.selectors").get(own.card.id) is own
    spec = {"method": own.card.id if is_listed else f"{own.__module__}:{own.__qualname__}", **method.options()}
    spec |= {key: v for p, key in _OWN.items() if (v := getattr(asked, p)) != getattr(MarkovBlanketSelector, p)}
    spec |= {"min_effect": effect} if (effect := getattr(asked, "min_effect", None)) else {}
    if test is None:
        return spec
    if test == AUTO:
        return {**spec, "ci_test": AUTO}
    is_plain = isinstance(asked.ci_test, str) and all(getattr(asked, s) is None for s in method.test_shorthands)
    return {**spec, "ci_test": asked.ci_test if is_plain else _entered(name, test, tests)}


def _entered(name: str, test: CITest, tests: dict[str, Any]) -> str:
    """Enter a configured test among the CI tests, once if several selectors have an equal one; return its id."""
    spec = _spec_of_test(test)
    known = next((identifier for identifier, other in tests.items() if other == spec), None)
    if known is not None:
        return known
    identifier = f"{test.card.id}-of-{name}"
    tests[identifier] = spec
    return identifier
