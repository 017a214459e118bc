"""`n_jobs` is bounded by the tasks and the cores, and refused in our own words."""

import joblib
import numpy as np
import pytest

import blanketflow as bf
from blanketflow.core.errors import ParameterError
from blanketflow.search.workers import n_workers

X, Y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2


def test_no_more_than_tasks_and_cores(monkeypatch):
    monkeypatch.setattr("joblib.effective_n_jobs", lambda n_jobs: {None: 1, -1: 8, -2: 7}.get(n_jobs, n_jobs))
    for n_jobs, n_tasks, expected in [
        (None, 5, 1), (1, 5, 1), (3, 5, 3), (10**6, 5, 5), (10**6, 10**5, 8), (-1, 5, 5), (-2, 50, 7), (4, 0, 1),
    ]:  # fmt: skip
        assert n_workers("fit", n_jobs, n_tasks) == expected


def test_a_context_of_joblib_counts():
    with joblib.parallel_config(n_jobs=2):
        assert n_workers("fit", None, 5) == min(2, joblib.cpu_count())


@pytest.mark.parametrize("n_jobs", [0, 1.5, "all", True, float("nan")])
def test_what_is_no_number_of_jobs_is_refused(n_jobs):
    said = "n_jobs is .*, but must be "
    with pytest.raises(ParameterError, match=said):
        bf.MRMR(n_folds=2, n_jobs=n_jobs).fit(X, Y)
    with pytest.raises(ParameterError, match=said):
        bf.compare(X, Y, ["mrmr"], evaluation=0, folds=0, n_jobs=n_jobs)


@pytest.mark.parametrize("n_jobs", [10**6, -(10**6)])
def test_a_million_jobs_are_a_few(n_jobs, monkeypatch):
    asked = []
    honest = joblib.Parallel

    def parallel(n_jobs=None, **options):
        asked.append(n_jobs)
        return honest(n_jobs=1, **options)

    monkeypatch.setattr("joblib.Parallel", parallel)
    one = bf.MRMR(n_features=1, n_folds=3, n_jobs=n_jobs).fit(X, Y)
    assert one.selected_features_ == bf.MRMR(n_features=1, n_folds=3).fit(X, Y).selected_features_
    bf.compare(X, Y, ["mrmr"], evaluation=0, folds=2, n_jobs=n_jobs)
    assert asked and all(1 <= n <= min(3, joblib.cpu_count()) for n in asked)
