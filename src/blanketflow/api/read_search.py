"""``bf.read_search``: the search that an answer on disk came from, to be run again."""

from __future__ import annotations

import json
from pathlib import Path

from ..core.errors import ConfigError
from ..data.artefacts import read_provenance
from ..search.search import Search


def read_search(path: str | Path) -> Search:
    """Return the search that an answer came from.

    Parameters
    ----------
    path : path
        The ``blanket.parquet`` of a run, or the JSON of ``blanketflow select --json``.

    Returns
    -------
    Search
        Its ``run(X, y)`` repeats the answer: on the training rows of the split, in the order of the data set, the
        features, importances and p-values are equal to the last bit.

    Raises
    ------
    ConfigError
        If the file does not say how its answer was found.
    ArtefactError
        If it is damaged.

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
    identity: list[str] = []
    if path.suffix == ".json":
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ConfigError(f"{path} is not JSON ({error}). Name what blanketflow select --json printed.") from error
        asked = said.get("search") if isinstance(said, dict) else None
    else:
        provenance = read_provenance(path)
        spec = json.loads(provenance.spec)
        asked = spec.get("search")
        if asked is not None:  # jobs impute what no rule of a CI test takes
            asked = {"missing": "impute", **asked, "folds": spec["folds"], "aggregate": spec["aggregate"]}
            identity = [provenance.what["dataset"], provenance.what["split"]]
        if "stratify" in spec:
            raise ConfigError(
                f"{path}: its folds are not stratified (splits: stratify: false), and a search by itself stratifies "
                "them. Set stratify: true and run again to repeat its answers."
            )
    if not asked or "supplied" in asked or "shards" in asked:
        raise ConfigError(
            f"{path} does not say by which search its answer was found in rows. Name the blanket.parquet of a selector "
            "of a run, or what blanketflow select --json printed."
        )
    return Search.from_dict({**({"identity": identity} if identity else {}), **asked})
