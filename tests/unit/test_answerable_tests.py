"""Tests for which there are too few rows are not asked: these are those that say nothing, and nothing else changes."""

import itertools

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st

from blanketflow.ci import get_ci_test
from blanketflow.moves.neighbours import RoomGivenOne
from blanketflow.moves.parents_and_children import interleaved_neighbours, level_wise_neighbours, max_min_neighbours
from blanketflow.search.run_fold import run_fold
from blanketflow.selectors import get_method
from blanketflow.selectors.causal.iamb import find_skeleton

SEARCHES = (interleaved_neighbours, max_min_neighbours, level_wise_neighbours)
METHODS = ("hiton-pc", "hiton-mb", "mmmb", "pcmb", "ipc-mb", "pc-simple", "res", "stmb")


def rows(seed, n, levels, d=6):
    """Return columns of up to so many levels, each of which depends on some of the ones before."""
    rng = np.random.default_rng(seed)
    X = np.empty((n, d), dtype=int)
    for j in range(d):
        causes = X[:, :j][:, rng.random(j) < 0.6].sum(axis=1)
        X[:, j] = np.where(rng.random(n) < 0.8, causes + rng.integers(0, 2, n), rng.integers(0, levels, n)) % levels
    return X.astype(float)


@settings(deadline=None)  # the first one loads what is compiled
@examples(
    st.integers(0, 1000),
    st.integers(1, 80),
    st.integers(1, 4),
    st.sampled_from([0, 0.1, 0.7, 1, 3.3, 5]),
    st.sampled_from(["auto", "undecided"]),
    st.sampled_from(["g2", "chi2"]),
)
def test_what_is_answerable_is_what_is_reliable(seed, n, levels, needed, rule, name):
    bound = get_ci_test(name, min_samples_per_cell=needed, unreliable=rule).bind(rows(seed, n, levels))
    names = list(bound.table.names)
    for size in range(4):
        for given in itertools.combinations(names[1:], size):
            others = [column for column in names[1:] if column not in given]
            reliable = bound.test_many(others, names[0], given=given).reliable
            wanted = [column for column, is_reliable in zip(others, reliable, strict=True) if is_reliable]
            assert bound.answerable(others, names[0], given) == wanted


@pytest.mark.parametrize("options", [{"unreliable": "use"}, {"unreliable": "independent"}, {"min_samples_per_cell": 0}])
def test_all_is_answerable_where_every_result_counts(options):
    bound = get_ci_test("g2", **options).bind(rows(0, 5, 4))
    assert bound.answerable(["x1", "x2"], "x0", ["x3", "x4", "x5"]) == ["x1", "x2"]
    assert get_ci_test("fisher-z").bind(rows(0, 9, 4)).answerable(["x1"], "x0", ["x2"]) == ["x1"]


@settings(deadline=None)  # the first one loads what is compiled
@examples(st.integers(0, 1000), st.integers(20, 300), st.integers(2, 4), st.sampled_from(["auto", "undecided"]))
def test_searches_find_what_they_find_when_all_is_asked(seed, n, levels, rule):
    table, test = rows(seed, n, levels), get_ci_test("g2", unreliable=rule)
    for search, max_k in itertools.product(SEARCHES, (None, 2)):
        asked, all_asked = test.bind(table), everything_asked(test.bind(table))
        found, wanted = (search(one, "x5", one.table.names[:-1], 0.2, max_k) for one in (asked, all_asked))
        assert (found.members, found.separating_sets) == (wanted.members, wanted.separating_sets)
        assert found.removals == wanted.removals
        assert asked.n_tests <= all_asked.n_tests
    found, wanted = (find_skeleton(one, one.table.names, 0.2, None) for one in (asked, all_asked))
    assert found.separating_sets == wanted.separating_sets and found.adjacent == wanted.adjacent


@pytest.mark.parametrize("name", METHODS)
def test_methods_keep_what_they_keep_when_all_is_asked(name, monkeypatch):
    test, method, n_fewer = get_ci_test("g2"), get_method(name, "test", {"alpha": 0.1}), 0
    for seed in range(8):
        table = test.bind(rows(seed, 60 + 20 * seed, 3, d=8)).table
        features, target = table.select(table.names[:-1]), table[table.names[-1]]
        outcome = run_fold(method, test, features, target, 0)
        with monkeypatch.context() as patch:
            patch.setattr("blanketflow.ci.bound.BoundTest.answerable", lambda _, xs, *__: list(xs))
            patch.setattr("blanketflow.moves.neighbours.sets_with_rows", every_set)
            for short_way in ("leaves_out_all", "leaves_out_each"):
                patch.setattr(RoomGivenOne, short_way, lambda *_, **__: False)
            wanted = run_fold(method, test, features, target, 0)
        assert (outcome.candidates, outcome.decisions) == (wanted.candidates, wanted.decisions)
        n_fewer += wanted.n_tests - outcome.n_tests
    assert n_fewer > 0


def everything_asked(bound):
    """Return a bound test that takes every test for answerable."""
    bound.answerable, bound.enough_rows = lambda xs, *_: list(xs), None
    return bound


def every_set(_, __, ___, level, size, ____):
    """Return all subsets of a size."""
    return itertools.combinations(level, size)
