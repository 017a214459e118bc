"""Charts as files for papers: SVG with its texts as text, and PDF with its fonts."""

import pytest

from blanketflow.core.errors import DataError
from blanketflow.reporting.export import OF_RUN, ExportedRun
from blanketflow.reporting.report import charts
from report_frames import report_run


@pytest.fixture(scope="module")
def run():
    return report_run(selectors=("ppfs", "all"), datasets=("breast-cancer", "other"), models=("tree",))


def test_each_chart_of_the_report_is_an_editable_svg_and_a_pdf(run):
    files = OF_RUN["figures"](ExportedRun(run, ["breast-cancer"]))
    names = [name.replace("/", "-") for name in charts(run) if name.startswith("breast-cancer/")]
    assert len(names) > 3 and set(files) == {f"{name}.{kind}" for name in names for kind in ("svg", "pdf")}
    for name in names:
        svg, pdf = files[f"{name}.svg"], files[f"{name}.pdf"]
        assert svg.startswith("<svg") and "<text" in svg and "currentColor" not in svg
        assert pdf.startswith(b"%PDF-") and b"/BaseFont" in pdf  # letters, not their outlines
    assert ">feature number" in files["breast-cancer-blanket-ppfs.svg"]


def test_all_data_sets_have_the_charts_over_them_too(run):
    files = OF_RUN["figures"](ExportedRun(run, [*run.cards]))
    assert {name.split("-")[0] for name in files} == {"breast", "other", "across"}


def test_a_run_without_charts_is_refused(run):
    with pytest.raises(DataError, match=r"no chart of nowhere: .* Set splits"):
        OF_RUN["figures"](ExportedRun(run, ["nowhere"]))
