"""``bf.read_search``: reads the search behind a stored result, to repeat it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.errors import ConfigError, did_you_mean
from ..data.artefacts import read_provenance
from ..search.search import Search
from ..workflow.collect import asked_search

#: The searches in the page of a report, by data set and selector.
_IN_PAGE = re.compile(r'<script type="application/json" id="searches">(.*?)</script>', re.DOTALL)


def read_search(path: str | Path, dataset: str | None = None, selector: str | None = None) -> Search:
    """Return the search that produced a stored result.

    Parameters
    ----------
    path : path
        ``report.html``, ``provenance.json`` or ``blanket.parquet`` of a run, or JSON of ``blanketflow select --json``.
    dataset, selector : str, optional
        Which search of a report or its provenance to read; needed if there are several.

    Returns
    -------
    Search
        ``run(X, y)`` repeats it: on the training rows of the split, in the order of the data set, features, importances
        and p-values are equal to the last bit. A report has the searches on all rows.

    Raises
    ------
    ConfigError
        If the file has no search, or several and none is chosen.
    ArtefactError
        If the file is damaged.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import blanketflow as bf
    >>> search = bf.IAMB(ci_test="fisher-z").search()
    >>> path = pathlib.Path(tempfile.mkdtemp(), "answer.json")
    >>> size = path.write_text(json.dumps({"search": search.as_dict()}))
    >>> bf.read_search(path) == search
    True
    """
    path = Path(path)
    if path.suffix == ".parquet":
        asked = asked_search(read_provenance(path))
        if isinstance(asked, str):
            raise ConfigError(f"{path}: {asked}. Name the blanket.parquet of another selector of a run.")
        return Search.from_dict(asked)
    text = path.read_text(encoding="utf-8")
    in_page = _IN_PAGE.search(text)
    try:
        said = {"searches": json.loads(in_page[1])} if in_page else json.loads(text)
    except ValueError as error:
        raise ConfigError(f"{path} is neither a report nor JSON ({error}). {_WANTED}") from error
    if isinstance(said, dict) and said.get("search"):
        return Search.from_dict(said["search"])
    searches = said.get("searches") if isinstance(said, dict) else None
    if not searches:
        raise ConfigError(f"{path} does not say by which search its answer was found in rows. {_WANTED}")
    of_data = _one_of(path, "dataset", dataset, searches)
    return Search.from_dict(_one_of(path, "selector", selector, of_data))


_WANTED = "Name report.html, provenance.json or a blanket.parquet of a run, or the output of blanketflow select --json."


def _one_of(path: Path, key: str, wanted: str | None, known: Mapping[str, Any]) -> Any:
    if wanted is None and len(known) == 1:
        return next(iter(known.values()))
    if wanted not in known:
        why = f"holds several searches: pass {key}" if wanted is None else f"has no {key} {wanted!r}"
        raise ConfigError(f"{path} {why}. {did_you_mean(wanted or '', known)}")
    return known[wanted]
