"""BibTeX of what a run used, read from the references on the cards, and of blanketflow itself."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from .latex_text import in_latex

if TYPE_CHECKING:
    from ...core.cards import Card
    from .exported_run import ExportedRun

JOURNAL, BOOKTITLE, PUBLISHER = "journal", "booktitle", "publisher"
#: The type of an entry by the field of its venue.
_TYPES = {JOURNAL: "article", BOOKTITLE: "inproceedings", PUBLISHER: "book", "chapter": "incollection", "": "misc"}
#: What the abbreviations on the cards stand for.
_JOURNALS = {
    "Annals of Statistics": "Annals of Statistics",
    "IEEE TKDE": "IEEE Transactions on Knowledge and Data Engineering",
    "IEEE TNNLS": "IEEE Transactions on Neural Networks and Learning Systems",
    "IEEE TPAMI": "IEEE Transactions on Pattern Analysis and Machine Intelligence",
    "J. R. Statist. Soc. B": "Journal of the Royal Statistical Society: Series B",
    "JASA": "Journal of the American Statistical Association",
    "JMLR": "Journal of Machine Learning Research",
    "JRSS B": "Journal of the Royal Statistical Society: Series B",
}
_PROCEEDINGS = {
    "AAAI": "AAAI Conference on Artificial Intelligence",
    "AISTATS": "International Conference on Artificial Intelligence and Statistics",
    "AMIA Annual Symposium Proceedings": "AMIA Annual Symposium Proceedings",
    "Canadian AI": "Advances in Artificial Intelligence (Canadian AI)",
    "ECAI": "European Conference on Artificial Intelligence",
    "ECCV": "European Conference on Computer Vision",
    "EvoBIO": "Evolutionary Computation, Machine Learning and Data Mining in Bioinformatics (EvoBIO)",
    "EvoWorkshops": "Applications of Evolutionary Computing (EvoWorkshops)",
    "FLAIRS": "International FLAIRS Conference",
    "ICCV": "IEEE International Conference on Computer Vision",
    "ICDM": "IEEE International Conference on Data Mining",
    "ICML": "International Conference on Machine Learning",
    "IEEE ICDM": "IEEE International Conference on Data Mining",
    "KDD": "ACM SIGKDD International Conference on Knowledge Discovery and Data Mining",
    "NIPS": "Advances in Neural Information Processing Systems",
    "NeurIPS": "Advances in Neural Information Processing Systems",
    "Speech and Natural Language Workshop": "Speech and Natural Language Workshop",
    "UAI": "Conference on Uncertainty in Artificial Intelligence",
}
_VENUES = (
    {short: (JOURNAL, name) for short, name in _JOURNALS.items()}
    | {short: (BOOKTITLE, name) for short, name in _PROCEEDINGS.items()}
    | {"Wiley": (PUBLISHER, "Wiley")}
)
#: Between two references, or before one in brackets of words such as "ties: ".
_BETWEEN = re.compile(r"; |\. (?=(?:\w+: )?[^.;:()]+ \(\d{4}\))")
_PARTS = re.compile(r"(?:(?P<what>[^:()]+): )?(?P<authors>[^:()]+) \((?P<year>\d{4})\),? *(?P<rest>.*)", re.DOTALL)
_DOI = re.compile(r"(?:doi: ?|https?://doi\.org/)?(10\.\d{4,9}/\S+)\Z")
_ARXIV = re.compile(r"arXiv:(\S+)\Z")
_PAGES = re.compile(r"(\d+-\d+|[a-z]+\d+|\d{4,})\Z")
_EDITION = re.compile(r"(\d+)(?:st|nd|rd|th) ed\.\Z")
#: A name with the volume and perhaps the issue.
_VOLUME = re.compile(r"(?P<name>.*?\D) (?P<volume>\d+)(?:\((?P<number>\d+(?:-\d+)?)\))?\Z")
#: Where in a paper it is.
_PLACE = re.compile(r"(?:Algorithm|chapter|eq\.) ")
#: Words that do not tell papers apart.
_SMALL_WORDS = {"a", "an", "the", "on", "of", "in", "for", "and", "to", "some", "can"}


@dataclass(frozen=True)
class Reference:
    """One paper or book, in the fields of BibTeX.

    `surnames` are of its authors; "others" ends a list that is not whole.
    """

    surnames: tuple[str, ...]
    year: str
    title: str = ""
    venue: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def marks(self) -> list[tuple[str, ...]]:
        """What two mentions of one paper have in common: at least one of these."""
        doi, pages = (self.fields.get(name, "") for name in ("doi", "pages"))
        found = [(doi.lower(),)] if doi else []
        return found + ([(_plain(self.surnames[0]), self.year, pages or self.title)] if pages or not doi else [])

    @property
    def key(self) -> str:
        """The key of its entry: surname, year and the first word of the title that tells."""
        words = [word for word in re.findall(r"\w+", _plain(self.title)) if word not in _SMALL_WORDS]
        return "".join([re.sub(r"\W", "", _plain(self.surnames[0])), self.year, *words[:1]])

    def joined(self, other: Reference) -> Reference:
        """Return one reference from two mentions of a paper."""
        first, second = sorted((self, other), key=lambda one: (not one.title, -len(one.fields)))
        more = second.fields if first.venue in ("", second.venue) else {"doi": second.fields.get("doi", "")}
        return replace(first, venue=first.venue or second.venue, fields={**more, **first.fields})

    def entry(self) -> str:
        """Return it as an entry of BibTeX."""
        said = {"author": " and ".join(map(in_latex, self.surnames)), "title": _title(self.title), "year": self.year}
        said |= {name: _escaped(name, value) for name, value in self.fields.items()}
        return _entry(_TYPES[self.venue], self.key, said)


def references(text: str) -> list[Reference]:
    """Return the papers and books that the reference of a card names; parts that name none are left out.

    Examples
    --------
    >>> (found,) = references("Fleuret (2004) Fast binary feature selection, JMLR 5, 1531-1555.")
    >>> found.key, found.title, found.fields["journal"], found.fields["pages"]
    ('fleuret2004fast', 'Fast binary feature selection', 'Journal of Machine Learning Research', '1531--1555')
    """
    found: list[Reference] = []
    for part in _BETWEEN.split(text.strip().rstrip(".")):
        if said := _PARTS.match(part):
            authors = _surnames(said["authors"]) if said["authors"] != "also" or not found else found[-1].surnames
            found.append(_reference(authors, said["year"], said["rest"]))
    return found


def _surnames(text: str) -> tuple[str, ...]:
    known = text.replace(" et al.", ", others").replace(" and others", ", others")
    return tuple(known.split(", "))


def _reference(surnames: tuple[str, ...], year: str, rest: str) -> Reference:
    """Return a reference from the text after its year: title, venue with volume and issue, pages, DOI."""
    titles, fields, venue = [], {}, ""
    for part in filter(None, re.split(r", (?!arXiv)|, ", rest)):
        if found := _DOI.match(part):
            fields["doi"] = found[1].rstrip(".,")
        elif found := _ARXIV.match(part):
            fields |= {"eprint": found[1].rstrip("."), "archiveprefix": "arXiv"}
        elif _PLACE.match(part):
            continue
        elif found := _EDITION.match(part):
            fields["edition"] = found[1]
        elif part.startswith("in: "):
            fields["booktitle"] = part.removeprefix("in: ")
        elif found := _PAGES.match(part):
            fields["pages"] = found[1].replace("-", "--")
        else:
            titles.append(part)
    for at, part in enumerate(titles):
        numbered = _VOLUME.match(part)
        name = numbered["name"] if numbered else part
        known = _VENUES.get(name)
        if known is None and at == len(titles) - 1 and (at or numbered) and (numbered or "pages" in fields):
            known = JOURNAL, name
        if known:
            venue = "chapter" if "booktitle" in fields else known[0]
            numbers = numbered.groupdict() if numbered and numbered["volume"] != year else {}
            numbers["series"] = ", ".join(titles[at + 1 :])
            fields = {known[0]: known[1]} | {name: value for name, value in numbers.items() if value} | fields
            fields.pop("name", None)
            return Reference(surnames, year, ", ".join(titles[:at]), venue, fields)
    return Reference(surnames, year, ", ".join(titles), venue, fields)


def _plain(text: str) -> str:
    """Return a text in small ASCII letters."""
    apart = unicodedata.normalize("NFD", text.replace("ß", "ss").replace("ø", "o").replace("ł", "l"))
    return apart.encode("ascii", "ignore").decode().lower()


def _title(text: str) -> str:
    """Return a title whose capitals, as in Markov or HITON, no style of BibTeX makes small."""
    words = [in_latex(word) for word in text.split(" ")]
    capitals = [any(sign.isupper() for sign in word[at == 0 :]) for at, word in enumerate(words)]
    return " ".join(f"{{{word}}}" if is_name else word for word, is_name in zip(words, capitals, strict=True))


def _escaped(name: str, value: str) -> str:
    """Return the value of a field; DOIs and addresses are kept as they are, for packages that make links of them."""
    return value if name in ("doi", "eprint", "url", "pages") else in_latex(value)


def _entry(kind: str, key: str, said: Mapping[str, str]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in said.items() if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"]) + "\n"


# --- the bibliography of some cards -----------------------------------------------------------------------------------

#: The papers of the values of the option `correction`, which are cited where it is set to them.
CORRECTIONS = {
    "bh": "Benjamini, Hochberg (1995) Controlling the false discovery rate: a practical and powerful approach to "
    "multiple testing, JRSS B 57(1), 289-300, doi:10.1111/j.2517-6161.1995.tb02031.x",
    "by": "Benjamini, Yekutieli (2001) The control of the false discovery rate in multiple testing under dependency, "
    "Annals of Statistics 29(4), 1165-1188, doi:10.1214/aos/1013699998",
}
#: The key of blanketflow's own entry.
ITSELF = "blanketflow"


class Bibliography:
    """The references of cards, each paper once.

    `known` are all cards: a short mention on one of them is completed by a full one on another, so that keys do not
    depend on what a run used.
    """

    def __init__(self, known: Iterable[Card]) -> None:
        self._papers: dict[tuple[str, ...], Reference] = {}
        for card in sorted(known, key=lambda card: card.id):
            for paper in references(card.reference):
                for mark in paper.marks:
                    paper = paper.joined(self._papers.get(mark, paper))
                self._papers |= dict.fromkeys(paper.marks, paper)

    def papers(self, card: Card) -> list[Reference]:
        """Return the papers that a card names."""
        return [self._papers[paper.marks[0]] for paper in references(card.reference)]

    def keys(self, card: Card) -> list[str]:
        """Return the keys by which a card is cited; its id if its reference names no paper."""
        is_cited = card.reference not in ("", "none")
        return list(dict.fromkeys(paper.key for paper in self.papers(card))) or ([card.id] if is_cited else [])

    def text(
        self,
        cards: Sequence[Card],
        itself: Mapping[str, Any],
        unknown: Sequence[str] = (),
        corrections: Iterable[str] = (),
    ) -> str:
        """Return the entries of cards and `CORRECTIONS` by key, and of blanketflow, whose CITATION.cff is `itself`.

        `unknown` are classes of other packages, of which a comment says that they have no entry.
        """
        used = [paper for card in cards for paper in self.papers(card)]
        used += [paper for name in corrections for paper in references(CORRECTIONS[name])]
        entries = {paper.key: paper.entry() for paper in used}
        for card in cards:
            if not self.papers(card) and self.keys(card):
                said = {"title": in_latex(card.name), "note": in_latex(card.reference)}
                entries[card.id] = _entry("misc", card.id, said)
        notes = ["% Authors are surnames only: the entries with a DOI can be completed from it.\n"]
        notes += [f"% {in_latex(name)} is of another package. Cite it as its authors ask.\n" for name in unknown]
        return "\n".join([*notes, _itself(itself), *(entries[key] for key in sorted(entries))])


def _itself(cff: Mapping[str, Any]) -> str:
    """Return the entry of a CITATION.cff; authors that are no persons are kept whole."""
    authors = []
    for one in cff["authors"]:
        parts = one.get("family-names"), one.get("given-names")
        authors.append(", ".join(map(in_latex, filter(None, parts))) if any(parts) else f"{{{in_latex(one['name'])}}}")
    said = {"author": " and ".join(authors), "title": _title(cff["title"])}
    said["year"] = str(cff.get("date-released", ""))[:4]
    said |= {key: str(cff[key]) for key in ("doi",) if key in cff}
    said["url"] = str(cff.get("repository-code") or cff.get("url") or "")
    said["note"] = f"Version {in_latex(cff['version'])}, licence {in_latex(cff['license'])}"
    return _entry("misc", ITSELF, said)


def as_bibtex(exported: ExportedRun) -> str:
    """Return the entries of what a run used, and of blanketflow."""
    cards, unknown = exported.used()
    corrections = {exported.run.selectors[name].get("correction") for name in exported.searched} & CORRECTIONS.keys()
    return Bibliography(exported.run.method_cards.values()).text(cards, exported.itself, unknown, corrections)
