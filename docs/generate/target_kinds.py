"""The tables of docs/target-kinds.md, kinds of targets and what is for each; `make docs` writes them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from blanketflow.ci import get_ci_test
from blanketflow.ci.choice import OF_FURTHER_KINDS
from blanketflow.core.cards import (
    CLASSIFICATION,
    COUNT,
    FURTHER_KINDS,
    ORDERED,
    POSITIVE,
    REGRESSION,
    SHARE,
    SURVIVAL,
    TARGET_KINDS,
    TASKS,
)
from blanketflow.core.metrics import METRICS
from blanketflow.core.registry import discover
from blanketflow.models import DEFAULT_MODELS
from blanketflow.selectors.compatibility import reads_as_number, why_no_target
from blanketflow.selectors.judged.yardstick import ERROR, LOG_LOSS, NORMAL_SCORES, OF_KINDS, R2, SPOKEN
from blanketflow.targets import get_target_kind

from .markdown import between, table


class _Words(NamedTuple):
    """What the column holds, how a config names it, and what `y` is in Python."""

    holds: str
    config: str
    y: str


_WORDS = {
    CLASSIFICATION: _Words(
        "classes without an order: yes and no, species", "`target: outcome`; found by itself", "labels"
    ),
    REGRESSION: _Words(
        "numbers without a special form: a blood pressure, a yield",
        "`target: pressure`; found by itself",
        "numbers",
    ),
    SURVIVAL: _Words(
        "the time to an event, with an end of observation in some rows",
        "`target: {time: days, event: died}`, with `entry` and `cause` if needed",
        "a structured array of a boolean and a number, a frame of two columns, or a pair `(time, event)`",
    ),
    COUNT: _Words(
        "whole numbers from 0: visits, accidents, reads",
        "`target: visits`, `target_kind: count`; or `target: {count: visits, exposure: years}`",
        'counts, or `{"count": counts, "exposure": years}`',
    ),
    ORDERED: _Words(
        "three or more classes with an order: none, mild, severe",
        "`target: {column: pain, order: [none, mild, severe]}`, `target_kind: ordered`",
        "a Series of an ordered categorical type, or whole numbers",
    ),
    SHARE: _Words(
        "numbers from 0 to 1, both included: a covered area", "`target: cover`, `target_kind: share`", "numbers"
    ),
    POSITIVE: _Words(
        "numbers above 0 whose spread grows with their size: costs, durations without censoring",
        "`target: cost`, `target_kind: positive`",
        "numbers",
    ),
}
#: What `auto` judges sets by.
_JUDGED = {CLASSIFICATION: (ERROR, LOG_LOSS), REGRESSION: (R2, NORMAL_SCORES)}


def forms() -> str:
    """Return the table of kinds: what the column holds, and how it is named.

    Examples
    --------
    >>> "| `share` | numbers from 0 to 1" in forms()
    True
    """
    head = ["`target_kind`", "the column holds", "in a config", "`y` in Python"]
    return table(head, [(f"`{kind}`", *_WORDS[kind]) for kind in TARGET_KINDS])


def parts() -> str:
    """Return the table of what is for each kind: CI tests, models, metrics, and what `auto` judges by.

    Examples
    --------
    >>> "[poisson](models/poisson.md), [lightgbm](models/lightgbm.md) | `poisson-deviance`" in parts()
    True
    """
    rows = []
    for kind in TARGET_KINDS:
        tests = [name for name, found in discover("blanketflow.ci").items() if kind in found.card.tasks]
        models = [name for name, found in discover("blanketflow.models").items() if kind in found.card.tasks]
        metrics = [f"`{metric.id}`" for metric in METRICS.values() if kind in metric.tasks]
        judged = " or ".join(SPOKEN[metric][1] for metric in _JUDGED.get(kind) or (OF_KINDS[kind],))
        said = "[all](tests/index.md)" if kind in TASKS else _links("tests", tests)
        rows.append((f"`{kind}`", said, _links("models", _in_order(kind, models)), ", ".join(metrics), judged))
    return table(["kind", "CI tests", "models", "metrics", "`auto` judges by"], rows)


def methods() -> str:
    """Return the table of what methods do with a target of a further kind.

    Examples
    --------
    >>> "| read it as a number | " in methods()
    True
    """
    tested, read, refused = "test it by regressions of its kind", "read it as a number", "are refused"
    found: dict[str, list[str]] = {tested: [], read: [], refused: []}
    for name, method in discover("blanketflow.selectors").items():
        test = get_ci_test(OF_FURTHER_KINDS[0]) if method.default_test else None
        if method.card.family == "reference":
            continue
        if any(why_no_target(method(), test, kind) for kind in FURTHER_KINDS):
            found[refused].append(name)
        else:
            found[read if reads_as_number(method(), test) else tested].append(name)
    return table(["methods that", ""], [(what, _links("methods", names)) for what, names in found.items()])


def _in_order(kind: str, models: list[str]) -> list[str]:
    """Return models with those that `init` writes, or that are the default, first."""
    first = DEFAULT_MODELS if kind in TASKS else get_target_kind(kind).models
    return sorted(models, key=lambda name: (first.index(name) if name in first else len(first), name))


def _links(folder: str, names: list[str]) -> str:
    return ", ".join(f"[{name}]({folder}/{name}.md)" for name in names)


def page_text(present: str) -> str:
    """Return docs/target-kinds.md with its tables."""
    for name, make in (("forms", forms), ("parts", parts), ("methods", methods)):
        present = between(present, name, make())
    return present


def main() -> None:
    """Write the tables into docs/target-kinds.md."""
    path = Path(__file__).parents[1] / "target-kinds.md"
    path.write_text(page_text(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
