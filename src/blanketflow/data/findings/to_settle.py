"""Findings as things to settle: the most serious first, each with the key of a data set that settles it."""

from __future__ import annotations

import re
import shlex
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...core.column_checks import MAKE_NUMBERS
from ...core.in_yaml import in_yaml
from ...core.printable import printable
from .finding import IN_WORDS, SERIOUS, SHOWN, Finding

#: A key that an advice names with its value, and when, such as ``If they are, set missing_values: [nd]``.
_ADVISED = re.compile(r'(?:\bIf ([^,;.]+), )?\b[Ss]et ([a-z_]+: (?:\[[^\]]*\]|\{[^}]*\}|"[^"]*"|[\w-]+))')
#: A target that an advice makes of several columns, which a command takes in place of --target.
_TARGET = re.compile(r"\bwrite target: (\{[^}]*\})")
#: Columns of a key that is written out.
MOST_COLUMNS = 20


@dataclass(frozen=True)
class _Rule:
    """What settles a kind of finding: a key that takes its columns, and when; `is_sure` where that is no question."""

    key: str = ""
    when: str = ""
    is_sure: bool = False


#: Kinds of findings that ask for something, the most serious first. What an advice names comes before a rule's key.
RULES = {
    "orient": _Rule(is_sure=True),
    "below-detection": _Rule(is_sure=True),
    "above-detection": _Rule(is_sure=True),
    "follow-up": _Rule("drop", is_sure=True),
    "leakage": _Rule("drop", "if known only with or after the target"),
    "identifier": _Rule("drop", is_sure=True),
    "number": _Rule("categorical", "if these are labels"),
    "suspected-marker": _Rule(),
    "count-as-classes": _Rule(),
    "target-kind": _Rule(),
    "date": _Rule("drop", is_sure=True),
    "text": _Rule("drop", is_sure=True),
    "group": _Rule("groups", "if rows of one value are not independent"),
    "place": _Rule("groups", "if rows of one value are not independent"),
    "few-rows": _Rule(),
    "spelling": _Rule(),
    "rounding": _Rule("drop", "unless they can be written with all digits"),
    "outlier": _Rule(),
    "imbalance": _Rule(),
    "equal-rows": _Rule(),
    "row-order": _Rule(),
    "weights": _Rule(),
    "wide": _Rule(),
    "duplicate": _Rule("drop", "if you would not measure them"),
    "near-copy": _Rule("drop", "if you would not measure them"),
    "code": _Rule("categorical", "if these are labels without an order"),
}


@dataclass(frozen=True)
class ToSettle:
    """One kind of finding that asks for something.

    `key` is the key of a data set that settles it, as in a config, such as ``drop: [row]``; empty if none does. It is
    set under the condition `when`, for the reader to judge; `is_sure` where there is nothing to judge. `target` is what
    makes a target of several columns, such as ``{time: days, event: died}``, and comes before the key.
    """

    kind: str
    columns: tuple[str, ...]
    said: str
    advice: str
    key: str
    when: str
    is_sure: bool
    target: str = ""

    @property
    def option(self) -> str:
        """The key as a command takes it, such as ``drop=[row]``."""
        return self.key.replace(": ", "=", 1)

    @property
    def sentence(self) -> str:
        """What was seen, and what settles it."""
        if not self.key:
            return f"{self.said}. {self.advice}"
        if self.target:
            return f"{self.said}: target={self.target} searches the time to the event; to keep classes, {self.option}"
        return f"{self.said}: {self.when + ', ' if self.when else ''}{self.option}"


def seriousness(finding: Finding) -> int:
    """Return a number by which findings are sorted, the most serious first; those that ask for nothing come last."""
    return list(RULES).index(finding.kind) if finding.kind in RULES else len(RULES)


def to_settle(findings: Iterable[Finding], n_features: int) -> list[ToSettle]:
    """Return what to settle, the most serious first, one entry for each kind.

    Of a column that a sure key drops nothing else is said. No key drops all of the features.

    Examples
    --------
    >>> leak = Finding("leakage", ("a",), "a alone explains all of the target", "Drop it.")
    >>> [(one.sentence, one.is_sure) for one in to_settle([leak], 9)]
    [('a alone explains all of the target: if known only with or after the target, drop=[a]', False)]
    """
    by: dict[str, list[Finding]] = {}
    for finding in sorted(findings, key=seriousness):
        if finding.kind in RULES:
            by.setdefault(finding.kind, []).append(finding)
    told: list[ToSettle] = []
    dropped: set[str] = set()
    for kind, found in by.items():
        left = [finding for finding in found if not finding.columns or not dropped.issuperset(finding.columns)]
        if left:
            told.append(_settled(kind, left, dropped, n_features))
            if told[-1].is_sure and told[-1].key.startswith("drop:"):
                dropped |= set(told[-1].columns)
    return told


def _settled(kind: str, found: Sequence[Finding], dropped: Collection[str], n_features: int) -> ToSettle:
    rule, first = RULES[kind], found[0]
    columns = tuple(dict.fromkeys(n for finding in found for n in finding.columns if n not in dropped))
    said = first.message + (f"; {len(found) - 1} more such" if len(found) > 1 else "")
    advised = _ADVISED.search(first.advice)
    if advised:
        key, when = advised[2], f"if {advised[1]}" if advised[1] else ""
    else:
        key, when = _with_columns(rule.key, columns, dropped, n_features), rule.when
    target = _TARGET.search(first.advice)
    is_sure = bool(key) and rule.is_sure
    return ToSettle(kind, columns, said, first.advice, key, when, is_sure, target[1] if target else "")


def _with_columns(key: str, columns: Sequence[str], dropped: Collection[str], n_features: int) -> str:
    if not key or not columns or (key == "drop" and len(columns) + len(dropped) >= n_features):
        return ""
    if key == "groups":
        return f"{key}: {in_yaml(columns[0])}"
    more = len(columns) - MOST_COLUMNS
    return f"{key}: {in_yaml(list(columns))}" if more <= 0 else ""


Keys = Literal["config", "options", "arguments"]
#: Lines that repeat what was found in a table beside an answer.
MOST_LINES = 3


def in_lines(findings: Iterable[Mapping[str, Any]], keys: Keys = "config") -> list[str]:
    """Return the serious findings of a card, which change an answer, in at most three lines with the keys that settle.

    The keys are written as in a config, as options of a command, or as arguments in Python.

    Examples
    --------
    >>> in_lines([Finding("identifier", ("a",), "a may number the rows", "List under drop.").as_dict()])
    ['look at the table first: suspected identifiers (a): set drop: [a]. blanketflow inspect says why']
    """
    n_columns: Counter[str] = Counter()
    read = []
    for one in findings:
        read.append(Finding(one["kind"], tuple(one["columns"]), one["message"], one["advice"]))
        n_columns[one["kind"]] += one["n_columns"]
    found = [one for one in to_settle(read, sys.maxsize) if one.kind in SERIOUS]
    names = [_named(one, n_columns[one.kind]) for one in found]
    lines = [_line(one, name, keys) for one, name in zip(found, names, strict=True)]
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], f"also {'; '.join(names[MOST_LINES - 1 :])}"]
    if lines:
        lines[0] = f"look at the table first: {lines[0]}"
        lines[-1] += "" if keys == "arguments" else ". blanketflow inspect says why"
    return lines


def _named(one: ToSettle, n_columns: int) -> str:
    shown, more = ", ".join(map(printable, one.columns[:SHOWN])), n_columns - SHOWN
    return f"{IN_WORDS[one.kind]} ({shown}{f' and {more} more' if more > 0 else ''})"


#: What settles findings in Python for which there is no argument.
_IN_PYTHON = {
    "number": MAKE_NUMBERS,
    "date": "Make numbers of them, for example by pandas.to_datetime(X[...]).astype('int64').",
    "spelling": "If they mean the same, make them equal, for example by .str.strip().str.lower() of pandas.",
}


def _in_python(one: ToSettle) -> str:
    """Return what settles it in Python."""
    key, _, value = (one.key or RULES[one.kind].key).partition(": ")
    when = f": {one.when}, " if one.when else ": "
    exclude = f"exclude={list(one.columns)}" if len(one.columns) <= MOST_COLUMNS else "exclude them"
    if one.kind in _IN_PYTHON:
        return f". {_IN_PYTHON[one.kind]}"
    if key == "groups":
        return f"{when}groups=X[{one.columns[0]!r}], {exclude}"
    if key == "target_kind":
        return f"{when}target_kind={value!r}"
    return f"{when}{exclude}" if key == "drop" and one.columns else f". {one.advice}"


def _line(one: ToSettle, name: str, keys: Keys) -> str:
    if keys == "arguments":
        return f"{one.said}{_in_python(one)}"
    if not one.key:
        return name
    as_options = keys == "options"
    how = f"--data-set {shlex.quote(one.option)}" if as_options else f"set {one.key}"
    if one.target:
        key = f"--data-set {shlex.quote(f'target={one.target}')}" if as_options else f"set target: {one.target}"
        how = f"{key} in place of {'--target' if as_options else 'target'}, or {how}"
    return f"{name}: {one.when + ', ' if one.when else ''}{how}"
