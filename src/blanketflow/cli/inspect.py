"""``blanketflow inspect``: describe a table before a search."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..core.in_yaml import in_yaml
from ..core.printable import redacted_text
from .options import AsJson, DataSet, Table, Target, check_page, dataset_spec, files, write_page
from .terminal import heading, show, show_json, show_table, width

if TYPE_CHECKING:
    from ..api.inspection import Columns, ColumnSummary, Inspection, Suitability
    from ..data.findings.to_settle import ToSettle

#: How many columns are listed, first and with --all; JSON has them all.
_FIRST, _SHOWN = 8, 40
#: Characters of examples of a column's values.
_LONGEST = 40
#: How many things to settle the first screen names.
_SETTLED = 3
#: The classes of estimated times: upper limit in CPU seconds, and name.
_TIMES = ((1.0, "under a second"), (10.0, "under 10 s"), (60.0, "under a minute"), (3600.0, "under an hour"))


def inspect(
    table: Table,
    target: Target = None,
    data_set: DataSet = None,
    everything: Annotated[
        bool, typer.Option("--all", help="print all columns and findings, and the methods with their cost")
    ] = False,
    page: Annotated[
        Path | None, typer.Option("--html", help="write all of it as a page to this file", autocompletion=files)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Describe a table before a search.

    Prints what the table is, what to settle first, each with the key that settles it, and the command that follows.
    Without --target it guesses which columns may be the target, unless --data-set or the source names one.
    """
    from ..api.inspection import inspect_columns, inspect_table

    check_page(page)
    spec = dataset_spec(table, target, data_set or ())
    asked = _Asked(redacted_text(table), target, data_set or (), everything)
    columns = inspect_columns(spec, drawn=page is not None) if target is None else None
    if columns is not None and columns.target is None:
        _without_target(asked, columns, page, as_json)
        return
    seen = inspect_table(spec)
    if page is not None:
        write_page(page, asked.page(seen))
    if as_json:
        show_json(seen.as_dict())
    elif everything:
        _show_all(seen, asked)
    else:
        _show(seen, asked)


class _Asked:
    """What a user typed, from which the commands that follow are made."""

    def __init__(self, table: str, target: str | None, more: Sequence[str], everything: bool) -> None:
        self.table, self.target, self.more, self.everything = table, target, list(more), everything

    def command(self, name: str, settle: Sequence[ToSettle] = (), target: str | None = None, own: str = "") -> str:
        """Return a command on the same table, with the keys of what is settled and options of its own."""
        target = self.target if target is None else target
        words = ["blanketflow", name, self.table, *(["--target", target] if target else [])]
        line = shlex.join(words) + own
        data_set = self._data_set([one for one in settle if one.is_sure])
        return f"{line} --data-set {shlex.join(data_set)}" if data_set else line

    def _data_set(self, settle: Sequence[ToSettle]) -> list[str]:
        """Return the keys that the user gave, with those that settle; lists of one key are joined."""
        from ..api.select_command import settings

        if not settle:
            return self.more
        given = settings(self.more)
        for one in settle:
            for key, value in settings([one.option]).items():
                held = given.get(key)
                given[key] = [*held, *(v for v in value if v not in held)] if isinstance(held, list) else value
        return [f"{key}={value if value == ',' else in_yaml(value)}" for key, value in given.items()]

    def advised(self, seen: Inspection) -> list[tuple[str, str]]:
        """Return purposes and commands: of what is advised, and of a config for the whole workflow."""
        found = []
        for advice in seen.advice:
            settings = " ".join(f"{key}={in_yaml(value)}" for key, value in advice.options.items())
            own = f" --method {advice.method}" if advice.method != "auto" else ""
            own += f" --set {settings}" if settings else ""
            command = self.command("select", seen.to_settle, own=own)
            found.append((f"For {advice.want}, {advice.method}: {advice.why}.", command))
        why = "For several methods with scores on rows that they did not see, a config for the whole workflow:"
        return [*found, (why, self.command("init", [one for one in seen.to_settle if one.kind == "date"]))]

    def page(self, seen: Inspection) -> str:
        """Return the page of a table with a target."""
        from ..reporting.report.inspected import Inspected, render_inspected

        reading = [f.message + ". " + f.advice for f in seen.findings if f.kind in _SAID]
        return render_inspected(
            Inspected(
                name=_name(self.table),
                shape=_shape(seen),
                n_rows=seen.n_rows,
                target=seen.target,
                facts=reading,
                columns=seen.columns,
                n_columns=seen.n_features,
                distributions=seen.distributions,
                settle=seen.to_settle,
                findings=[finding for finding in seen.findings if finding.kind not in _SAID],
                copies=seen.copies,
                commands=self.advised(seen),
            )
        )


#: Findings that say how the table was read, in the first lines.
_SAID = ("reading", "note", "missing-marker")


def _name(table: str) -> str:
    return table.replace("\\", "/").rstrip("/").rpartition("/")[2] or table


def _shape(seen: Inspection) -> str:
    what = f"{seen.n_rows:,} rows, {seen.n_features:,} features"
    if seen.target_words:
        return f"{what}; {seen.target} ({seen.task}): {seen.target_words}"
    if not seen.classes:
        return f"{what}; {seen.target} is a number"
    shares = [f"{label} {count / seen.n_rows:.0%}" for label, count in list(seen.classes.items())[:_FIRST]]
    more = len(seen.classes) - len(shares)
    return (
        f"{what}; {seen.target} has {len(seen.classes)} classes ({', '.join(shares)}{f', {more} more' if more else ''})"
    )


def _show(seen: Inspection, asked: _Asked) -> None:
    """Print the first screen: what the table is, what to settle first, and the command that follows."""
    _show_columns(_shape(seen), seen.columns, seen.n_features, _FIRST)
    for finding in seen.findings:
        if finding.kind in _SAID:
            show(_filled(f"{finding.message}. {finding.advice}".rstrip()))
    _show_settled(seen.to_settle[:_SETTLED])
    (why, command), *_ = asked.advised(seen)
    heading("\nNext")
    show(f"    {command}")
    show(_filled(why))
    n_more = len(seen.to_settle[_SETTLED:]) + sum(
        finding.kind not in {*_SAID, *(one.kind for one in seen.to_settle)} for finding in seen.findings
    )
    more = f"{n_more} more finding{'s' if n_more > 1 else ''}, " if n_more else ""
    show(_filled(f"--all prints {more}other methods with their cost, and all columns; --html FILE draws them."))


def _show_settled(settle: Sequence[ToSettle]) -> None:
    heading("\nSettle first" if settle else "\nNothing to settle was found.")
    for at, one in enumerate(settle, start=1):
        show(_filled(f"{at}. {one.sentence}"))


def _show_all(seen: Inspection, asked: _Asked) -> None:
    from ..api.inspection import PURPOSES

    shape = f"{seen.n_rows:,} rows, {seen.n_features:,} features"
    _show_columns(f"{shape}; {seen.task}, since {seen.task_reason}", seen.columns, seen.n_features, _SHOWN)
    if seen.classes:
        shares = (f"{label}: {count} ({count / seen.n_rows:.0%})" for label, count in list(seen.classes.items())[:12])
        show(f"\nClasses   {', '.join(shares)}" + (", ..." if len(seen.classes) > 12 else ""))
    heading("\nFindings, the most serious first")
    for finding in seen.findings:
        show(f"  {finding.kind}: {finding.message}.\n      {finding.advice}")
    if not seen.findings:
        show("  none")
    heading("\nEstimated CPU time on all rows, from the table's shape; each method with its own CI test")
    for purpose in dict.fromkeys(PURPOSES.values()):
        _show_suits(f"methods {purpose}", [one for one in seen.methods if one.purpose == purpose])
    _show_suits("CI tests", seen.tests)
    show(_filled(f"CI test of methods that name none: {seen.suggested_test}, since {seen.test_reason}"))
    heading("\nNext")
    for why, command in asked.advised(seen):
        show(_filled(why))
        show(f"    {command}")


def _without_target(asked: _Asked, seen: Columns, page: Path | None, as_json: bool) -> None:
    """Print the columns, which of them may be the target, and the command that follows."""
    targets, told, columns = seen.likely_targets(), seen.told, seen.first
    settle = seen.to_settle(targets)
    command = asked.command("inspect", settle, target=targets[0].name if targets else "COLUMN")
    shape = f"{seen.n_rows:,} rows, {seen.n_columns:,} columns"
    why = "Which column is the target? A guess by names, places and values"
    if page is not None:
        from ..reporting.report.inspected import Inspected, render_inspected

        guessed = "; ".join(f"{one.name}, since {' and '.join(one.reasons)}" for one in targets)
        drawn = Inspected(
            name=_name(asked.table),
            shape=shape,
            n_rows=seen.n_rows,
            target=None,
            facts=[*([told] if told else []), f"{why}: {guessed}." if targets else f"{why} found none."],
            columns=columns,
            n_columns=seen.n_columns,
            distributions=seen.distributions,
            settle=settle,
            findings=[],
            copies=[],
            commands=[("With a target, more can be said:", command)],
        )
        write_page(page, render_inspected(drawn))
    if as_json:
        names = [target.name for target in targets]
        reasons = {target.name: target.reasons for target in targets}
        of = {"suggested_targets": names, "reasons": reasons, "to_settle": [vars(one) for one in settle]}
        show_json({"n_rows": seen.n_rows, "columns": [vars(c) for c in columns], "reading": told, **of})
        return
    _show_columns(shape, columns, seen.n_columns, _SHOWN if asked.everything else _FIRST)
    if told:
        show(_filled(told))
    heading(f"\n{why}" + (":" if targets else " found none."))
    if targets:
        show_table(["column", "why"], [(target.name, ", ".join(target.reasons)) for target in targets])
    if settle:
        _show_settled(settle if asked.everything else settle[:_SETTLED])
    heading("\nNext")
    show(f"    {command}")
    if not asked.everything:
        show("  --all prints all columns; --html FILE writes a page.")


def _show_columns(title: str, columns: list[ColumnSummary], n_columns: int, most: int) -> None:
    heading(title)
    most = most if len(columns) > most + 1 else len(columns)  # a line that says "1 more" is as long as the column
    rows = [(c.name, c.kind, c.n_missing or "", c.n_distinct, _cut(c.values), c.looks_like) for c in columns[:most]]
    names, right = ["column", "kind", "missing", "distinct", "values", "looks like"], [2, 3]
    for at, key in ((5, "looks_like"), (2, "n_missing")):  # what none of the columns has
        if not any(getattr(column, key) for column in columns[:most]):
            rows = [row[:at] + row[at + 1 :] for row in rows]
            names = names[:at] + names[at + 1 :]
            right = [2] if key == "n_missing" else right
    show_table(names, rows, right=right)
    if n_columns > most:
        show(f"  ... and {n_columns - most:,} more")


def _cut(values: str) -> str:
    """Return examples of values, as far as they fit into a line of the table."""
    return values if len(values) <= _LONGEST else f"{values[: _LONGEST - 4].rstrip()} ..."


def _show_suits(what: str, found: list[Suitability]) -> None:
    """Print the suitable ones grouped by time, and the others grouped by reason."""
    by: dict[str, list[str]] = {}
    for one in found:
        seconds = one.seconds or 0.0
        time = next((name for limit, name in _TIMES if seconds < limit), "an hour or more")
        by.setdefault(f"not for this table ({one.reason})" if one.reason else time, []).append(one.id)
    for time, names in by.items():
        show(_filled(f"{what}, {time}: {', '.join(names)}"))


def _filled(text: str) -> str:
    return textwrap.fill(text, width(), initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False)
