"""What a finished run found, in short: the blanket of every pair, what failed, and where the report is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from .terminal import heading, show

#: What is listed of the failures on evaluation splits; the report has them all.
_MOST = 5


def show_blankets(results: Path) -> None:
    """Print the final blanket of every pair in the order of the config, or why there is none; then what else failed."""
    from ..data.artefacts import read_json

    found: dict[tuple[str, str], list[str]] = {}
    for dataset, selector, feature in _rows(results, "blankets", "dataset", "selector", "feature"):
        found.setdefault((dataset, selector), []).append(feature)
    ended = _rows(results, "statuses", "dataset", "selector", "split", "stage", "status", "reason")
    asked = read_json(results / "provenance.json")["config"]
    skipped = {(dataset, selector): reason for dataset, selector, reason in asked["skipped"]}
    for dataset in asked["order"]["datasets"]:
        heading(f"\n{dataset}")
        for selector in asked["order"]["selectors"]:
            pair = (dataset, selector)
            if pair in skipped:
                show(f"  {selector}: skipped, {skipped[pair]}")
                continue
            status, reason = next((row[4:] for row in ended if row[:4] == (*pair, "full", "select")), ("", ""))
            if not status:
                show(f"  {selector}: no final blanket was asked for")
            elif pair not in found and not _is_answer(results / "select" / dataset / "full" / selector):
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
    _show_failures([row for row in ended if row[2] not in ("", "full") and row[4] in ("error", "timeout")])
    show(f"\nReport: {results / 'report.html'}")


def _show_failures(failed: Sequence[tuple[str, ...]]) -> None:
    """Print what failed on evaluation splits, once a pair and stage: the tables and the report leave it out."""
    if not failed:
        return
    heading("\nFailed in the evaluation")
    counts = Counter((dataset, selector, stage) for dataset, selector, _, stage, *_ in failed)
    reasons = {(row[0], row[1], row[3]): row[5] for row in reversed(failed)}
    for (dataset, selector, stage), n in list(counts.items())[:_MOST]:
        show(f"  {dataset}, {selector}, {stage}, {n} of the splits: {reasons[dataset, selector, stage]}")
    if len(counts) > _MOST:
        show(f"  ... and {len(counts) - _MOST} more (tables/statuses.csv lists them)")


def _rows(results: Path, table: str, *names: str) -> list[tuple[str, ...]]:
    from ..data.artefacts import read_columns

    columns, _ = read_columns(results / "tables" / f"{table}.parquet")
    return list(zip(*(columns[name] for name in names), strict=True))


def _is_answer(folder: Path) -> bool:
    from ..data.artefacts import read_provenance

    return read_provenance(folder / "blanket.parquet").usable
