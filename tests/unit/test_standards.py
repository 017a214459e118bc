"""The page of standards and codemeta.json are in step with the files, and all evidence exists."""

import re
from pathlib import Path

import pytest

from generate.standards import STANDARDS, codemeta_text, facts, is_met, standards_text

REPO = Path(__file__).parents[2]
ITEMS = [item for items in STANDARDS.values() for item in items]
TARGETS = set(re.findall(r"^([a-z-]+):", (REPO / "Makefile").read_text("utf-8"), re.MULTILINE))


def test_the_page_and_codemeta_are_in_step():
    page = (REPO / "docs/standards.md").read_text("utf-8")
    assert page == standards_text(page), "run make docs"
    assert (REPO / "codemeta.json").read_text("utf-8") == codemeta_text(), "run make docs"


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.what)
def test_what_is_met_has_evidence_that_exists(item):
    if is_met(item, facts()):
        named = re.findall(r"`([^`]+)`", item.evidence)
        assert named, "met without evidence"
        for one in named:
            command, _, target = one.partition(" ")
            assert target in TARGETS if command == "make" else (REPO / one).exists(), one
    else:
        assert item.open


@pytest.mark.parametrize(("line", "is_pinned"), [("actions/checkout@v7", False), (f"a/b@{'0' * 40} # v1.0", True)])
def test_an_action_by_tag_is_found(line, is_pinned):
    (item,) = (item for item in ITEMS if item.what == "actions pinned by digest")
    assert is_met(item, facts()._replace(workflows=f"      - uses: {line}\n")) == is_pinned
    assert is_met(item, facts())


#: What the journal requires, in its order.
SECTIONS = ["Summary", "Statement of need", "State of the field", "Software design", "Research impact statement"]
SECTIONS += ["AI usage disclosure", "Acknowledgements", "References"]


def test_the_paper_has_the_sections_and_the_length_that_the_journal_asks_for():
    text = (REPO / "paper/paper.md").read_text("utf-8").split("---\n", 2)[2]
    assert re.findall("^# (.*)$", text, re.MULTILINE) == SECTIONS
    assert 750 <= len(text.split()) <= 1750


def test_the_paper_cites_its_references_and_names_files_that_exist():
    text, references = ((REPO / f"paper/paper.{kind}").read_text("utf-8") for kind in ("md", "bib"))
    assert set(re.findall(r"@([a-z]+\d*)", text)) == set(re.findall(r"^@\w+\{(\w+),$", references, re.MULTILINE))
    named = re.findall(r"`((?:docs|studies|[A-Z]+\.md)[^`]*)`", text)
    assert len(named) > 10
    for path in named:
        assert (REPO / path).exists(), path
