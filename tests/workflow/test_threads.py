"""The threads of BLAS and numba in a job are those that Snakemake gives it."""

import json
import os

import pytest

from workflow_runs import configure, snakemake

pytestmark = [pytest.mark.workflow, pytest.mark.extended]

PLUG_IN = '''
import json

import numba
import numpy as np
import sklearn.linear_model  # brings OpenMP
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from threadpoolctl import threadpool_info


class Counting(SelectorMixin, BaseEstimator):
    """Chooses the first column, and writes down how many threads it may use."""

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        found = {library["internal_api"]: library["num_threads"] for library in threadpool_info()}
        with open("threads.json", "w") as file:
            json.dump(found | {"numba": numba.get_num_threads()}, file)
        return self

    def _get_support_mask(self):
        return np.arange(self.n_features_in_) == 0
'''


@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=pytest.mark.skipif(os.cpu_count() < 2, reason="1 core"))])
def test_libraries_use_the_threads_of_their_job(tmp_path, threads):
    (tmp_path / "plug").mkdir()
    (tmp_path / "plug/plug_in.py").write_text(PLUG_IN, encoding="utf-8")
    config = {
        "datasets": {"wine": {"source": "sklearn:wine"}},
        "splits": {"evaluation": 0},
        "folds": 0,
        "grain": "split",
        "selectors": {"counting": {"method": "plug_in:Counting"}},
    }
    target = "results/select/wine/full/counting/fold-0/shrink.parquet"
    asked = ["--cores", "2", "--set-threads", f"grow_shrink_0={threads}", "--", target]
    snakemake(configure(tmp_path, config), *asked, plug_ins=[tmp_path / "plug"])
    found = json.loads((tmp_path / "threads.json").read_text())
    # A plug-in works in a child process, and GNU's OpenMP would wait there for threads that its parent had.
    assert found == {"openblas": threads, "numba": threads, "openmp": 1}
