"""The picture of an answer: on the first screen of a laptop, legible on a phone, and saved in three forms."""

import pytest

from blanketflow.reporting.report import render
from report_frames import report_run

pytestmark = pytest.mark.extended


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The report of one data set."""
    path = tmp_path_factory.mktemp("alone") / "report.html"
    path.write_text(render(report_run(datasets=("one",), models=("svm",))), "utf-8")
    return path


def test_the_picture_is_on_the_first_screen(opened, alone):
    with opened(alone, viewport={"width": 1280, "height": 800}) as page:
        box = page.locator(".picture").bounding_box()
        assert box["y"] + box["height"] <= 800 and page.locator(".picture svg").count() == 2
        assert 1 <= page.locator(".warnings li").count() <= 3


def test_on_a_phone_the_scores_stand_below_the_features_in_legible_letters(opened, alone):
    with opened(alone, viewport={"width": 390, "height": 780}, is_mobile=True) as page:
        features, scores = (image.bounding_box() for image in page.locator(".picture svg").all())
        assert features["x"] + features["width"] <= 390 and scores["y"] >= features["y"] + features["height"]
        assert features["width"] / 380 * 12 >= 9


def test_charts_are_saved_as_svg_png_and_data(opened, alone):
    starts = {"SVG": b"<svg", "PNG": b"\x89PNG", "data": b"feature,kept,times,of,importance"}
    with opened(alone, accept_downloads=True) as page:
        for way, start in starts.items():
            with page.expect_download() as download:
                page.locator(".picture").get_by_role("button", name=way).click()
            assert download.value.path().read_bytes().startswith(start)
        assert page.complaints == []


def test_a_small_table_prints_in_eight_pages(opened, alone):
    with opened(alone) as page:
        assert page.pdf(format="A4").count(b"/Type /Page\n") <= 8


def test_no_sentence_stands_twice(opened, alone):
    with opened(alone) as page:
        said = page.evaluate("[...document.querySelectorAll('main p, main li')].map((node) => node.textContent.trim())")
        long = [text for text in said if len(text) > 60]
        assert long and sorted(long) == sorted(set(long))
