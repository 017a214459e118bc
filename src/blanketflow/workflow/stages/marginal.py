"""The ci_test stage: each feature against the target, unconditionally, on one fold.

The artefact of a resampling test (see `ci/engines.py`) stores each repeat, so that later runs compute only new ones.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import DataError
from ...core.results import CIResults
from ...data.arrow import array_from_arrow, joined, numbers_from_arrow
from ...data.artefact_columns import ARTEFACTS
from ...data.artefacts import opened, read_arrow, read_provenance, write_arrow, write_columns
from ...data.provenance import Provenance
from ...data.storage import WHOLE, Part, read_features, small_parts
from ...search.run_fold import test_stage
from ..identity import stands
from ..jobs import passed_on, recorded
from ..layout import by_folds, parse, path_of
from .fold import Fold

logger = logging.getLogger("blanketflow")

_ROWS = ARTEFACTS["ci_test"]
#: Options of a resampling test that affect the number and evaluation of repeats, but no single repeat.
_NOT_OF_REPEATS = ("n_repeats", "significance")


def ci_test(
    table: Path,
    splits: Path,
    marginal: Sequence[Path],
    dataset: str,
    folds: Sequence[str],
    test: str,
    spec: str,
    code: str,
    chunk: str = "1of1",
    make_fold: Callable[..., Fold] = Fold,
) -> None:
    """Write one ci_test artefact per fold (split/fold), of all features or of one chunk."""
    at, n_chunks = map(int, chunk.split("of"))
    of_all_features = Path(path_of("ci_test", test=test)).name
    for path, name in zip(marginal, folds, strict=True):
        fold = make_fold(table, splits, dataset, *name.split("/"), spec, code)
        ci_test_fold(fold, path, path.with_name(of_all_features), (at, n_chunks))


def several_tests(
    table: Path, splits: Sequence[Path], marginal: Sequence[Path], dataset: str, spec: str, code: str
) -> None:
    """Write the outdated ci_test artefacts of several tests; `spec` and `code` are JSON with those of each test."""
    specs, codes, of_folds = json.loads(spec), json.loads(code), by_folds(splits)
    for path in marginal:
        ids = parse(path, ["ci_test"]).ids
        test, fold = ids["test"], ids["fold"]
        one = Fold(table, of_folds[fold.split("of")[-1]], dataset, ids["split"], fold, specs[test], codes[test])
        if not stands(path, one.provenance("ci_test", path)):
            ci_test_fold(one, path, path)


def ci_test_fold(fold: Fold, path: Path, earlier: Path, part: Part = WHOLE) -> None:
    """Test all features of a fold, or `part` of them, and write the results.

    Repeats in the artefact `earlier` (all features) are reused if code, options and content of the rows are equal.
    """
    artefact = "ci_test" if part == WHOLE else "ci_test_chunk"
    provenance, features, results, differences = fold.provenance(artefact, path), [], None, None
    with recorded(provenance):
        test, rows = fold.test(), np.empty(0) if fold.is_counted else fold.rows()
        found: list[CIResults] = []
        found_differences: list[np.ndarray] = []
        # One job processes the parts of a wide table in sequence, as scattered jobs would.
        if fold.is_counted:
            table = fold.read()
            *features, target = table.names
            found.append(test_stage(test, table, fold.seed, target)[0])
            parts = []
        else:
            parts = small_parts(fold.table, part) if test.column_by_column else [part]
        for small in parts:
            stored = read_features(fold.table, small)
            *names, target = (table := fold.prepared(stored, rows)).names
            if not features:
                identity = _repeats_of(fold, stored.extra["content_hash"], rows)
                known = _known_differences(earlier, identity, part)
            own = slice(len(features), len(features) + len(names))
            results, repeats = test_stage(test, table, fold.seed, target, None if known is None else known[own])
            found.append(results)
            if provenance.status == "ok" and (doubts := test.doubts(table, target, results)):
                provenance.status, provenance.reason = "unreliable", doubts
            if repeats is not None:
                found_differences.append(repeats)
            features += names
        if found_differences:
            differences = np.concatenate(found_differences)
            provenance.extra["repeats_of"] = identity
            n_repeats = differences.shape[1]
            n_known = min(n_repeats, 0 if known is None else known.shape[1])
            logger.info("%d repeats computed, %d taken from an earlier run", n_repeats - n_known, n_known)
        results = CIResults.joined(found)
        provenance.n_tests, provenance.extra["target"] = len(features), target
        provenance.extra |= fold.sample()
    write_marginal(path, features, results, provenance, differences)


def gather_parts(fold: Fold, chunks: Sequence[Path], marginal: Path) -> None:
    """Join the results on parts of the features, as if all features had been tested at once."""
    import pyarrow as pa

    provenance, own = fold.provenance("ci_test", marginal), [read_provenance(chunk) for chunk in chunks]
    with recorded(provenance):
        passed_on(provenance, own)
        provenance.n_tests, provenance.extra = sum(one.n_tests for one in own), own[0].extra
    provenance.seconds = sum(one.seconds for one in own)
    if provenance.usable:
        write_arrow(marginal, pa.concat_tables([read_arrow(chunk)[0] for chunk in chunks]), provenance)
    else:
        write_marginal(marginal, [], None, provenance)


def _repeats_of(fold: Fold, content: str, rows: np.ndarray) -> str:
    """Return a digest of all that the repeats on a fold depend on."""
    asked = fold.asked
    options = {key: value for key, value in asked["options"].items() if key not in _NOT_OF_REPEATS}
    told = (asked["type"], sorted(options.items()), fold.seed, fold.code, content)
    return hashlib.blake2b(repr(told).encode() + rows.astype(np.int64).tobytes(), digest_size=16).hexdigest()


def _known_differences(path: Path, identity: str, part: Part) -> np.ndarray | None:
    """Return the repeats of an earlier run for a part of the features, shape (m, repeats)."""
    if not path.exists():
        return None
    try:
        with opened(path) as (file, provenance):
            if not provenance.usable or provenance.extra.get("repeats_of") != identity:
                return None
            lists = joined(file.read(columns=list(_ROWS.sometimes)).column(0))
    except DataError as error:
        logger.info("nothing is taken from an earlier run: %s", error)
        return None
    start, stop = ((k * len(lists)) // part[1] for k in (part[0] - 1, part[0]))
    return numbers_from_arrow(lists.values).reshape(len(lists), -1)[start:stop]


def write_marginal(
    path: Path,
    features: Sequence[str],
    results: CIResults | None,
    provenance: Provenance,
    differences: np.ndarray | None = None,
) -> None:
    """Write the ci_test artefact; no rows if there is no result."""
    types = _ROWS.types(differences is not None)
    columns: dict[str, Any] = {name: [] for name in types}
    if results is not None:
        columns = {"feature": features, **results.columns(), "risk_differences": differences}
    write_columns(path, columns, types, provenance)


def read_marginal(path: Path) -> tuple[list[str], CIResults, Provenance]:
    """Return features and results of a ci_test artefact."""
    names = list(_ROWS.columns)
    table, provenance = read_arrow(path, names)
    arrays = [array_from_arrow(table.column(name)) for name in names if name != "feature"]
    return table.column("feature").to_pylist(), CIResults(*arrays), provenance
