"""The charts of the report as files for papers: SVG whose texts can be edited, and PDF."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.errors import DataError

if TYPE_CHECKING:
    from .exported_run import ExportedRun


def as_figures(exported: ExportedRun) -> dict[str, str | bytes]:
    """Return each chart of the data sets, and of those over all data sets, as SVG and PDF by file name."""
    import vl_convert

    from .. import plots
    from ..report import charts

    names = [*exported.datasets, *(["across"] if len(exported.datasets) == len(exported.run.cards) else [])]
    drawn = {name: chart for name, chart in charts(exported.run).items() if name.split("/")[0] in names}
    if not drawn:
        raise DataError(
            f"the run has no chart of {', '.join(exported.datasets)}: no feature was selected, and no model scored. "
            "Set splits: {evaluation: 5} and run again, or look at report.html."
        )
    files: dict[str, str | bytes] = {}
    for name, chart in drawn.items():
        # Programs that draw have no text colour of a page, which the report's charts take.
        svg = plots.svg(chart).replace('"currentColor"', '"black"')
        files |= {f"{name.replace('/', '-')}.svg": svg, f"{name.replace('/', '-')}.pdf": vl_convert.svg_to_pdf(svg)}
    return files
