"""Wide tables in a real run: stored by feature, tested in chunks, and evaluated on what was chosen."""

import numpy as np
import pyarrow.parquet as pq
import pytest
import scipy.sparse

from workflow_runs import (
    WITHOUT_TABLES,
    assert_equal_results,
    changed,
    chosen,
    configure,
    contents,
    counts,
    planned,
    ran,
)

pytestmark = [pytest.mark.workflow, pytest.mark.extended]

N_ROWS, N_FEATURES = 160, 1000


def write_source(folder):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N_ROWS)
    ones = rng.random((N_ROWS, N_FEATURES)) < 0.04
    ones[:, [5, 700]] = (y[:, None] == 1) & (rng.random((N_ROWS, 2)) < 0.8)
    folder.mkdir(parents=True, exist_ok=True)
    scipy.sparse.save_npz(folder / "wide.npz", scipy.sparse.csr_matrix(ones.astype(np.int8)))
    np.savetxt(folder / "wide.y.csv", y, fmt="%d", header="target", comments="")


CONFIG = {
    "datasets": {"wide": {"path": "wide.npz", "test_rows": 40}},
    "splits": {"evaluation": 1, "final": False},
    "folds": 0,
    "ci_tests": {
        "g2": {"type": "g2"},
        "quick": {"type": "ppi", "n_repeats": 5},
        "permuted": {"type": "mi-permutation", "n_permutations": 30},
    },
    "selectors": {
        "mim": {"method": "mim", "ci_test": "g2", "n_features": 2},
        "ppfs": {"method": "ppfs", "ci_test": "quick"},
        "iamb": {"method": "iamb", "ci_test": "permuted", "alpha": 0.05, "max_tests": 1},
    },
    "models": ["tree"],
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run in which nothing is scattered."""
    folder = tmp_path_factory.mktemp("whole")
    write_source(folder)
    configure(folder, CONFIG)
    assert "ci_test_chunk" not in counts(ran(folder, *WITHOUT_TABLES))
    return folder


def test_the_table_is_stored_by_feature_and_the_strong_features_are_found(whole):
    file = pq.ParquetFile(whole / "results/data/wide/table.parquet")
    assert file.metadata.num_rows == N_FEATURES + 1 and file.schema_arrow.names[0] == "feature"
    assert set(chosen(whole / "results", "wide", "cv-1", "mim")) == {"x5", "x700"}


def test_scattered_tests_give_equal_results_and_leave_no_chunks(tmp_path, whole):
    write_source(tmp_path)
    folder = configure(tmp_path, CONFIG | {"chunks": 2})
    listed = counts(ran(folder, *WITHOUT_TABLES))
    assert listed["ci_test_chunk"] == 2 * listed["gather_ci_test"] == 2 * 3 and "ci_test" not in listed
    assert_equal_results(contents(folder / "results"), contents(whole / "results"))
    assert not list(folder.rglob("*.chunk-*.parquet"))
    assert planned(folder, *WITHOUT_TABLES) == []

    def more_repeats(config):
        config["ci_tests"]["quick"]["n_repeats"] = 8

    more = changed(folder, tmp_path / "more", more_repeats)
    listed = counts(ran(more, *WITHOUT_TABLES), "test")
    assert listed["ci_test_chunk", "quick"] == 2 and listed["ci_test_chunk", "g2"] == 0
    logs = [path.read_text() for path in more.glob("results/logs/ci_test/wide/*/fold-0/quick.chunk-*.log")]
    assert len(logs) == 2 and all("3 repeats computed, 5 taken from an earlier run" in log for log in logs)
