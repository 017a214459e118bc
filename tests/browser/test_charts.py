"""Charts are drawn by Vega under the page's policy, when they are looked at."""

import re

import pytest
from playwright.sync_api import expect

from blanketflow.reporting.report import charts
from blanketflow.reporting.report.figures import narrow_charts

pytestmark = pytest.mark.extended


def test_every_chart_is_drawn_with_marks(page, run, unfold):
    unfold(page)
    for group in page.locator(".choice").all():
        for radio in group.get_by_role("radio").all():
            radio.check()
            group.locator("figure:not(.unchosen) svg").wait_for()
    assert page.locator("figure.chart svg").count() == len(charts(run))
    marks = page.evaluate(
        "[...document.querySelectorAll('figure svg')].map(svg => svg.querySelectorAll("
        "'.role-mark :is(path, line, text, rect)').length)"
    )
    assert min(marks) > 0
    assert "could not be drawn" not in page.locator("main").inner_text()


def test_charts_are_drawn_when_they_are_opened_and_not_before(page):
    folded = page.locator("#data-1 details", has=page.locator("summary strong", has_text="hiton-mb"))
    assert folded.locator("svg").count() == 0
    folded.locator("summary").click()
    folded.locator("svg").first.wait_for()
    assert page.locator("#data-1 details:not([open]) svg").count() == 0


def test_a_chart_that_cannot_be_drawn_says_so(opened, unfold, report, tmp_path):
    broken = tmp_path / "broken.html"
    source = report.read_text("utf-8")
    broken.write_text(re.sub(r'("mark":\{"type":")rect', r"\1nonsense", source, count=1), "utf-8")
    assert broken.read_text("utf-8") != source
    with opened(broken) as page:
        unfold(page)
        said = page.locator("figure .notice")
        assert said.count() == 1 and said.inner_text().startswith("This chart could not be drawn: ")
        assert page.locator("figure svg").count() == page.locator("figure.chart:not(.unchosen)").count() - 1


def test_the_graph_of_a_blanket_fits_a_phone(opened, unfold, run):
    with opened(viewport={"width": 360, "height": 780}, is_mobile=True) as page:
        unfold(page)
        graphs = page.get_by_role("img", name=re.compile("^Blanket of .* around the target"))
        assert graphs.count() == len(narrow_charts(run)) > 0
        for graph in graphs.all():
            assert graph.evaluate("box => box.scrollWidth <= box.clientWidth")
            assert graph.evaluate("box => box.getBoundingClientRect().right <= innerWidth")


def hovered(page, figure, mark):
    figure.scroll_into_view_if_needed()
    figure.locator("svg").wait_for()
    figure.locator(mark).first.hover(force=True)
    page.locator(".tooltip").wait_for()
    return page.locator(".tooltip")


def figure_of(page, label):
    return page.locator("#data-1 figure", has=page.get_by_role("img", name=label))


def test_a_tooltip_says_what_the_mark_shows(page, run):
    said = hovered(page, figure_of(page, "Stability of each selector"), ".mark-symbol path").inner_text().split("\n")
    row = next(run.tables["stability"].query("dataset == 'breast-cancer' and selector == 'ppfs'").itertuples())
    assert {"ppfs", f"{row.stability:.2f}", f"{row.lower:.2f} to {row.upper:.2f}"} <= set(said)


def test_names_in_a_tooltip_are_text(page):
    figure = figure_of(page, "Features selected by ppfs")
    said = hovered(page, figure, ".mark-rect path")
    assert said.locator("img, script").count() == 0
    assert "</script>" in said.inner_text()


def test_a_tooltip_goes_with_the_pointer_and_with_escape(page):
    figure = figure_of(page, "Stability of each selector")
    tooltip = hovered(page, figure, ".mark-symbol path")
    box, port = tooltip.bounding_box(), page.viewport_size
    assert 0 <= box["x"] <= port["width"] - box["width"] and 0 <= box["y"] <= port["height"] - box["height"]
    page.keyboard.press("Escape")
    assert tooltip.is_hidden()
    hovered(page, figure, ".mark-symbol path:nth-child(2)")
    page.mouse.move(5, 5)
    expect(tooltip).to_be_hidden()


def test_radio_buttons_choose_what_selection_costs(page):
    group = page.locator("#data-1 .choice")
    tests, seconds = figure_of(page, "Number of tests"), figure_of(page, "Seconds of selection")
    group.scroll_into_view_if_needed()
    assert tests.is_visible() and not seconds.is_visible()
    group.get_by_role("radio", name="tests").focus()
    page.keyboard.press("ArrowRight")
    seconds.locator("svg").wait_for()
    assert seconds.is_visible() and not tests.is_visible()


def test_panels_stand_below_each_other_on_a_phone(opened, unfold):
    label = "accuracy of each selector, by model"
    with opened(viewport={"width": 360, "height": 780}) as page:
        unfold(page)
        box = figure_of(page, label).get_by_role("img")
        assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
