"""How notebooks and terminals display results.

HTML has inline styles and the page's text colour, also for dark pages and mails. `Markup.format` escapes all values.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ..core.printable import listed, printable
from ..core.results import in_words
from ..reporting.distribution_chart import drawn_values
from ..reporting.formatting import BLUE, INK, ROLES, number
from ..reporting.picture import chosen, next_steps, picture_of

if TYPE_CHECKING:
    from .blankets import Blankets
    from .compare.result import Comparison
    from .estimator import MarkovBlanketSelector
    from .inspection import Inspection
    from .select import Selected

#: The largest number of rows of a table, and of names in a cell.
MOST_ROWS, MOST_NAMES = 40, 30
_BAR = 90  # pixels
#: Labels of a column whose shares are drawn.
_LABELS = 3
_CELL = "text-align:left;vertical-align:top;padding:.2em .8em .2em 0;border:0;background:none"
_FAINT = "opacity:.75"


def page(title: str, *parts: Markup) -> str:
    """Return a block with a title.

    >>> page("a < b", paragraph("Nothing."))  # doctest: +ELLIPSIS
    '<div class="blanketflow" style="..."><strong>a &lt; b</strong><p style="...">Nothing.</p></div>'
    """
    head = Markup('<div class="blanketflow" style="margin:.6em 0;line-height:1.4"><strong>{}</strong>')
    return str(head.format(printable(title)) + Markup("").join(parts) + Markup("</div>"))


def paragraph(text: str) -> Markup:
    """Return a paragraph, or nothing if the text is empty."""
    return Markup('<p style="margin:.3em 0;max-width:60em">{}</p>').format(printable(text)) if text else Markup("")


def bullets(lines: Sequence[str]) -> Markup:
    """Return lines as a list, or nothing if there are none."""
    items = Markup("").join(Markup("<li>{}</li>").format(printable(line)) for line in lines)
    return Markup('<ul style="margin:.3em 0">{}</ul>').format(items) if lines else Markup("")


def table(rows: Sequence[Mapping[str, Any]], more: str = "rows") -> Markup:
    """Return rows as a table whose header has the keys of the first row; empty columns are left out.

    At most `MOST_ROWS` are shown, and a line gives the number of others, including `more`.
    """
    columns = [name for name in (rows[0] if rows else {}) if any(row[name] not in ("", None) for row in rows)]
    if not columns:
        return Markup("")
    head = Markup("").join(
        Markup('<th style="{};font-weight:normal;{}">{}</th>').format(_CELL, _FAINT, name) for name in columns
    )
    body = Markup("").join(
        Markup("<tr>{}</tr>").format(Markup("").join(_cell(row[name]) for name in columns)) for row in rows[:MOST_ROWS]
    )
    style = "border-collapse:collapse;margin:.3em 0;border:0"
    drawn = Markup('<table style="{}"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>').format(style, head, body)
    return drawn + (paragraph(f"... and {len(rows) - MOST_ROWS} more {more}") if len(rows) > MOST_ROWS else Markup(""))


def _cell(value: Any) -> Markup:
    shown = value if isinstance(value, Markup) else printable("" if value is None else value)
    return Markup('<td style="{}">{}</td>').format(_CELL, shown)


def bar(value: float, largest: float, text: str = "", colour: str = BLUE) -> Markup:
    """Return a number with a bar whose length is proportional to `largest`."""
    is_drawn = math.isfinite(value) and math.isfinite(largest) and largest > 0
    width = round(_BAR * min(max(value / largest, 0.0), 1.0)) if is_drawn else 0
    drawn = Markup(
        '<span style="white-space:nowrap"><span style="display:inline-block;width:{}px;margin-right:.5em">'
        '<span style="display:inline-block;height:.7em;width:{}px;background:{}"></span></span>{}</span>'
    )
    return drawn.format(_BAR, width, colour, text or number(value))


def role(name: str) -> Markup:
    """Return a role in words after a square in its colour; roles of plug-ins are shown unchanged."""
    label, colour = ROLES.get(name, (printable(name.replace("_", " ")), INK))
    return _square(colour) + Markup("{}").format(label)


def names_by_role(members: Iterable[tuple[str, str]]) -> Markup:
    """Return (name, role) pairs as one line, each name after the square of its role."""
    members = list(members)
    drawn = [
        Markup('<span style="display:inline-block;margin-right:.8em">{}{}</span>').format(
            _square(ROLES.get(role, ("", INK))[1]), printable(name)
        )
        for name, role in members[:MOST_NAMES]
    ]
    more = f"and {len(members) - MOST_NAMES} more" if len(members) > MOST_NAMES else ""
    return Markup(" ").join([*drawn, Markup("{}").format(more)]) if members else Markup("{}").format("no feature")


def legend(roles: Iterable[str]) -> Markup:
    """Return a legend of the squares for the roles that occur."""
    found = set(roles)
    return Markup('<p style="margin:.3em 0;{}">{}</p>').format(
        _FAINT, Markup(" &nbsp; ").join(role(name) for name in ROLES if name in found)
    )


def _square(colour: str) -> Markup:
    style = "display:inline-block;width:.7em;height:.7em;margin-right:.35em"
    return Markup('<span style="{};background:{}"></span>').format(style, colour)


# --- the results ------------------------------------------------------------------------------------------------------

#: Columns of `features_of`.
FEATURE_COLUMNS = ("feature", "role", "importance", "p_value", "frequency")
#: Targets, and names per target, that a terminal shows.
_TARGETS, _NAMES = 12, 6


def features_of(selector: MarkovBlanketSelector) -> list[dict[str, Any]]:
    """Return one row per selected feature: feature, role, importance, p_value, frequency.

    The p-value is from the last test that kept the feature; NaN without one or with several folds.
    """
    last: dict[str, float] = {}
    if selector.ci_test_ is not None and len(set(selector.trace_["fold"])) == 1:
        kept = selector.trace_[selector.trace_["kept"] & (selector.trace_["p_value"] < 1)]  # 1 stands for no test
        last = dict(zip(kept["feature"], kept["p_value"], strict=True))
    told = (selector.roles_, selector.importances_, last, selector.frequencies_)
    return [
        dict(zip(FEATURE_COLUMNS, (name, *(of.get(name, math.nan) for of in told)), strict=True))
        for name in selector.selected_features_
    ]


def selector_html(selector: MarkovBlanketSelector) -> str:
    """Return the results of a fitted selector, shown below scikit-learn's diagram."""
    rows, told = features_of(selector), selector.status_ if selector.status_ != "ok" else ""
    n = len(rows)
    by = f", {selector.n_tests_:,} CI tests" if selector.ci_test_ is not None else ""
    by += f" ({selector.ci_test_.card.id})" if selector.ci_test_ is not None else ""
    return page(
        f"{n} of {selector.n_features_in_} features{by}",
        paragraph(f"{told}: {selector.reason_}" if told else ""),
        paragraph(selector.caution_),
        paragraph(selector.verdict_.get("sentence", "")),
        bullets([note for note in selector.notes_ if note != selector.caution_]),
        _features(rows, folds=max(selector.n_folds, 1)),
        _unit(selector) if rows else Markup(""),
    )


def _features(rows: list[dict[str, Any]], folds: int) -> Markup:
    largest = max((row["importance"] for row in rows), default=0.0)
    return table(
        [
            {
                "feature": row["feature"],
                "role": role(row["role"]),
                "importance": bar(row["importance"], largest),
                "p-value": _p_value(row["p_value"]),
                "folds": f"{round(row['frequency'] * folds)} of {folds}" if folds > 1 else "",
            }
            for row in rows
        ],
        "features",
    )


def _p_value(p: float) -> str:
    return "" if math.isnan(p) else number(p) if p else "< 1e\N{MINUS SIGN}307"


def _unit(selector: MarkovBlanketSelector) -> Markup:
    said = selector.method_class.card.means_by_importance
    return paragraph(f"Importance: {said}." if said else "")


def selected_html(found: Selected) -> str:
    """Return the result of `select`: the answer, the picture, and the rest of the verdict."""
    n, d = len(found.features), found.selector.n_features_in_
    stand_ins = {name: in_words(others, 1) for name, others in found.stand_ins.items()}
    n_folds = found.selector.n_folds
    rows = [chosen(row, n_folds, stand_ins.get(row["feature"], "")) for row in features_of(found.selector)]
    verdict = found.selector.verdict_
    card = {"n_rows": verdict.get("rests_on", {}).get("rows", 0), "task": found.selector.task_}
    return page(
        f"Keep {n} of {d} features" if n else "No feature is kept",
        paragraph(found.verdict),
        bullets(found.notes),
        Markup("{}").format(picture_of(rows, verdict, next_steps=next_steps(card, verdict.get("ranked", ())))),
    )


def blankets_text(found: Blankets) -> str:
    """Return all blankets as a few lines."""
    lines = [_head(found)]
    for target, steps in list(found.found.items())[:_TARGETS]:
        lines.append(f"  {target}: {listed((step.feature for step in steps), _NAMES) or 'no feature'}")
    if len(found) > _TARGETS:
        lines.append(f"  ... and {len(found) - _TARGETS} more")
    return "\n".join(map(printable, lines))


def blankets_html(found: Blankets) -> str:
    """Return all blankets: one row per target, with the roles of the members."""
    largest = max(map(len, found.found.values()), default=0)
    rows = [
        {
            "target": target,
            "features": bar(len(found.found[target]), largest) if target in found.found else "",
            "blanket": names_by_role((s.feature, s.role) for s in found.found[target]) if target in found.found else "",
            "status": "" if status == "ok" else f"{status}: {reason}",
        }
        for target, (status, reason) in found.statuses.items()
    ]
    roles = {step.role for steps in found.found.values() for step in steps}
    return page(_head(found), table(rows, "targets"), legend(roles))


def comparison_html(found: Comparison) -> str:
    """Return a comparison: sizes and scores of the selectors with bars, and the notes."""
    from .compare.summary import score_text, summary_rows

    rows, scores = summary_rows(found.run), [name for name in found.summary().columns if name != "features"]
    none = (math.nan, math.nan)
    means = {name: [row.get(name, none)[0] for row in rows] for name in scores}
    largest = {name: max((mean for mean in means[name] if mean == mean), default=0.0) for name in scores}
    drawn = [
        {"data set": row["dataset"], "selector": row["selector"], "features": row["features"]}
        | {name: bar(row[name][0], largest[name], score_text(*row[name])) if name in row else "" for name in scores}
        for row in rows
    ]
    n, d = len({row["selector"] for row in rows}), len(found.run.cards)
    title = f"{n} selector{'s' * (n != 1)} on {d} data set{'s' * (d != 1)}"
    return page(title, table(drawn), bullets(found.notes()))


def inspection_text(seen: Inspection) -> str:
    """Return a table's description in a few lines."""
    lines = [
        _shape(seen),
        *([f"  {seen.target_words}"] if seen.target_words else []),
        *(f"  {finding.kind}: {finding.message}" for finding in seen.findings),
    ]
    lines += [f"  for {advice.want}: {advice.method}, {advice.why}" for advice in seen.advice]
    return "\n".join(map(printable, lines))


def inspection_html(seen: Inspection) -> str:
    """Return a table's description as its page has it: what to settle, columns with their values, findings, advice."""
    from ..reporting.report.inspected import in_words, others

    drawn = {one.name: drawn_values(one) for one in seen.distributions}
    most = max((seen.classes or {"": 0}).values())
    classes = [{"class": label, "rows": bar(count, most)} for label, count in (seen.classes or {}).items()]
    columns = [
        {
            "column": column.name,
            "kind": column.kind,
            "missing": bar(column.n_missing, seen.n_rows) if column.n_missing else "",
            "distinct": number(column.n_distinct),
            "values": column.values,
            "spread": _spread(drawn.get(column.name)),
            "looks like": column.looks_like,
        }
        for column in seen.columns
    ]
    settle = [f"{in_words(one.kind)}: {one.sentence}" for one in seen.to_settle]
    findings = [f"{finding.message}. {finding.advice}" for finding in others(seen.findings, seen.to_settle)]
    advice = [f"For {advice.want}, {advice.method}: {advice.why}." for advice in seen.advice]
    first = paragraph("Settle first") + bullets(settle) if settle else Markup("")
    of_target = paragraph(seen.target_words)
    parts = (of_target, table(classes, "classes"), first, table(columns, "columns"), bullets(findings), bullets(advice))
    return page(_shape(seen), *parts)


def _spread(drawn: Mapping[str, Any] | None) -> Markup:
    """Return the values of a column: a histogram, or shares of the most frequent labels."""
    if drawn is None:
        return Markup("")
    if drawn["labels"] is None:
        return Markup('<div style="width:{}px;fill:{}">{}</div>').format(_BAR, BLUE, drawn["bars"])
    line = Markup('<div style="white-space:nowrap">{} {}</div>')
    shown = drawn["labels"][:_LABELS]
    return Markup("").join(line.format(bar(share, 1, text), printable(label)) for label, share, text in shown)


def _shape(seen: Inspection) -> str:
    return f"{seen.target}: {seen.task}, {seen.n_rows:,} rows, {seen.n_features:,} features"


def _head(found: Blankets) -> str:
    """Return one line with the number of blankets and the statuses of their searches."""
    n = len(found.statuses)
    counts = Counter(status for status, _ in found.statuses.values())
    told = "".join(f", {count} {status}" for status, count in counts.items() if status != "ok")
    targets = "1 target" if n == 1 else f"{n} targets"
    told += f"; {found.sample}" if found.sample else ""
    return f"Markov blankets of {targets} in a table of {len(found.columns)} columns, {found.n_tests:,} CI tests{told}"
