"""Rule report: the page, its charts as files, and the run's provenance."""

from pathlib import Path

from blanketflow.data.artefacts import write_json, write_text
from blanketflow.reporting import plots
from blanketflow.reporting.report import charts, render
from blanketflow.workflow import collect
from blanketflow.workflow.finished_run import finished_run
from blanketflow.workflow.identity import contents_beside, made


def main(
    cards: list[Path],
    by_fold: list[Path],
    shrink: list[Path],
    marginals: list[Path],
    tables: list[Path],
    report: Path,
    figures: Path,
    provenance: Path,
    spec: str,
    code: str,
) -> None:
    """Write report.html, figures/ and provenance.json."""
    run = finished_run(spec, collect.tables(tables), cards, by_fold, shrink, marginals)
    drawn = charts(run)
    figures.mkdir(parents=True, exist_ok=True)  # also where there is nothing to draw
    for name, chart in drawn.items():
        write_text(figures / f"{name.replace('/', '-')}.svg", plots.svg(chart))
    write_text(report, render(run, drawn))
    inputs = [*cards, *by_fold, *shrink, *marginals, *tables]
    made_of = made("provenance", provenance, inputs, spec, code, run.provenance["seed"])
    beside = contents_beside(provenance, [report, *sorted(figures.glob("*.svg"))])
    write_json(provenance, {**run.provenance, "identity": made_of.identity, "beside": beside})


if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
