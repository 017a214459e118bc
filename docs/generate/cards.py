"""A page for each method, CI test and model, and an index of each: what the card and the docstring say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from blanketflow.api.arguments import sections
from blanketflow.ci.choice import AUTO
from blanketflow.config.keys import SELECTOR
from blanketflow.core.cards import KINDS, TASKS, Card
from blanketflow.core.parameters import Configurable, Parameter
from blanketflow.core.registry import discover
from blanketflow.selectors.base import Method

from .markdown import facts, fenced, in_yaml, linked, options, own_options, table
from .rates import rates_section

#: Families of methods in the order of the index, with what their index says of them.
FAMILIES = {
    "causal": "Conditional independence",
    "filter": "Rankings",
    "kernel": "Kernels",
    "wrapper": "Wrappers around a model",
    "reference": "To compare with",
}


def card_pages() -> dict[str, str]:
    """Return the pages of all methods, CI tests and models by path."""
    methods, tests, models = (discover(f"blanketflow.{package}") for package in ("selectors", "ci", "models"))
    return {
        "methods/index.md": _methods_index(methods),
        **{f"methods/{name}.md": method_page(found, tests) for name, found in methods.items()},
        "tests/index.md": _index(
            "CI tests",
            "The conditional independence tests that methods use. [CI tests measured](../ci-tests.md) compares error "
            "rates and power, and [capabilities](../capabilities.md#ci-tests) lists supported options.",
            "ci",
            tests,
            {
                "columns": lambda card: _kinds(card, "any"),
                "p-values": lambda card: card.p_values,
                "measures": lambda card: ", ".join(card.measures),
            },
        ),
        **{f"tests/{name}.md": test_page(found, methods) for name, found in tests.items()},
        "models/index.md": _index(
            "Models",
            "Models score blankets on test rows (`models:`). `ppi`, `cpi` and the wrapper methods fit them too. Models "
            "of another kind of target are skipped. [Adding a model](../extending.md#a-model) says what they return.",
            "models",
            models,
            {"targets": lambda card: ", ".join(card.tasks)},
        ),
        **{f"models/{name}.md": model_page(found) for name, found in models.items()},
    }


def method_page(method: type[Method], tests: Mapping[str, type[Configurable]]) -> str:
    """Return the page of a method."""
    card = method.card
    known = {
        "CI test": f"{_default_test(method)} by default, or any that measures {method.needs}"
        if method.default_test
        else "",
        "Anytime": "yes" if method.anytime else "",
    }
    test = f", ci_test: {method.default_test}" if method.default_test else ""
    config = f"selectors:\n  mine: {{method: {card.id}{test}{_example_option(method)}}}"
    return _page(method, _card_facts(card, "") | known, config)


def test_page(test: type[Configurable], methods: Mapping[str, type[Method]]) -> str:
    """Return the page of a CI test."""
    card = test.card
    kinds = f"; up to {card.max_classes} levels" if card.max_classes else ""
    users = [f"[{name}](../methods/{name}.md)" for name, found in methods.items() if found.default_test == card.id]
    known = {
        "p-values": card.p_values,
        "Effect size": card.effect,
        "Symmetric": "yes" if card.symmetric else "no: the target is the second variable",
        "Measures": ", ".join(card.measures),
        "Default of": ", ".join(users),
    }
    config = f"ci_tests:\n  mine: {{type: {card.id}{_example_option(test)}}}"
    columns = {"Columns": _kinds(card, "any") + kinds}
    return _page(test, _card_facts(card, "any") | known | columns, config, rates_section(card.id))


def model_page(model: type[Configurable]) -> str:
    """Return the page of a model."""
    config = f"models: [{model.card.id}]"
    return _page(model, _card_facts(model.card, "any"), config)


def _page(found: type[Configurable], known: Mapping[str, str], config: str, measured: str = "") -> str:
    card = found.card
    text, parts = sections(found)
    declared = own_options(found)
    shared = _shared_by(found)
    own = {name: option for name, option in declared.items() if name not in shared}
    blocks = [
        f"# {card.id}",
        f"**{card.name}.** {card.summary}",
        facts(known),
        "## What it does",
        _prose(text),
        *([_prose(parts["Notes"])] if "Notes" in parts else []),
        "## Options",
        options(own) if own else "",
        _links_to_shared({name: declared[name][0] for name in shared}),
        "[Options of every selector](index.md#options-of-every-selector)." if card.family in FAMILIES else "",
        measured,
        "## Example",
        fenced(config, "yaml"),
        _example(found, parts["Examples"]),
        "## Reference",
        linked(card.reference),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def shared_options(package: str) -> dict[str, Parameter]:
    """Return the options that several classes of a package declare with the same values and explanation, by name."""
    declared = [item for found in discover(package).values() for item in found.parameters().items()]
    times = Counter((name, parameter.wanted(), parameter.doc) for name, parameter in declared)
    most: dict[str, tuple[int, Parameter]] = {}
    for name, parameter in declared:
        n = times[name, parameter.wanted(), parameter.doc]
        if n > max(1, most.get(name, (0,))[0]):
            most[name] = n, parameter
    return {name: parameter for name, (_, parameter) in sorted(most.items())}


def _shared_by(found: type[Configurable]) -> list[str]:
    """Return the options of a class that its index explains."""
    package = {"model": "models", "ci-test": "ci"}.get(found.card.family, "selectors")
    shared = shared_options(f"blanketflow.{package}")
    return [
        name
        for name, own in found.parameters().items()
        if name in shared and (shared[name].wanted(), shared[name].doc) == (own.wanted(), own.doc)
    ]


def _links_to_shared(defaults: Mapping[str, Any]) -> str:
    if not defaults:
        return ""
    listed = ", ".join(f"`{name}: {in_yaml(default)}`" for name, default in defaults.items())
    return f"[Shared options](index.md#shared-options): {listed}."


def _shared_section(package: str) -> str:
    shared = shared_options(f"blanketflow.{package}")
    if not shared:
        return ""
    rows = [(f"`{name}`", parameter.wanted(), parameter.doc) for name, parameter in shared.items()]
    return f"## Shared options\n\n{table(['option', 'values', 'meaning'], rows)}\n\n"


def _card_facts(card: Card, any_kind: str) -> dict[str, str]:
    return {
        "Family": card.family if card.family in FAMILIES else "",
        "Ranks by": f"`{card.formula}`" if card.formula else "",
        "Importance": _importance(card) if card.family in FAMILIES else "",
        "Guarantee": card.guarantee if card.family != "model" else "",
        "Cost": card.cost,
        "Columns": _kinds(card, any_kind),
        "Tasks": "" if card.tasks == TASKS else ", ".join(card.tasks),
    }


def _importance(card: Card) -> str:
    """Return what importance means, or a link to the index where several methods share it."""
    if card.means_by_importance in _shared_importances():
        return f"[{card.means_by_importance.split(',')[0]}](index.md#importance)"
    return card.means_by_importance


def _shared_importances() -> list[str]:
    means = [found.card.means_by_importance for found in discover("blanketflow.selectors").values()]
    return sorted(text for text, n in Counter(means).items() if n > 1 and text)


def _kinds(card: Card, any_kind: str) -> str:
    return any_kind if card.kinds == KINDS else ", ".join(card.kinds)


def _default_test(method: type[Method]) -> str:
    if method.default_test is None:
        return "none"
    with_options = ", ".join(f"`{name}: {in_yaml(value)}`" for name, value in method.default_test_options.items())
    return _test_link(method.default_test) + (f" with {with_options}" if with_options else "")


def _test_link(name: str) -> str:
    page = "ci-tests.md#which-test-auto-takes" if name == AUTO else f"tests/{name}.md"
    return f"[{name}](../{page})"


def _example_option(found: type[Configurable]) -> str:
    """Return the first option that has a default, as one writes it in a config."""
    shown = {name: default for name, default in found.defaults().items() if isinstance(default, int | float | str)}
    name = next(iter(shown), None)
    return f", {name}: {in_yaml(shown[name])}" if name else ""


def _prose(text: str) -> str:
    return text.replace("``", "`")


def _example(found: type[Configurable], text: str) -> str:
    """Return an Examples section: its sentences as text, its code as blocks that run by themselves."""
    blocks = [block.strip("\n") for block in text.split("\n\n")]
    first = next(at for at, block in enumerate(blocks) if block.startswith(">>>"))
    if f"{found.__name__}(" in text.replace(f"bf.{found.__name__}(", ""):
        blocks[first] = f">>> from {found.__module__} import {found.__name__}\n{blocks[first]}"
    return "\n\n".join(fenced(block, "python") if block.startswith(">>>") else _prose(block) for block in blocks)


def _index(
    title: str,
    text: str,
    package: str,
    found: Mapping[str, type[Configurable]],
    facts_of: Mapping[str, Callable[[Card], str]] = {},
) -> str:
    rows = [
        (f"[{name}]({name}.md)", cls.card.summary, *(fact(cls.card) for fact in facts_of.values()))
        for name, cls in found.items()
    ]
    listed = table(["id", "what", *facts_of], rows)
    return f"# {title}\n\n{text}\n\n{listed}\n\n{_shared_section(package)}{_toctree(found)}\n"


def _short(guarantee: str) -> str:
    """Return a guarantee without its conditions, which the page of the method states.

    Examples
    --------
    >>> _short("exact Markov blanket with exact tests and faithful data; a superset without")
    'exact Markov blanket'
    """
    return re.split(r";|, exact|, if | if | with exact ", guarantee)[0]


def _toctree(names: Any) -> str:
    return fenced("\n".join([":hidden:", "", *names]), "{toctree}")


def _methods_index(found: Mapping[str, type[Configurable]]) -> str:
    parts = [
        "# Methods",
        "Guarantees hold under the conditions that the page of each method states, such as exact tests, faithful data "
        "and no limit on conditioning sets. When a limit on time or tests is reached, anytime methods return what they "
        "have found, and others return nothing. See also [choosing a method](../choosing.md), and [which options each "
        "method supports](../capabilities.md).",
    ]
    for family, title in FAMILIES.items():
        rows = [
            (f"[{name}]({name}.md)", cls.card.name, _short(cls.card.guarantee))
            for name, cls in found.items()
            if cls.card.family == family
        ]
        parts += [f"## {title}", table(["id", "name", "guarantee"], rows)]
    keys = ", ".join(f"`{key}`" for key in SELECTOR if key != "method")
    parts += [
        "## Options of every selector",
        f"[Configuration keys](../config.md#selectors) explains {keys}.",
        "In Python these are arguments too, except `datasets` and `grain`; `folds` is called `n_folds`, and there are "
        "`task`, `random_state` and `n_jobs`.",
        _shared_section("selectors").strip(),
        "## Importance",
        "Larger is more important; values are comparable within one selector only. Several methods share these scales:",
        "\n".join(f"- {text}" for text in _shared_importances()),
        _toctree(found),
    ]
    return "\n\n".join(parts) + "\n"
