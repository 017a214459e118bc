"""BibTeX from the references on the cards: entries as their papers are printed, and keys that stay."""

import re
from pathlib import Path

import pytest
import yaml

from blanketflow.ci import multiple_testing
from blanketflow.core.cards import Card
from blanketflow.core.registry import discover
from blanketflow.reporting.export.bibtex import CORRECTIONS, Bibliography, references
from blanketflow.reporting.export.latex_text import in_latex

REPO = Path(__file__).parents[2]
CARDS = {
    name: found.card
    for room in ("selectors", "ci", "targets", "models")
    for name, found in discover(f"blanketflow.{room}").items()
}
WHOLE = Bibliography(CARDS.values())
ITSELF = yaml.safe_load((REPO / "CITATION.cff").read_text(encoding="utf-8"))


def entries(*cards):
    return re.findall(r"@\w+\{.*?\n\}\n", WHOLE.text(cards, ITSELF), re.DOTALL)


def entry(name, key):
    return next(one for one in entries(CARDS[name]) if f"{{{key}," in one)


#: Written by hand from the papers.
PRINTED = {
    ("kiamb", "pena2007towards"): r"""@article{pena2007towards,
  author = {Pe{\~n}a and Nilsson and Bj{\"o}rkegren and Tegn{\'e}r},
  title = {Towards scalable and data efficient learning of {Markov} boundaries},
  year = {2007},
  journal = {International Journal of Approximate Reasoning},
  volume = {45},
  number = {2},
  pages = {211--232},
  doi = {10.1016/j.ijar.2006.06.008},
}
""",
    ("hiton-mb", "aliferis2003hiton"): """@inproceedings{aliferis2003hiton,
  author = {Aliferis and Tsamardinos and Statnikov},
  title = {{HITON:} a novel {Markov} blanket algorithm for optimal variable selection},
  year = {2003},
  booktitle = {AMIA Annual Symposium Proceedings},
  pages = {21--25},
}
""",
    ("g2", "agresti2013categorical"): """@book{agresti2013categorical,
  author = {Agresti},
  title = {Categorical {Data} {Analysis}},
  year = {2013},
  publisher = {Wiley},
  edition = {3},
}
""",
    ("stepwise", "efroymson1960multiple"): """@incollection{efroymson1960multiple,
  author = {Efroymson},
  title = {Multiple regression analysis},
  year = {1960},
  publisher = {Wiley},
  booktitle = {Mathematical Methods for Digital Computers},
  pages = {191--203},
}
""",
    ("ppfs", "hassan2021ppfs"): """@misc{hassan2021ppfs,
  author = {Hassan and Paik and Khare and Hassan},
  title = {{PPFS:} {Predictive} {Permutation} {Feature} {Selection}},
  year = {2021},
  eprint = {2110.10713},
  archiveprefix = {arXiv},
}
""",
}


@pytest.mark.parametrize(("name", "key"), PRINTED)
def test_an_entry_as_its_paper_is_printed(name, key):
    assert entry(name, key) == PRINTED[name, key]


def test_commas_and_colons_of_titles_stay_in_titles():
    (found,) = references(CARDS["mrmr"].reference)
    assert found.title == (
        "Feature selection based on mutual information: criteria of max-dependency, max-relevance, and min-redundancy"
    )
    assert found.fields["journal"] == "IEEE Transactions on Pattern Analysis and Machine Intelligence"
    assert (found.fields["volume"], found.fields["number"], found.fields["pages"]) == ("27", "8", "1226--1238")


def test_a_mention_without_authors_is_by_those_before():
    first, second = references(CARDS["bahsic"].reference)
    assert first.surnames == second.surnames == ("Song", "Smola", "Gretton", "Borgwardt", "Bedo")
    assert (first.year, second.year, second.key) == ("2007", "2012", "song2012feature")


def test_every_card_with_a_reference_has_an_entry_and_no_doi_is_lost():
    for card in CARDS.values():
        text = WHOLE.text([card], ITSELF)
        cited = card.reference != "none"
        assert all(paper.title for paper in WHOLE.papers(card)), card.id
        assert bool(WHOLE.papers(card)) == bool(WHOLE.keys(card)) == cited, card.id
        said = [doi.rstrip(".,;") for doi in re.findall(r"\b10\.\d{4,}/\S+", card.reference)]
        assert all(f"doi = {{{doi}}}" in text for doi in said), card.id
    assert "10.1002/(SICI)1099-1255(199611)11:6<619::AID-JAE418>3.0.CO;2-1" in WHOLE.text([CARDS["share"]], ITSELF)


def test_the_papers_of_corrections_have_entries():
    assert set(CORRECTIONS) < set(multiple_testing.CORRECTIONS)
    text = WHOLE.text([], ITSELF, corrections=CORRECTIONS)
    assert all(f"doi = {{10.{of}}}" in text for of in ("1111/j.2517-6161.1995.tb02031.x", "1214/aos/1013699998"))


def test_a_key_names_one_paper_whatever_was_used():
    known = {}
    for card in CARDS.values():
        for paper in WHOLE.papers(card):
            assert known.setdefault(paper.key, paper) == paper
            assert re.fullmatch(r"[a-z]+\d{4}[a-z0-9]*", paper.key)
    assert len(known) > 90
    # Named in short on one card, in full on another.
    assert WHOLE.keys(CARDS["hiton-mb"]) == ["aliferis2003hiton", "aliferis2010local"]
    assert WHOLE.keys(CARDS["stepwise"])[1] == WHOLE.keys(CARDS["relieved"])[0] == "kohavi1997wrappers"


def test_braces_match_and_signs_of_latex_are_escaped():
    text = WHOLE.text([*CARDS.values()], ITSELF)
    assert text.count("{") == text.count("}")
    assert not re.search(r"(?<!\\)[&%$#_](?!.*\n*archive)", re.sub(r"(?m)^%.*|^  (doi|eprint) = .*", "", text))
    assert in_latex("50 % of A&B, x_1 {y} $ # ~ ^ \\") == (
        r"50 \% of A\&B, x\_1 \{y\} \$ \# \textasciitilde{} \textasciicircum{} \textbackslash{}"
    )
    assert in_latex("Größe, Łódź, Çelik") == r"Gr{\"o}{\ss}e, {\L}{\'o}d{\'z}, {\c C}elik"


def test_the_package_itself_is_cited_as_its_cff_says():
    (own,) = entries()
    assert "author = {{The blanketflow developers}}" in own
    assert f"note = {{Version {ITSELF['version']}, licence BSD-3-Clause}}" in own
    person = {"family-names": "Peña", "given-names": "José"}
    text = WHOLE.text([], ITSELF | {"authors": [person], "doi": "10.5281/zenodo.1", "date-released": "2026-12-01"})
    assert r"author = {Pe{\~n}a, Jos{\'e}}" in text and "doi = {10.5281/zenodo.1}" in text and "year = {2026}" in text


def test_a_reference_in_no_known_form_is_kept_whole():
    card = Card("mine", "my test & more", "ci-test", "Tests.", "unpublished, in my drawer")
    text = Bibliography([card]).text([card], ITSELF, ["lab_tests:Mine"])
    assert "@misc{mine,\n  title = {my test \\& more},\n  note = {unpublished, in my drawer},\n}" in text
    assert "% lab\\_tests:Mine is of another package." in text
