"""A run on names that attack, in a folder named to attack: all are shown as text, and none runs, loads or writes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import hostile_study
import pytest

from blanketflow.core.printable import visible
from forked import HANGS

pytestmark = pytest.mark.extended

PROGRAM = Path(sys.executable).with_name("blanketflow")
SOURCE = Path(__file__).parents[2] / "src"
FOLDER = 'a b\'; "$(touch ran)" & <b>'
#: What may stand beside the results: what was there before, and Snakemake's own.
BESIDE = {"study.csv", "my.yaml", "my_method.py", "__pycache__", "results", ".snakemake"}
#: What a name would make if it were read as markup; Vega puts its own controls into a form without an action.
MADE_BY_MARKUP = "img, iframe, object, embed, link, base, form[action], [onload], [onerror], [onmouseover]"


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    """A finished run, and what it wrote to the terminal."""
    outside = tmp_path_factory.mktemp("hostile")
    folder = outside / FOLDER
    folder.mkdir()
    hostile_study.write(folder)
    environment = os.environ | {"PYTHONPATH": f"{SOURCE}{os.pathsep}{folder}"}
    command = [PROGRAM, "run", "--configfile", "my.yaml", "--cores", "2", "--quiet", "rules"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=HANGS)
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == 0, said
    return outside, folder, said


def shown(text):
    """A text as a page shows it: blanks are one."""
    return " ".join(visible(text).split())


def test_the_page_shows_every_name_and_runs_none(hostile, opened, unfold):
    _, folder, _ = hostile
    report = folder / "results/report.html"
    with opened(report) as page:
        unfold(page)
        assert (page.complaints, page.requested) == ([], [report.as_uri()])
        words = " ".join(page.locator("main").inner_text().split())
        texts = [*hostile_study.NAMES, hostile_study.TARGET, *hostile_study.LABELS, hostile_study.WORDS]
        assert [text for text in texts if shown(text) not in words] == []
        assert page.locator(MADE_BY_MARKUP).count() == 0
        links = page.locator("a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
        assert {link for link in links if not re.match(r"#|https://doi\.org/10\.", link)} == set()
        drawn = " ".join(page.locator("figure svg text").all_text_contents())
        assert hostile_study.NAMES[0][:10] in drawn  # long names are cut


def test_the_figures_are_drawings(hostile, opened):
    _, folder, _ = hostile
    figures = sorted((folder / "results/figures").glob("*.svg"))
    assert len(figures) > 5
    for figure in figures:
        with opened(figure) as page:
            assert (page.complaints, page.requested) == ([], [figure.as_uri()])
            kinds = page.evaluate("[...new Set([...document.querySelectorAll('*')].map(node => node.localName))]")
            assert set(kinds) <= {"svg", "g", "path", "line", "rect", "text", "tspan", "defs", "clipPath", "title"}


def test_nothing_is_written_outside_of_the_results(hostile):
    outside, folder, _ = hostile
    assert {path.name for path in outside.iterdir()} == {FOLDER}
    assert {path.name for path in folder.iterdir()} <= BESIDE
    written = [path.relative_to(folder).as_posix() for path in (folder / "results").rglob("*")]
    assert [path for path in written if not re.fullmatch(r"[a-zA-Z0-9_./-]+", path) or ".." in path] == []


def test_the_terminal_obeys_no_name(hostile):
    _, _, said = hostile
    assert re.findall(r"[^\n]*[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069][^\n]*", said) == []
    assert r"fails: failed, DataError: <img src='http://127.0.0.1:9/x' onerror=alert(7)>\x1b[31m</script>" in said
