"""The paths of all files of a run below the folder of results: the only module that makes and parses them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path, PurePath
from typing import NamedTuple

from ..config.identifiers import IDENTIFIER
from ..core.errors import ArtefactError

_SEARCH = "select/{dataset}/{split}/{selector}"
_MARGINAL = "ci_test/{dataset}/{split}/fold-{fold}/{test}"
_COUNTS = "counts/{dataset}/{split}/fold-{fold}/{test}"

#: The path of each artefact, with its ids as wildcards of Snakemake.
PATHS = {
    "table": "data/{dataset}/table.parquet",
    "card": "data/{dataset}/card.json",
    "splits": "data/{dataset}/splits-{folds}.parquet",  # what jobs read; another number of folds reruns none of them
    "all_splits": "data/{dataset}/splits.parquet",  # the same in one file, for people
    "ci_test": f"{_MARGINAL}.parquet",
    "ci_test_chunk": f"{_MARGINAL}.chunk-{{chunk}}.parquet",
    "agreement": f"{_COUNTS}.agreement.parquet",
    "count_shard": f"{_COUNTS}.shard-{{shard}}.parquet",
    "counts": f"{_COUNTS}.parquet",
    "grow": f"{_SEARCH}/fold-{{fold}}/grow.parquet",
    "shrink": f"{_SEARCH}/fold-{{fold}}/shrink.parquet",
    "blanket": f"{_SEARCH}/blanket.parquet",
    "folds": f"{_SEARCH}/folds.parquet",
    "blankets": f"{_SEARCH}/blankets.parquet",
    "confirm": f"{_SEARCH}/confirm.parquet",  # of the final blanket, where it is asked for
    "evaluate": "evaluate/{dataset}/{selector}.parquet",
    "evaluate_optimistic": "evaluate/{dataset}/all-rows/{selector}.parquet",  # scores of the final blanket
    "result_table": "tables/{table}.parquet",
    "result_table_csv": "tables/{table}.csv",
    "report": "report.html",
    "figures": "figures",
    "figure": "figures/{figure}.svg",
    "provenance": "provenance.json",
    "lock": "run-lock",  # by whom the folder is written
    "manifest": "manifest",  # what a plan knows of all others without opening them
}
#: Patterns of ids. The rules restrict those of tests, selectors and further tables to the plan's.
IDS = dict.fromkeys(("dataset", "selector", "test", "further"), IDENTIFIER.pattern) | {
    "split": "full|cv-[0-9]+",
    "folds": "[0-9]+",
    "fold": "0|[0-9]+of[0-9]+",
    "chunk": "[0-9]+of[0-9]+",
    "shard": "[0-9]+of[0-9]+",
    "table": "[a-z0-9_-]+",
    "figure": "[^/]+",
}
#: The folders of a run; logs and benchmarks mirror the rules.
FOLDERS = tuple(sorted({"logs", "benchmarks", *(path.split("/")[0] for path in PATHS.values() if "/" in path)}))
_ID = re.compile(r"\{(\w+)\}")


class Place(NamedTuple):
    """An artefact and the ids in its path."""

    artefact: str
    ids: dict[str, str]


def path_of(artefact: str, **ids: str) -> str:
    """Return the path of an artefact (a key of `PATHS`) below the folder of results.

    Omitted ids remain wildcards of Snakemake; ids that the path does not have are ignored.

    >>> path_of("blanket", dataset="wine", split="full")
    'select/wine/full/{selector}/blanket.parquet'
    """
    return _ID.sub(lambda found: str(ids.get(found[1], found[0])), PATHS[artefact])


def parse(path: str | PurePath, among: Iterable[str] = tuple(PATHS)) -> Place:
    """Return the artefact and ids of a path, wherever the folder of results is.

    `among` lists the candidates; if two match, the one with more folders is taken. Raises `ArtefactError` if none does.

    >>> parse("results/ci_test/wine/cv-1/fold-2of5/g2.parquet").ids
    {'dataset': 'wine', 'split': 'cv-1', 'fold': '2of5', 'test': 'g2'}
    """
    among = tuple(among)
    for artefact in sorted(among, key=lambda name: -PATHS[name].count("/")):
        found = _pattern(artefact).fullmatch(PurePath(path).as_posix())
        if found:
            return Place(artefact, found.groupdict())
    raise ArtefactError(f"{path} is not where a run writes {' or '.join(among)}. Do not move or rename results.")


def by_folds(splits: Iterable[Path]) -> dict[str, Path]:
    """Return the splits of a data set by their number of folds.

    >>> by_folds([Path("results/data/wine/splits-5.parquet")])
    {'5': PosixPath('results/data/wine/splits-5.parquet')}
    """
    return {parse(path, ["splits"]).ids["folds"]: path for path in splits}


def files_like(artefacts: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for the paths of some artefacts; its group ``output`` is the folder of results.

    >>> files_like(["table", "card"]).fullmatch("mine/data/wine/card.json")["output"]
    'mine/'
    """
    bodies = (re.sub(r"\?P<\w+>", "?:", _body(artefact)) for artefact in artefacts)
    return re.compile(f"(?P<output>.*/|)(?:{'|'.join(bodies)})")


@cache
def _pattern(artefact: str) -> re.Pattern[str]:
    return re.compile(f"(?:.*/)?{_body(artefact)}")


def _body(artefact: str) -> str:
    *texts, last = map(re.escape, re.split(r"\{\w+\}", PATHS[artefact]))
    names = _ID.findall(PATHS[artefact])
    return "".join(f"{text}(?P<{name}>{IDS[name]})" for text, name in zip(texts, names, strict=True)) + last
