"""The ci_test stage on a table that is read a part at a time: what it writes for the whole, and what it holds."""

import numpy as np
import pytest
import scipy.sparse

from blanketflow.data import storage
from blanketflow.data.artefact_columns import ARTEFACTS
from blanketflow.data.artefacts import write_columns
from blanketflow.data.provenance import Provenance
from blanketflow.data.sources import read_source
from blanketflow.data.splits import make_splits
from blanketflow.data.storage import small_parts, write_table
from blanketflow.workflow.specs import canonical_json
from blanketflow.workflow.stages.fold import Fold
from blanketflow.workflow.stages.marginal import ci_test_fold, read_marginal

N = 60
TESTS = {
    "g2": {"type": "g2", "options": {}},
    "ppi": {"type": "ppi", "options": {"n_repeats": 8, "model": "tree"}},
    "fisher-z": {"type": "fisher-z", "options": {}},
}


def stored(folder, form, D):
    """A table of N rows and D features, with its splits."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    X = np.where(rng.random((N, D)) < 0.1, 1.0, 0.0) if form == "sparse" else rng.normal(size=(N, D))
    X[:, 7] = y
    path = folder / "X.npz"
    if form == "sparse":
        scipy.sparse.save_npz(path, scipy.sparse.csr_matrix(X))
        np.savetxt(folder / "X.y.csv", y, fmt="%d", header="target", comments="")
    else:
        np.savez(path, X=X, y=y)
    raw = read_source("wide", {"path": str(path), "task": "classification"}, 0)
    write_table(folder / "table.parquet", raw, Provenance(extra={"content_hash": "of X"}))
    asked = {"evaluation": 0, "repeats": 1, "final": True, "stratify": True}
    columns = make_splits(raw.target, asked, [0], 1, "wide", None, 0)
    write_columns(folder / "splits.parquet", columns, ARTEFACTS["splits"].types(), Provenance())
    return folder


def outcome_of(folder, name, test, part=(1, 1)):
    spec = canonical_json({**TESTS[test], "fold_rows": "train", "seed": 1})
    fold = Fold(folder / "table.parquet", folder / "splits.parquet", "wide", "full", "0", spec, "code")
    ci_test_fold(fold, folder / name, folder / "none.parquet", part)
    features, results, provenance = read_marginal(folder / name)
    assert provenance.status == "ok", provenance.reason
    return features, results.columns(), (provenance.n_tests, provenance.extra)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("form", ["sparse", "dense"])
@pytest.mark.parametrize("wide", [0, 10**6])
def test_parts_give_the_results_of_the_whole(tmp_path, monkeypatch, form, test, wide):
    monkeypatch.setattr(storage, "WIDE", wide)
    monkeypatch.setattr(storage, "WIDE_SPARSE", wide)
    folder = stored(tmp_path, form, 140)
    whole, half = outcome_of(folder, "whole", test), outcome_of(folder, "half", test, (2, 2))
    assert len(small_parts(folder / "table.parquet")) == 1
    monkeypatch.setattr(storage, "MOST_CELLS", N * 30)
    monkeypatch.setattr(storage, "MOST_CELLS_SPARSE", N * 30)
    assert len(small_parts(folder / "table.parquet")) == 5
    for (features, columns, said), (found, in_parts, said_in_parts) in (
        (whole, outcome_of(folder, "parts", test)),
        (half, outcome_of(folder, "half-parts", test, (2, 2))),
    ):
        assert features == found and said == said_in_parts
        for name in columns:
            np.testing.assert_array_equal(columns[name], in_parts[name])
    assert whole[1]["p_value"][7] < 0.01


@pytest.mark.parametrize("part", [(1, 1), (2, 3), (3, 3), (7, 80)])
@pytest.mark.parametrize("most", [1, N, N * 31, N * 1000])
def test_small_parts_make_up_the_part(tmp_path, monkeypatch, part, most):
    folder = stored(tmp_path, "dense", 90)
    monkeypatch.setattr(storage, "MOST_CELLS", most)
    path = folder / "table.parquet"
    features = [f for small in small_parts(path, part) for f in storage.read_features(path, small).features.names]
    assert features == storage.read_features(path, part).features.names
    for small in small_parts(path, part):
        n = len(storage.read_features(path, small).features)
        assert n == 1 or (n - 1) * N <= most
