"""The report in a real Chromium, without a network: whatever it complains of fails the test that opened it."""

from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from blanketflow.reporting.report import render
from forked import HANGS
from report_frames import report_run

expect.set_options(timeout=HANGS * 1000)

SELECTORS = ("ppfs", "hiton-mb", *(f"gs-{i}" for i in (1, 2, 3, 10, 11, 12)), "all")


@pytest.fixture(scope="session")
def run():
    """Two data sets, nine selectors: tables long enough to be searched."""
    return report_run(selectors=SELECTORS)


@pytest.fixture(scope="session")
def report(run, made_once):
    def write(folder):
        folder.mkdir(exist_ok=True)
        (folder / "report.html").write_text(render(run), "utf-8")

    return made_once("report", write) / "report.html"


@pytest.fixture(scope="session")
def opened(browser, report):
    """Open a page: the report, or another file. Requests and complaints of the browser are collected."""

    @contextmanager
    def open_page(path=report, **context):
        with browser.new_context(offline=True, reduced_motion="reduce", **context) as contained:
            contained.set_default_timeout(HANGS * 1000)
            page = contained.new_page()
            page.requested, page.complaints = [], []
            page.on("request", lambda request: page.requested.append(request.url))
            page.on("pageerror", lambda error: page.complaints.append(str(error)))
            page.on("dialog", lambda dialog: page.complaints.append(f"dialog: {dialog.message}"))
            page.on(
                "console",
                # Violations of the content security policy are errors of the console.
                lambda said: said.type in ("error", "warning") and page.complaints.append(said.text),
            )
            page.goto(path.as_uri())
            yield page

    return open_page


@pytest.fixture
def page(opened, report):
    """The report at the size of a desk, which must have asked for nothing and complained of nothing when it is left."""
    with opened(viewport={"width": 1280, "height": 900}) as page:
        page.evaluate(
            "document.querySelectorAll('details:has(> summary > :is(h2, h3))').forEach((d) => (d.open = true))"
        )
        yield page
        assert page.complaints == []
        assert page.requested == [report.as_uri()]


@pytest.fixture
def unfold():
    """Open all that is folded and bring each chart into view, as a reader would, until it is drawn."""

    def all_of(page):
        page.evaluate("""async () => {
            document.querySelectorAll("details").forEach((details) => (details.open = true));
            const drawn = (figure) => figure.querySelector("svg, .notice");
            for (const figure of document.querySelectorAll("figure.chart:not(.unchosen)")) {
                while (!drawn(figure)) {
                    figure.scrollIntoView();  // again and again: a chart that is drawn above it moves it away
                    await new Promise((go) => setTimeout(go, 10));
                }
            }
        }""")

    return all_of
