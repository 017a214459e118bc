"""The page loads by itself, holds names as text, and looks right on a desk, a phone, in the dark and on paper."""

import csv
import re
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from blanketflow.cli import main
from blanketflow.reporting.report import charts
from report_frames import HOSTILE, HOSTILE_FEATURE

pytestmark = pytest.mark.extended

LIGHT, DARK = "light", "dark"


def background(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def brightness(colour):
    return sum(int(part) for part in re.findall(r"\d+", colour)[:3])


def test_hostile_names_are_text(page, unfold):
    unfold(page)
    assert page.title() == "Markov-blanket feature selection"
    assert page.locator("img, iframe, object").count() == 0
    shown = page.locator("main").inner_text()
    assert HOSTILE in shown and HOSTILE_FEATURE in shown
    assert HOSTILE in page.locator("figure svg").all_text_contents().__str__()


def test_nothing_can_be_loaded_sent_or_run(opened):
    with opened() as page:
        page.evaluate("fetch('https://example.org/').catch(() => {})")
        page.evaluate("document.body.append(Object.assign(new Image(), {src: 'https://example.org/x.png'}))")
        page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'window.ran = 1'}))")
        while sum("Content Security Policy" in complaint for complaint in page.complaints) < 3:
            page.wait_for_event("console")  # until the default timeout
        assert page.evaluate("window.ran") is None


@pytest.mark.parametrize("scheme", [LIGHT, DARK])
def test_the_page_follows_the_systems_colours_until_told_otherwise(opened, scheme):
    with opened(color_scheme=scheme) as page:
        at_first = background(page)
        assert (brightness(at_first) > 384) == (scheme == LIGHT)
        page.get_by_role("button", name="Light colours" if scheme == DARK else "Dark colours").click()
        assert (brightness(background(page)) > 384) == (scheme == DARK)
        page.get_by_role("button", name="Dark colours" if scheme == DARK else "Light colours").click()
        assert background(page) == at_first


def test_text_and_charts_stand_out_in_the_dark(opened, unfold):
    with opened(color_scheme=DARK) as page:
        unfold(page)
        for text in ("p.asked", "td", "figcaption", "svg text"):
            drawn = "fill" if text == "svg text" else "color"
            colour = page.locator(text).first.evaluate(f"node => getComputedStyle(node).{drawn}")
            assert brightness(colour) > 384, text


@pytest.mark.parametrize("width", [360, 390, 800])
def test_the_page_is_no_wider_than_a_phone(opened, unfold, width):
    with opened(viewport={"width": width, "height": 780}, is_mobile=True) as page:
        unfold(page)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        outside = page.evaluate(
            f"[...document.querySelectorAll('main *')].filter(node => node.getBoundingClientRect().right > {width} + 1"
            " && !node.closest('.scroll, pre, .unseen')).map(node => node.outerHTML.slice(0, 80))"
        )
        assert outside == []


def test_on_paper_what_is_open_is_drawn_what_is_folded_is_left_out_and_no_control_is_left(page, run):
    folded = page.locator("details:not([open])").count()
    page.emulate_media(media="print")
    expect(page.locator("figure svg")).to_have_count(len(charts(run)))
    assert folded and page.locator("details:not([open])").count() == folded
    assert page.locator("details:not([open]):visible").count() == 0 < page.locator("figure.chart:visible").count()
    assert page.locator(":is(nav, input, fieldset, .save):visible").count() == 0


def test_all_charts_are_drawn_for_a_printed_file(page, run):
    count = "document.querySelectorAll('figure svg').length"
    page.evaluate(f"addEventListener('afterprint', () => (window.drawn = {count}))")
    assert page.pdf(format="A4").startswith(b"%PDF")
    assert page.evaluate("window.drawn") == len(charts(run))


def test_without_scripts_the_tables_are_all_there_and_no_control_is_dead(opened):
    with opened(java_script_enabled=False) as page:
        assert "need JavaScript" in page.locator("noscript p:visible").inner_text()
        assert page.locator("button, input, select").count() == 0
        assert page.locator("#data-1 table").first.is_visible()
        assert page.locator("figure.chart").count() and not page.locator("figure.chart:visible").count()


def test_landmarks_and_headings_are_in_order(page):
    assert page.locator("html").get_attribute("lang") == "en"
    assert [page.locator(landmark).count() for landmark in ("nav", "main", "h1")] == [1, 1, 1]
    levels = [int(tag[1]) for tag in page.evaluate("[...document.querySelectorAll('h1,h2,h3')].map(h => h.tagName)")]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_every_control_and_chart_has_a_name(page, unfold):
    unfold(page)
    tree = page.locator("body").aria_snapshot()
    nameless = re.findall(r"^\s*- (?:button|link|searchbox|radio|img|table|region|group)(?::|$)", tree, re.MULTILINE)
    assert tree.count("- button ") > 20 and tree.count("- searchbox ") > 2 and tree.count("- img ") > 8
    assert [name for name in nameless if "table" not in name and "group" not in name] == []


def test_the_first_key_leads_past_the_contents(page):
    page.keyboard.press("Tab")
    skip = page.locator(":focus")
    assert skip.inner_text() == "Skip to the overview"
    assert skip.bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.url.endswith("#overview")


def test_what_has_the_focus_is_outlined(page):
    for _ in range(3):
        page.keyboard.press("Tab")
        assert page.locator(":focus").evaluate("node => getComputedStyle(node).outlineStyle") == "solid"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table with hostile names, of which one column is suspected."""
    path = tmp_path_factory.mktemp("inspected") / "study.csv"
    rows = [(1000 + i, i % 7, (i * 37) % 11 / 4, "ab"[i % 2], i % 2) for i in range(80)]
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("patient_id", HOSTILE_FEATURE, "dose", "ward", "outcome"), *rows])
    return path


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("target", [[], ["--target", "outcome"]])
def test_the_page_of_inspect_draws_all_columns_and_complains_of_nothing(opened, table, tmp_path, target, width):
    assert main(["inspect", str(table), *target, "--html", str(tmp_path / "page.html")]) == 0
    with opened(tmp_path / "page.html", viewport={"width": width, "height": 800}) as page:
        assert (page.requested, page.complaints) == ([(tmp_path / "page.html").as_uri()], [])
        columns = page.locator("#columns li:has(> h3)")
        assert columns.count() == 5 - bool(target)
        for at in range(columns.count()):
            assert columns.nth(at).locator("svg:visible, ul.labels:visible").count() == 1
        assert HOSTILE_FEATURE in page.locator("main").inner_text() and page.locator("main img, iframe").count() == 0
        assert "drop: [patient_id]" in page.locator("#settle").inner_text()
        assert ("Which column is the target?" in page.locator("#overview").inner_text()) != bool(target)
        assert "--target outcome" in page.locator("#next").inner_text()
        assert page.evaluate("document.documentElement.scrollWidth") == width
        levels = [
            int(tag[1]) for tag in page.evaluate("[...document.querySelectorAll('h1,h2,h3')].map(h => h.tagName)")
        ]
        assert levels[0] == 1 and all(after - before <= 1 for before, after in pairwise(levels))
