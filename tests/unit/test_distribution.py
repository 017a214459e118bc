"""How the values of a column are spread, against counts made by hand, and the small charts of them."""

import itertools

import numpy as np
import pytest

from blanketflow.core.column import TargetColumn
from blanketflow.core.table import Column
from blanketflow.data.findings.distribution import distribution, distributions
from blanketflow.reporting.distribution_chart import drawn_values


def test_labels_are_counted_the_most_frequent_first_and_the_rest_together():
    codes = np.repeat(np.arange(8), [1, 2, 3, 4, 5, 6, 7, 8])
    found = distribution(Column("x", "categorical", np.append(codes, -1), tuple("abcdefgh")))
    assert (found.labels, found.counts, found.n_others) == (tuple("hgfedc"), (8, 7, 6, 5, 4, 3), 3)
    drawn = drawn_values(found)
    assert drawn["labels"][0] == ("h", 8 / 36, "22 %") and drawn["others"] == "8 %"


def test_numbers_far_outside_are_counted_apart_so_that_a_marker_hides_nothing():
    values = np.concatenate([np.linspace(0, 20, 41), np.full(5, -200.0), [900.0], [np.nan] * 3])
    found = distribution(Column("co", "numeric", values))
    assert (found.n_below, found.n_above, sum(found.counts)) == (5, 1, 41)
    assert (found.edges[0], found.edges[-1], len(found.counts)) == (0, 20, 20)
    literal = [np.sum((values >= low) & (values < high)) for low, high in itertools.pairwise(found.edges)]
    literal[-1] += 1  # the last range has both its bounds
    assert found.counts == tuple(literal)
    assert drawn_values(found)["beyond"] == "5 below, 1 above"


@pytest.mark.parametrize(
    "values", [[7.0] * 9, [1e308, -1e308, 0], [1e15, 1e15 + 0.125], [np.nan] * 3, [np.inf, 1, 2], []]
)
def test_any_numbers_can_be_drawn(values):
    found = distribution(Column("x", "numeric", np.array(values, dtype=float)))
    finite = int(np.isfinite(values).sum())
    assert sum(found.counts) + found.n_below + found.n_above == finite
    drawn = drawn_values(found)
    assert (drawn is None) == (finite == 0) and "nan" not in str(drawn) and "inf" not in str(drawn)


def test_times_to_an_event_are_counted_by_event():
    rng = np.random.default_rng(0)
    time, event = np.append(rng.integers(1, 9, 99), 4000), rng.random(100) < 0.4
    found = distribution(TargetColumn("days", "integer", time, (), "survival", {"event": event}))
    bounds = [*found.edges[:-1], np.inf]
    near = time < 100
    for at, (low, high) in enumerate(itertools.pairwise(bounds)):
        own = near & (time >= low) & (time < high)
        assert (found.counts[at], found.events[at]) == (own.sum(), (own & event).sum())
    drawn = drawn_values(found)
    assert drawn["beyond"] == "1 above" and "with the event" in drawn["note"]
    assert drawn["bars"].count("<path") == 2
    plain = drawn_values(distribution(Column("days", "numeric", time * 1.0)))
    assert plain["bars"].count("<path") == 1 and not plain["note"]


def test_of_many_rows_some_are_looked_at():
    (found,) = distributions([Column("x", "integer", np.arange(2_100_000) % 3)], 1)
    assert sum(found.counts) == 2_000_000
