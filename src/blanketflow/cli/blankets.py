"""What a finished run found, in short: the blanket of every pair, and where the report is."""

from __future__ import annotations

from pathlib import Path

from .terminal import heading, show


def show_blankets(results: Path) -> None:
    """Print the final blanket of every pair in the order of the config, or why there is none."""
    from ..artefacts import read_columns, read_json

    columns, _ = read_columns(results / "tables" / "blankets.parquet")
    found: dict[tuple[str, str], list[str]] = {}
    for dataset, selector, feature in zip(*(columns[k] for k in ("dataset", "selector", "feature")), strict=True):
        found.setdefault((dataset, selector), []).append(feature)
    asked = read_json(results / "provenance.json")["config"]
    skipped = {(dataset, selector): reason for dataset, selector, reason in asked["skipped"]}
    for dataset in asked["order"]["datasets"]:
        heading(f"\n{dataset}")
        for selector in asked["order"]["selectors"]:
            pair = (dataset, selector)
            if pair in skipped:
                show(f"  {selector}: skipped, {skipped[pair]}")
            elif pair in found:
                features = found[pair]
                shown = ", ".join(features[:12]) + (", ..." if len(features) > 12 else "")
                show(f"  {selector} ({len(features)}): {shown}")
            else:
                show(f"  {selector}: {_why_nothing(results / 'select' / dataset / 'full' / selector)}")
    show(f"\nReport: {results / 'report.html'}")


def _why_nothing(folder: Path) -> str:
    from ..artefacts import read_provenance

    if not (folder / "blanket.parquet").is_file():
        return "no final blanket was asked for"
    provenance = read_provenance(folder / "blanket.parquet")
    return "no feature" if provenance.usable else f"failed, {provenance.reason}"
