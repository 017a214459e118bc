"""Rule report: the page, its charts as files, and the run's provenance."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from blanketflow.core.isolation import in_children
from blanketflow.data.artefacts import write_json, write_text
from blanketflow.reporting import plots
from blanketflow.reporting.report import Run, charts, render
from blanketflow.workflow import collect
from blanketflow.workflow.finished_run import finished_run
from blanketflow.workflow.identity import contents_beside, made


def main(
    cards: list[Path],
    by_fold: list[Path],
    shrink: list[Path],
    tables: list[Path],
    report: Path,
    figures: Path,
    provenance: Path,
    spec: str,
    code: str,
    threads: int,
) -> None:
    """Write report.html, figures/ and provenance.json; page and figures in parallel if there are two threads."""
    run = finished_run(spec, collect.tables(tables), cards, by_fold, shrink)
    drawn = charts(run)
    list(in_children([partial(_figures, figures, drawn), partial(_page, report, run, drawn)], min(threads, 2)))
    inputs = [*cards, *by_fold, *shrink, *tables]
    made_of = made("provenance", provenance, inputs, spec, code, run.provenance["seed"])
    beside = contents_beside(provenance, [report, *sorted(figures.glob("*.svg"))])
    write_json(provenance, {**run.provenance, "searches": run.searches, "identity": made_of.identity, "beside": beside})


def _figures(folder: Path, drawn: Mapping[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)  # also without figures
    for name, chart in drawn.items():
        write_text(folder / f"{name.replace('/', '-')}.svg", plots.svg(chart))


def _page(path: Path, run: Run, drawn: Mapping[str, Any]) -> None:
    write_text(path, render(run, drawn))


if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
