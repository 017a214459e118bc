"""What a notebook and a terminal show of the results of the library."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ..core.printable import listed, printable
from ..reporting.formatting import number
from ..reporting.notebook import bar, bullets, curve, legend, names_by_role, page, paragraph, role, table
from ..reporting.tables.references import reference_of

if TYPE_CHECKING:
    from .answer import Selected
    from .blankets import Blankets
    from .compare.result import Comparison
    from .estimator import MarkovBlanketSelector
    from .inspection import Inspection

#: What `features_of` says of each feature.
FEATURE_COLUMNS = ("feature", "role", "importance", "p_value", "frequency")
#: Targets, and names per target, that a terminal shows.
_TARGETS, _NAMES = 12, 6


def features_of(selector: MarkovBlanketSelector) -> list[dict[str, Any]]:
    """Return one row per selected feature: feature, role, importance, p_value, frequency.

    The p-value is that of the last test that kept the feature; NaN if none did, and where folds are combined, since
    each fold has its own.
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
    """Return what a fitted selector found, to stand below scikit-learn's own diagram."""
    rows, told = features_of(selector), selector.status_ if selector.status_ != "ok" else ""
    n = len(rows)
    by = f", {selector.n_tests_:,} CI tests" if selector.ci_test_ is not None else ""
    by += f" ({selector.ci_test_.card.id})" if selector.ci_test_ is not None else ""
    return page(
        f"{n} of {selector.n_features_in_} features{by}",
        paragraph(f"{told}: {selector.reason_}" if told else ""),
        paragraph(selector.caution_),
        paragraph(selector.verdict_.get("sentence", "")),
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
    """Return the answer of `select`: verdict, features, and the score against the number of features."""
    rows, sizes = features_of(found.selector), found.alternatives
    metric = str(found.scores["metric"].iloc[0])
    n, d = len(rows), found.selector.n_features_in_
    at, reference = reference_of(sizes)
    drawn = curve(
        list(zip(sizes["n_features"], sizes[metric], strict=True)),
        int(sizes["chosen"].to_numpy().argmax()),
        float(sizes[metric].iloc[at]),
        f"number of features; dashed: {reference}, orange: kept",
        metric,
    )
    return page(
        f"Keep {n} of {d} features" if n else "No feature is kept",
        paragraph(found.verdict),
        _features(rows, folds=1),
        _unit(found.selector) if rows else Markup(""),
        paragraph(f"{metric} by cross-validation:") + drawn,
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
    """Return a comparison: sizes and scores of the selectors, with bars as long as the score, and the notes."""
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
    lines = [_shape(seen), *(f"  {finding.kind}: {finding.message}" for finding in seen.findings)]
    lines += [f"  for {advice.want}: {advice.method}, {advice.why}" for advice in seen.advice]
    return "\n".join(map(printable, lines))


def inspection_html(seen: Inspection) -> str:
    """Return a table's description: classes, columns, findings and advice."""
    most = max((seen.classes or {"": 0}).values())
    classes = [{"class": label, "rows": bar(count, most)} for label, count in (seen.classes or {}).items()]
    columns = [
        {
            "column": column.name,
            "kind": column.kind,
            "missing": bar(column.n_missing, seen.n_rows) if column.n_missing else "",
            "distinct": number(column.n_distinct),
            "values": column.values,
            "looks like": column.looks_like,
        }
        for column in seen.columns
    ]
    findings = [f"{finding.kind}: {finding.message}. {finding.advice}" for finding in seen.findings]
    advice = [f"For {advice.want}, {advice.method}: {advice.why}." for advice in seen.advice]
    parts = (table(classes, "classes"), table(columns, "columns"), bullets(findings), bullets(advice))
    return page(_shape(seen), *parts)


def _shape(seen: Inspection) -> str:
    return f"{seen.target}: {seen.task}, {seen.n_rows:,} rows, {seen.n_features:,} features"


def _head(found: Blankets) -> str:
    """Return in one line how many blankets there are, and how their searches ended."""
    n = len(found.statuses)
    counts = Counter(status for status, _ in found.statuses.values())
    told = "".join(f", {count} {status}" for status, count in counts.items() if status != "ok")
    targets = "1 target" if n == 1 else f"{n} targets"
    told += f"; {found.sample}" if found.sample else ""
    return f"Markov blankets of {targets} in a table of {len(found.columns)} columns, {found.n_tests:,} CI tests{told}"
