"""The pages of the documentation: links lead somewhere, generated pages are in step, and their code runs."""

import doctest
import re
from pathlib import Path, PurePosixPath

import pytest
import yaml

from blanketflow.config.reading import read_config
from blanketflow.core.registry import discover
from blanketflow.data.artefact_columns import ARTEFACTS
from blanketflow.data.simulate import NETWORKS
from blanketflow.reporting.tables import TABLES
from blanketflow.workflow.layout import path_of
from generate import pages, write_pages
from generate.architecture import import_rule, rooms_drawing
from generate.results import STAGES
from generate.studies import charts_of_studies

REPO = Path(__file__).parents[2]
GENERATED = {f"docs/{name}": text for name, text in pages().items()}
FOLDERS = "docs", "studies"
WRITTEN = {
    str(path.relative_to(REPO)): path.read_text(encoding="utf-8")
    for path in [REPO / "README.md", REPO / "CONTRIBUTING.md", *(p for f in FOLDERS for p in (REPO / f).rglob("*.md"))]
    if "_build" not in path.parts and str(path.relative_to(REPO)) not in GENERATED
}
PAGES = WRITTEN | GENERATED
CHARTS = {f"docs/{name}" for name in charts_of_studies()}
FENCE = re.compile(r"^( *)```(\S*)[^\n]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^()\s]+(?:\([^()\s]*\))?[^()\s]*)\)")
KINDS = {"methods": "selectors", "tests": "ci", "models": "models"}
CARDS = [(folder, name, found) for folder, of in KINDS.items() for name, found in discover(f"blanketflow.{of}").items()]


def prose(text):
    return re.sub(r"`[^`\n]+`", lambda code: code.group().replace("]", ""), FENCE.sub("", text))


def anchors(text):
    """Return the anchors of a page's headings, as GitHub and myst-parser make them."""
    found = []
    for heading in re.findall(r"^#{1,4} (.+)$", FENCE.sub("", text), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        found.append(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


def links(name):
    return [link for link in LINK.findall(prose(PAGES[name])) if not re.match(r"[a-z]+:", link)]


def resolved(name, link):
    """Return the path of a link's file from the top of the repository, and its anchor."""
    file, _, anchor = link.partition("#")
    parts = []
    for part in PurePosixPath(name).parent.joinpath(file).parts if file else PurePosixPath(name).parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts), anchor


@pytest.mark.parametrize("name", sorted(PAGES))
def test_links_lead_to_a_file_and_a_heading(name):
    for link in links(name):
        file, anchor = resolved(name, link)
        assert file in PAGES or file in CHARTS or (REPO / file).exists(), f"{name}: {link}"
        assert not anchor or anchor in anchors(PAGES[file]), f"{name}: {link}"


def test_what_is_read_without_the_site_links_to_nothing_that_only_the_site_has():
    for name in ("README.md", "CONTRIBUTING.md"):
        assert not {resolved(name, link)[0] for link in links(name)} & set(GENERATED)


def test_every_page_is_in_one_table_of_contents():
    listed = []
    for name, text in PAGES.items():
        for block in re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            entries = [line for line in block.splitlines() if line and not line.startswith(":")]
            entries = [re.sub(r".*<(.+)>", r"\1", entry) for entry in entries]
            listed += [f"{PurePosixPath(name).parent}/{entry}.md" for entry in entries]
    assert sorted([*listed, "docs/index.md"]) == sorted(name for name in PAGES if name.startswith("docs/"))


def sentences(text):
    """Return the sentences of a page: paragraphs and list items, without code, tables, headings and pictures."""
    text = re.sub(r"<!--.*?-->|!\[[^\]]*\]\([^)]*\)", "", FENCE.sub("\n", text), flags=re.DOTALL)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]+`", "code", text))
    text = re.sub(r"^(#|\|).*$", "\n", text, flags=re.MULTILINE)
    blocks = re.split(r"\n\s*\n|^[-*] |^\d+\. ", text, flags=re.MULTILINE)
    return [found for block in blocks for found in re.split(r"(?<=[.!?])\s+", " ".join(block.split())) if found]


def test_sentences_are_counted_without_code_and_tables():
    text = (
        "# A head\n\nOne `two three` [four\nfive](a.md). Six?\n\n- Seven:\n\n| a | b |\n\n```\ncode\n```\n1. Eight.\n"
    )
    assert sentences(text) == ["One code four five.", "Six?", "Seven:", "Eight."]


@pytest.mark.parametrize("name", ["README.md", "docs/index.md"])
def test_sentences_of_a_first_page_are_short(name):
    found = sentences(WRITTEN[name])
    assert len(found) > 10
    assert [sentence for sentence in found if len(sentence.split()) > 25] == []


def test_the_comparison_with_other_software_counts_our_methods():
    cards = [found.card for folder, _, found in CARDS if folder == "methods"]
    claims = [card.guarantee for card in cards if card.family == "causal" and not card.guarantee.startswith("none")]
    causal, others = (sum((card.family == "causal") == is_causal for card in cards) for is_causal in (True, False))
    others -= sum(card.family == "reference" for card in cards)
    said = f"[{causal} causal methods](methods/index.md), features by {others} others"
    assert said in WRITTEN["docs/beside-others.md"]
    assert f"claims of {len(claims)} methods" in WRITTEN["docs/beside-others.md"]


def test_llms_txt_links_to_pages():
    links = LINK.findall((REPO / "docs/llms.txt").read_text(encoding="utf-8"))
    assert links and {f"docs/{link.removesuffix('.html')}.md" for link in links} <= set(PAGES)


@pytest.mark.parametrize(("folder", "name", "found"), CARDS, ids=lambda value: value if isinstance(value, str) else "")
def test_each_card_has_its_page(folder, name, found):
    text, card = GENERATED[f"docs/{folder}/{name}.md"], found.card
    for fact in (card.name, card.summary, card.cost if folder != "models" else "", card.formula):
        assert fact.replace("|", r"\|") in text
    assert folder == "models" or card.guarantee.replace("|", r"\|") in text
    explained = text + GENERATED[f"docs/{folder}/index.md"].partition("\n## Shared options\n")[2]
    for option, parameter in found.parameters().items():
        assert f"`{option}" in text
        assert f"| `{option}` | {parameter.wanted()}" in explained
        assert parameter.doc.replace("|", r"\|") in explained
    for doi in re.findall(r"10\.\d{4,}/\S*[^\s;,.]", card.reference):
        assert f"](https://doi.org/{doi})" in text
    assert f"({name}.md)" in GENERATED[f"docs/{folder}/index.md"]


#: Pages that select or compare for seconds; the examples of docstrings do so in make test.
SLOW = {"docs/answer.md", "docs/compare.md", "docs/library.md", "docs/recipes.md"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.extended if name in SLOW else ())
        for name in sorted(PAGES)
        if name.startswith("docs/") and not name.startswith("docs/methods/")
    ],
)
def test_python_of_a_page_runs(name):
    """By itself, as a reader would copy it. That of methods is their docstrings', which are run as they are."""
    blocks = [body for _, language, body in FENCE.findall(PAGES[name]) if language == "python" and ">>>" in body]
    parsed = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, name, name, 0)
    runner = doctest.DocTestRunner(verbose=False)
    said = []
    runner.run(parsed, out=said.append)
    assert not runner.failures, "".join(said)


@pytest.mark.parametrize(("folder", "name", "found"), CARDS, ids=lambda value: value if isinstance(value, str) else "")
def test_the_config_of_a_page_is_valid(folder, name, found):
    del found
    (snippet,) = (
        body for _, language, body in FENCE.findall(GENERATED[f"docs/{folder}/{name}.md"]) if language == "yaml"
    )
    whole = {"datasets": {"clinic": {"source": "simulate:clinic"}}, "selectors": {"all": {"method": "all"}}}
    read_config(whole | yaml.safe_load(snippet))


def test_simulated_sources_have_their_rows():
    for name, known in NETWORKS.items():
        (row,) = re.findall(rf"^\| `{name}` .*$", GENERATED["docs/simulated.md"], re.MULTILINE)
        assert f"`{known.target}`" in row
        assert all(f"`{node}`" in row for node in known.truth()["blanket"])


def test_the_page_of_results_explains_every_column_of_the_stages():
    text = GENERATED["docs/results.md"]
    sections = {name: (ARTEFACTS[name], f"`{path_of(name)}`") for name in STAGES}
    sections |= {f"tables/{name}": (made.rows, f"`tables/{name}.parquet`") for name, made in TABLES.items()}
    explained = text.split("\n## Columns of several files\n")[1].split("\n## ")[0]
    for name, (rows, path) in sections.items():
        section = text.split(f"\n### {name}\n")[1].split("\n### ")[0]
        assert path in section and rows.each in section
        for column, (kind, meaning, unit) in {**rows.columns, **rows.sometimes}.items():
            assert meaning, (name, column)
            stated = "".join(f" {cell} |" for cell in (kind, unit, meaning))
            said = f"| `{column}` |{stated}"
            own = section.replace(", not in all", "").replace("\\|", "|")
            assert said in own or (f"`{column}`" in own and said in explained.replace("\\|", "|"))


def test_pages_are_written_once_and_those_of_no_card_are_removed(tmp_path):
    write_pages(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.md")}
    (tmp_path / "methods" / "gone.md").write_text("# gone")
    write_pages(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.md")} == before
    assert {str(path.relative_to(tmp_path)) for path in before} == set(pages())


def test_contributing_has_the_import_rule():
    rows = re.findall(r"^\| `(\w+)/` \|.*\| ([^|]+) \|$", PAGES["CONTRIBUTING.md"], re.MULTILINE)
    said, above = {}, []
    for room, allowed in rows:
        first, _, exceptions = allowed.partition("except ")
        words = set(re.split(", ", exceptions or first.partition(";")[0])) - {"nothing"}
        said[room] = set(above) - words if first.startswith("all above") else words
        above.append(room)
    assert said == {room: set(others) for room, others in import_rule().items()}


def test_the_architecture_draws_the_import_rule_and_names_files_that_exist():
    assert (REPO / "docs/rooms.svg").read_text(encoding="utf-8") == rooms_drawing(), "run make docs"
    for room in import_rule():
        assert f"\n| `{room}` |" in PAGES["docs/architecture.md"]
    named = re.findall(r"`([\w.-]+/[\w./-]*)`", PAGES["docs/architecture.md"])
    places = REPO, REPO / "src/blanketflow"
    assert [name for name in named if not any((place / name).exists() for place in places)] == []
