"""``blanketflow inspect``: describe a table before a search."""

from __future__ import annotations

import shlex
import textwrap
from typing import TYPE_CHECKING

from ..core.printable import redacted_text
from .options import AsJson, DataSet, Table, Target, dataset_spec
from .terminal import heading, show, show_json, show_table, width

if TYPE_CHECKING:
    from ..api.inspection import ColumnSummary, Inspection, LikelyTarget, Suitability

#: How many columns are listed; JSON has them all.
_SHOWN = 40
#: The classes of estimated times: upper limit in CPU seconds, and name.
_TIMES = ((1.0, "under a second"), (10.0, "under 10 s"), (60.0, "under a minute"), (3600.0, "under an hour"))


def inspect(table: Table, target: Target = None, data_set: DataSet = None, as_json: AsJson = False) -> None:
    """Describe a table before a search.

    Prints the columns, suspected leakage and identifiers, the suitable methods and about how long they take. Without
    --target it lists the columns and guesses which may be the target, unless the source itself names one.
    """
    from ..api.inspection import inspect_columns, inspect_table, likely_targets

    spec = dataset_spec(table, target, data_set or ())
    n_rows, columns, known_target, told = inspect_columns(spec) if target is None else (0, [], target, None)
    if known_target is None:
        targets = likely_targets(columns)
        if as_json:
            names = [target.name for target in targets]
            reasons = {target.name: target.reasons for target in targets}
            of = {"suggested_targets": names, "reasons": reasons}
            show_json({"n_rows": n_rows, "columns": [vars(c) for c in columns], "reading": told, **of})
        else:
            _show_columns(f"{n_rows} rows, {len(columns)} columns", columns)
            if told:
                show(_filled(f"reading: {told}"))
            _show_targets(table, targets, data_set or [])
        return
    seen = inspect_table(spec)
    if as_json:
        show_json(seen.as_dict())
    else:
        _show(seen, table, target, data_set or [])


def _show(seen: Inspection, table: str, target: str | None, more: list[str]) -> None:
    from ..api.inspection import PURPOSES
    from ..api.starting_config import in_yaml

    shape = f"{seen.n_rows} rows, {seen.n_features} features"
    _show_columns(f"{shape}; {seen.task}, since {seen.task_reason}", seen.columns)
    if seen.classes:
        shares = (f"{label}: {count} ({count / seen.n_rows:.0%})" for label, count in list(seen.classes.items())[:12])
        show(f"\nClasses   {', '.join(shares)}" + (", ..." if len(seen.classes) > 12 else ""))
    heading("\nFindings")
    for finding in seen.findings:
        show(f"  {finding.kind}: {finding.message}.\n      {finding.advice}")
    if not seen.findings:
        show("  none")
    heading("\nEstimated CPU time on all rows, from the table's shape; each method with its own CI test")
    for purpose in dict.fromkeys(PURPOSES.values()):
        _show_suits(f"methods {purpose}", [one for one in seen.methods if one.purpose == purpose])
    _show_suits("CI tests", seen.tests)
    show(_filled(f"CI test of methods that name none: {seen.suggested_test}, since {seen.test_reason}"))
    of = f"{shlex.quote(redacted_text(table))}" + (f" --target {shlex.quote(target)}" if target else "")
    of += f" --data-set {shlex.join(more)}" if more else ""
    heading("\nNext")
    for advice in seen.advice:
        show(_filled(f"For {advice.want}, {advice.method}: {advice.why}."))
        settings = " ".join(f"{key}={in_yaml(value)}" for key, value in advice.options.items())
        by = f" --method {advice.method}" if advice.method != "auto" else ""
        show(f"    blanketflow select {of}{by}{f' --set {settings}' if settings else ''}")
    show("  For several methods with scores on rows that they did not see, a config for the whole workflow:")
    show(f"    blanketflow init {of}")


def _show_targets(table: str, targets: list[LikelyTarget], more: list[str]) -> None:
    heading("\nWhich column is the target? A guess by names, places and values" + (":" if targets else " found none."))
    if targets:
        show_table(["column", "why"], [(target.name, ", ".join(target.reasons)) for target in targets])
    name = shlex.quote(targets[0].name) if targets else "COLUMN"
    of = f" --data-set {shlex.join(more)}" if more else ""
    show(f"\nNext:\n  blanketflow inspect {shlex.quote(redacted_text(table))} --target {name}{of}")


def _show_columns(title: str, columns: list[ColumnSummary]) -> None:
    heading(title)
    rows = [(c.name, c.kind, c.n_missing or "", c.n_distinct, c.values, c.looks_like) for c in columns[:_SHOWN]]
    show_table(["column", "kind", "missing", "distinct", "values", "looks like"], rows, right=(2, 3))
    if len(columns) > _SHOWN:
        show(f"  ... and {len(columns) - _SHOWN} more (--json lists them)")


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
