"""What a search found stays mended: every input in `found/` is given to its target again."""

import importlib
from pathlib import Path

import pytest

FOUND = sorted(Path(__file__).with_name("found").glob("*/*"))


def found(path):
    many = pytest.mark.extended if path.name.endswith("million-columns") else ()
    return pytest.param(path, marks=many, id=f"{path.parent.name}-{path.name}")


@pytest.mark.parametrize("path", map(found, FOUND))
def test_what_broke_a_reader_once_is_refused_or_read(path, monkeypatch):
    monkeypatch.setenv("BLANKETFLOW_CACHE", "")  # the target sets its own; set back afterwards
    importlib.import_module(f"fuzz_{path.parent.name}").one_input(path.read_bytes())
