"""A search whose tests could not be made says so, and how many can be made with five rows per cell can be counted."""

import re
import warnings

import numpy as np
import pytest

import blanketflow as bf
from blanketflow.core.errors import UnreliableWarning
from blanketflow.moves.steps import separates

#: Methods that admit, separate or rank by p-values of tests given other features.
CAUSAL = ("iamb", "gs", "hiton-mb", "mmpc", "pcmb", "inter-iamb")


def table(n_rows):
    """Four features of five levels, on each of which a target of two depends, whatever the number of rows."""
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % 2
    x = np.where(rng.random((4, n_rows)) < 0.7, y * 4, rng.integers(0, 5, (4, n_rows)))
    x[:, :10] = np.arange(10) // 2  # each level is there
    return x.T, y


def fitted(method, n_rows, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bf.get_selector(method, **{"ci_test": "g2", **options}).fit(*table(n_rows))


@pytest.mark.parametrize("method", CAUSAL)
def test_an_empty_set_for_want_of_rows_is_not_ok(method):
    """A target of 2 levels and features of 5 make 10 cells: tests need 50 rows."""
    found = fitted(method, 48)
    assert found.selected_features_ == [] and found.status_ == "unreliable"
    assert found.reason_ == "4 of 4 features could not be tested: there are too few rows"


@pytest.mark.parametrize("method", CAUSAL)
def test_what_was_separated_from_nothing_is_not_ok(method):
    """A test given one feature has 50 cells and needs 250 rows."""
    found = fitted(method, 248)
    assert found.selected_features_ and found.status_ == "unreliable"
    assert found.reason_.startswith("not separated: none of the ")
    assert found.reason_.endswith("(at least 250 are needed, there are 248)")


def test_the_share_is_said():
    """Given one feature tests can be made, given two they would need 1,250 rows."""
    found = fitted("iamb", 400)
    assert found.status_ == "unreliable"  # 3 features tested given the first, 2 not tested given the first two
    assert found.reason_.startswith("40% of the 5 tests given other features could not be made")
    assert "(at least 1,250 are needed, there are 400)" in found.reason_


@pytest.mark.parametrize("method", ["iamb", "gs", "inter-iamb", "kiamb", "gs-m"])
def test_a_search_that_ends_for_want_of_rows_says_so(method):
    """Of 60 columns of noise the strongest always depends, until so many are admitted that nothing can be tested."""
    X = np.random.default_rng(0).normal(size=(12, 60))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"m": 1, "correction": "none"} if method == "gs-m" else {}
        found = bf.get_selector(method, ci_test="fisher-z", **options).fit(X[:, 1:], X[:, 0])
    assert found.status_ == "unreliable"
    ended = r"the search ended for want of rows: none of the \d+ tests given those that it had admitted could be made: "
    # A test given 9 others has 12 - 9 - 3 = 0 degrees of freedom.
    assert re.fullmatch(ended + r"there are too few rows \(at least 13 are needed, there are 12\)", found.reason_)


def test_a_search_that_admits_as_many_features_as_chance_gives_says_so():
    """Of 300 columns of noise, some that look like the target are found again and again, until they explain it."""
    X = np.random.default_rng(0).normal(size=(40, 301))
    admitted = {}
    for alpha in (0.05, 0.05 / 300):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = bf.IAMB(ci_test="fisher-z", alpha=alpha).fit(X[:, 1:], X[:, 0])
        admitted[alpha] = len(found.candidates_), found.status_, found.reason_
    n, status, reason = admitted[0.05]
    assert n > 8 and status == "unreliable"
    assert reason == (
        f"{n} features were admitted, for which there are too few rows (at least {5 * n} are needed, there are 40): a "
        "smaller alpha admits fewer"
    )
    assert admitted[0.05 / 300] == (0, "ok", "")


def test_a_set_without_rows_to_test_separates_nothing():
    """Given 4 others, tests of 7 rows have no degrees of freedom; given 3 they have one, which separates some."""
    X = np.random.default_rng(1).normal(size=(7, 1)) + 1e-3 * np.random.default_rng(2).normal(size=(7, 6))
    bound = bf.get_ci_test("fisher-z").bind(X)
    result = bound.test("x0", "x1", ["x2", "x3", "x4", "x5"])
    assert not result.reliable and not separates(bound, result, 0.05)


@pytest.mark.parametrize("method", CAUSAL)
def test_with_enough_rows_it_is_ok(method):
    assert fitted(method, 40_000).status_ == "ok"


@pytest.mark.parametrize(
    ("method", "test"),
    [
        ("iamb", bf.get_ci_test("g2", unreliable="use")),  # asked for as it is
        ("mim", "g2"),  # measures information and tests nothing
    ],
)
def test_what_needs_no_reliable_test_is_ok(method, test):
    assert fitted(method, 48, ci_test=test).status_ == "ok"


def test_the_library_warns():
    with pytest.warns(UnreliableWarning, match="IAMB: the answer is unreliable: 4 of 4 features"):
        bf.IAMB(ci_test="g2").fit(*table(48))
