"""A short summary of a finished run: the answer, the blanket of every pair, the failures, and where the report is."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from .terminal import heading, note, show, width

#: How many failures on evaluation splits are listed; the report has them all.
_MOST = 5


def show_blankets(folder: Path) -> None:
    """Print the answer and the final blanket of every pair, or why there is none; then other failures.

    What to look at in a table first is said on stderr.
    """
    from ..data.splits import FINAL
    from ..workflow.read_results import Results

    results = Results(folder)
    if not results.is_finished():
        return
    found: dict[tuple[str, str], list[str]] = {}
    for dataset, selector, feature in results.rows("blankets", "dataset", "selector", "feature"):
        found.setdefault((dataset, selector), []).append(feature)
    said = results.rows("answers", "dataset", "warning", "answer", "scores", "evidence")
    answers = {dataset: texts for dataset, *texts in said}
    ended = results.rows("statuses", "dataset", "selector", "split", "stage", "status", "reason", "verdict")
    asked = results.config()
    skipped = {(dataset, selector): reason for dataset, selector, reason in asked["skipped"]}
    for dataset in asked["order"]["datasets"]:
        heading(f"\n{dataset}")
        warning, *answer = answers.get(dataset, [""])
        if warning:
            note(f"{dataset}: {warning}")
        for text in filter(None, answer):
            show(textwrap.fill(text, width(), initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False))
        for selector in asked["order"]["selectors"]:
            pair = (dataset, selector)
            if pair in skipped:
                show(f"  {selector}: skipped, {skipped[pair]}")
                continue
            said = (row[4:] for row in ended if row[:4] == (*pair, FINAL, "select"))
            status, reason, verdict = next(said, ("", "", ""))
            if not status:
                show(f"  {selector}: no final blanket was asked for")
            elif pair not in found and not results.final_search(*pair).usable:
                show(f"  {selector}: failed, {reason}")
            else:
                features = found.get(pair, [])
                shown = ", ".join(features[:12]) + (", ..." if len(features) > 12 else "")
                careful = "" if status == "ok" else f" [{status}: {reason}]"
                show(
                    f"  {selector} ({len(features)}): {shown}{careful}"
                    if features
                    else f"  {selector}: no feature{careful}"
                )
                if verdict and verdict not in answer:
                    show(f"    {verdict}")
    _show_failures([row for row in ended if row[2] not in ("", FINAL) and row[4] in ("error", "timeout")])
    show(f"\nReport: {results.at('report')}")


def _show_failures(failed: Sequence[tuple[str, ...]]) -> None:
    """Print the failures on evaluation splits, one line per pair and stage; the tables leave those splits out."""
    if not failed:
        return
    heading("\nFailed in the evaluation")
    counts = Counter((dataset, selector, stage) for dataset, selector, _, stage, *_ in failed)
    reasons = {(row[0], row[1], row[3]): row[5] for row in reversed(failed)}
    for (dataset, selector, stage), n in list(counts.items())[:_MOST]:
        show(f"  {dataset}, {selector}, {stage}, {n} of the splits: {reasons[dataset, selector, stage]}")
    if len(counts) > _MOST:
        show(f"  ... and {len(counts) - _MOST} more (tables/statuses.csv lists them)")
