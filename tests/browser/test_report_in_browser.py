"""The report in a real browser, offline: it draws, and hostile names do nothing."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
from report_frames import report_run

from blanketflow.report import render

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
]
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not on the PATH")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render(report_run(datasets=("breast-cancer", "<script>document.title='hit'</script>"))), "utf-8")
    return path


def browse(page, tmp_path, *flags):
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", *flags, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def test_the_browser_builds_the_page_as_written(page, tmp_path):
    dom = browse(page, tmp_path, "--dump-dom")
    assert dom.count("<svg") == 8
    assert "<script" not in dom and "<img" not in dom
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in dom
    assert "<title>Markov-blanket feature selection</title>" in dom


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_draws_in_both_colour_schemes(page, tmp_path, scheme):
    shot = tmp_path / "page.png"
    flags = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
    browse(page, tmp_path, "--window-size=1200,1600", f"--screenshot={shot}", *flags)
    assert shot.read_bytes().startswith(b"\x89PNG")
    assert shot.stat().st_size > 50_000  # a blank page of this size has about 10 kB
