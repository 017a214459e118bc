"""Conditioning sets given which no test has enough rows are left out together, and counted as if each was looked at."""

import itertools
from unittest import mock

import numpy as np
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st

from blanketflow.ci import get_ci_test
from blanketflow.moves.neighbours import RoomGivenOne, askable_sets
from blanketflow.moves.parents_and_children import grow_neighbours


def literal_sets(test, target, asked, members, max_k, including):
    """Look at every set, as `askable_sets` did."""
    size = 0
    while max_k is None or size + len(including) <= max_k:
        level, is_over = list(members()), True
        for chosen in itertools.combinations(level, size):
            given = (*chosen, *including)
            columns = test.answerable([column for column in asked if column not in given], target, given)
            if columns:
                is_over = False
                yield given, columns
        if is_over:
            return
        size += 1


def looked_at(sets, rows, needed, n_others, are_members, n_including, max_k, seed):
    """Return what one of the two yields while columns are removed, and its counts."""
    test = get_ci_test("g2", min_samples_per_cell=needed).bind(rows)
    names, draw = [*test.table.names], np.random.default_rng(seed)
    others = names[1 : 1 + n_others]
    including, others = others[:n_including], others[n_including:]
    asked = [*including, *others] if are_members else names[1 + n_others :]
    found = []
    for given, columns in sets(test, names[0], asked, lambda: others, max_k, including):
        found.append((given, columns))
        for column in columns:
            if draw.random() < 0.1:
                asked.remove(column)
    return found, test.tally.all


@settings(deadline=None)  # the first one loads what is compiled
@examples(
    st.integers(0, 10_000),
    st.integers(5, 200),
    st.sampled_from([0.5, 1, 2, 5]),
    st.integers(0, 7),
    st.booleans(),
    st.integers(0, 1),
    st.sampled_from([None, 1, 3]),
)
def test_the_sets_and_the_counts_are_those_of_looking_at_every_set(
    seed, n, needed, n_others, are_members, n_including, max_k
):
    rng = np.random.default_rng(seed)
    levels = [1, 2, 2, 3, 5] if seed % 2 else [2, 2, 2, 3]
    rows = rng.integers(0, rng.choice(levels, 10), (n, 10)).astype(float)
    asked = (rows, needed, n_others, are_members, min(n_including, n_others), max_k, seed)
    assert looked_at(askable_sets, *asked) == looked_at(literal_sets, *asked)


def searched(seed, n, needed, max_k, by_weakest, interleave):
    """Return what a forward search finds, and its counts."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, rng.choice([2, 2, 3, 5], 12), (n, 12)).astype(float)
    rows[:, 1:] = np.where(rng.random((n, 11)) < 0.4, rows[:, :1] % rng.choice([2, 3], 11), rows[:, 1:])
    test = get_ci_test("g2", min_samples_per_cell=needed).bind(rows)
    names = test.table.names
    found = grow_neighbours(test, names[0], names[1:], 0.2, max_k, by_weakest=by_weakest, interleave=interleave)
    return found.members, found.separating_sets, found.removals, test.n_tests, test.tally.all


@settings(deadline=None)
@examples(
    st.integers(0, 10_000), st.integers(20, 200), st.sampled_from([1, 2, 5, 9]), st.sampled_from([None, 0, 1, 3]),
    st.booleans(), st.booleans(),
)  # fmt: skip
def test_a_search_counts_what_has_no_rows_given_one_column_as_if_each_set_was_looked_at(
    seed, n, needed, max_k, by_weakest, interleave
):
    asked = seed, n, needed, max_k, by_weakest, interleave
    found = searched(*asked)
    with mock.patch.object(RoomGivenOne, "leaves_out_each", lambda self, order, n_rounds: False):
        assert searched(*asked) == found  # one admission after the other
        with mock.patch.object(RoomGivenOne, "leaves_out_all", lambda self, asked, given: False):
            assert searched(*asked) == found


def test_a_million_sets_are_left_out_without_a_look():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 2, (50, 4)), rng.integers(0, 3, (50, 1500))])
    test = get_ci_test("g2").bind(rows)
    names = [*test.table.names]
    members = names[1:3] + names[4:]
    found = [given for given, _ in askable_sets(test, "x0", ["x3"], lambda: members, None)]
    assert found == [(), ("x1",), ("x2",)]
    assert test.tally.all.n_not_made == 1500 + 1502 * 1501 // 2
    assert test.tally.all.first == (3, (0, 4))


def test_only_columns_that_are_asked_about_are_read():
    rows = np.random.default_rng(0).integers(0, 3, (50, 40))
    test, read = get_ci_test("g2").bind(rows), set()
    n_levels = test.enough_rows._n_levels
    test.enough_rows._n_levels = lambda column: (read.add(column), n_levels(column))[1]
    assert [*askable_sets(test, "x0", ["x1", "x2"], lambda: ["x4"], None, ["x3"])] == []
    assert read == {0, 1, 2, 3}
