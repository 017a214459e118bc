"""Charts are drawn by Vega under the page's policy, when they are looked at."""

import re

from blanketflow.report import charts


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
