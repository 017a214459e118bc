"""Whatever the time limit `auto` answers, says what the answer rests on, and finds it again by its budget."""

from itertools import count
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.core import limits
from blanketflow.core.errors import ParameterError
from blanketflow.core.limits import LimitReached, in_seconds
from blanketflow.selectors.judged.pace import Pace


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 6)), columns=list("abcdef"))
    return X, np.where(X["a"] - X["d"] + rng.normal(size=400) > 0, "yes", "no")


@pytest.fixture
def ticking(monkeypatch):
    """A clock that goes on by a second whenever it is read; returns how late it is."""
    ticks = count()
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: float(next(ticks))))
    return lambda: next(ticks)


@pytest.mark.parametrize("time_limit", [1e-9, 200, 400, pytest.param(700, marks=pytest.mark.extended), 1e6])
def test_an_answer_under_a_clock_is_found_again_by_its_budget(table, ticking, monkeypatch, time_limit):
    found = bf.Auto(time_limit=time_limit).fit(*table)
    late, said = ticking(), found.verdict_
    assert found.selected_features_ and (found.status_ == "ok") == (time_limit == 1e6)
    assert time_limit == 1e-9 or late <= 1.1 * time_limit
    monkeypatch.undo()
    again = bf.Auto(budget=said["budget"], time_limit=1e-9).fit(*table)
    assert again.verdict_ == said and again.n_tests_ == found.n_tests_
    assert again.trace_.equals(found.trace_) and again.status_ == found.status_


def test_with_time_enough_the_answer_is_that_without_a_limit(table):
    limited, free = (bf.Auto(max_candidates=8, time_limit=limit).fit(*table) for limit in (1e6, None))
    assert limited.verdict_ == free.verdict_


def test_more_time_judges_more(table, ticking):
    rests_on = [bf.Auto(time_limit=limit).fit(*table).verdict_["rests_on"] for limit in (1e-9, 200, 400)]
    assert [on["rankings"] for on in rests_on] == [1, 9, 18] and [on["resamples"] for on in rests_on] == [1, 1, 2]
    assert rests_on[0]["fits"] < rests_on[1]["fits"] < rests_on[2]["fits"]


def test_it_says_what_it_rests_on(table):
    found = bf.Auto(time_limit=1e-9).fit(*table)
    on = found.verdict_["rests_on"]
    assert found.reason_ == (
        f"it rests on 1 of 5 resamples of 250 rows, 1 ranking and {on['fits']} fits of models: the time limit of "
        "0.000000001 s (time_limit) was reached. Raise it."
    )


def test_what_is_too_large_for_a_look_is_no_reference():
    """The set of all 60 columns is not fitted where there is no time: no feature takes its place."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 60))
    found = bf.select(X, X[:, 7] + 0.3 * rng.normal(size=120), time_limit=1e-9)
    assert "x7" in found.features and "do better with" in found.verdict and "than without any: R² 0." in found.verdict
    assert found.alternatives["n_features"].max() <= 32 and found.alternatives["difference"].isna().all()
    assert found.scores["all"].isna().all() and found.estimator is not None
    drawn = found.plot().to_dict()
    assert drawn["title"]["text"] == "orange: kept; dashed: no feature" and "no feature 0." in found._repr_html_()
    (line,) = drawn["datasets"][drawn["layer"][0]["data"]["name"]]
    assert line["score"] == pytest.approx(found.alternatives["r2"][0], abs=1e-3)


def test_processes_that_share_the_rounds_find_the_same_by_a_budget(table):
    budget = {"rows": 250, "fits": 70}
    alone, shared = (bf.Auto(budget=budget, n_jobs=n).fit(*table) for n in (1, 2))
    assert alone.verdict_ == shared.verdict_ and 0 < alone.verdict_["rests_on"]["fits"] <= 70


@pytest.mark.parametrize("budget", [{"fits": 3}, {"rows": 250, "fits": 0}, {"rows": 2.5, "fits": 9}, 70])
def test_a_budget_is_of_rows_and_fits(budget):
    with pytest.raises(ParameterError, match=r"budget is .* must be a mapping of rows and fits to whole numbers"):
        bf.Auto(budget=budget).fit([[1.0], [2.0], [3.0], [4.0]], [1.0, 2.0, 4.0, 3.0])


def test_a_fit_is_not_begun_that_would_take_longer_than_is_left():
    left = [10.0]
    pace = Pace(lambda: left[0], time_limit=10.0)
    with pace.fit("tree", work=10):
        left[0] -= 1.0  # a second for this work
    pace.begin("tree", work=70)
    pace.begin("forest", work=1e9)  # of which nothing is known
    with pytest.raises(LimitReached, match="the time limit of 10 s"):
        pace.begin("tree", work=90)
    assert pace.n_fits == 1


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.0, "0 s"), (0.0456, "0.0456 s"), (60, "60 s"), (100.4, "100 s"), (1e6, "1,000,000 s")]
)
def test_seconds_are_written_as_people_write_them(seconds, said):
    assert in_seconds(seconds) == said
