"""Questions about many columns at once: bit-packed columns say what the lists of rows say, for every kind of table."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import blanketflow as bf
from blanketflow.ci.contingency.binning import Coder, level_codes
from blanketflow.ci.contingency.coded_columns import MOST_LEVELS, PackedColumns
from blanketflow.core.convert import as_table
from blanketflow.core.errors import ParameterError, UnsupportedError
from literal import mutual_information
from literal_information import entropy, information

LARGEST = np.iinfo(np.int64).max
N_COLUMNS = 300  # more than one block, and more than what is asked singly


def tables(rng, n=130):
    """Tables of every form that a person may hold, each with columns of different numbers of levels."""
    bits = (rng.random((n, N_COLUMNS)) < rng.random(N_COLUMNS)).astype(np.int8)
    bits[:, 3], bits[:, 4] = 0, 1
    few = rng.integers(0, rng.integers(1, 9, N_COLUMNS), (n, N_COLUMNS))
    many = rng.integers(-3, rng.integers(20, 2000, N_COLUMNS), (n, N_COLUMNS))
    floats = rng.normal(size=(n, N_COLUMNS)).round(rng.integers(0, 3))
    floats[:, 7], floats[:, 8] = bits[:, 0], 2.5
    frame = pd.DataFrame(few[:, :40]).add_prefix("f").astype({"f1": float, "f2": bool})
    frame["text"] = rng.choice(list("abcdefgh"), n)
    frame["name"] = [f"row {i % 70}" for i in range(n)]  # too many levels to be packed
    labels = {f"c{j}": pd.Categorical.from_codes(few[:, j] + j % 3, list("abcdefghijkl")) for j in range(N_COLUMNS)}
    return {
        "bytes": bits,
        "bytes by column": np.asfortranarray(bits),
        "booleans": bits.astype(bool),
        "unsigned bytes": bits.astype(np.uint8),
        "long integers": bits.astype(np.int64),
        "few levels": few,
        "short integers": few.astype(np.int16),
        "bits and levels": np.column_stack([bits, few]).astype(np.int8),
        "many levels": many,
        "large integers": many * 10**12,
        "levels apart, by column": np.asfortranarray(few.astype(np.int8) * 9 - 30),
        "levels of the largest integers": np.where(np.arange(N_COLUMNS) % 9, LARGEST - few, LARGEST - LARGEST * few),
        "floats": floats,
        "single floats": floats.astype(np.float32),
        "sparse bits": sparse.csc_matrix(bits),
        "sparse booleans": sparse.csr_matrix(bits.astype(bool)),
        "sparse levels": sparse.csc_matrix(few.astype(np.int16) - 1),
        "sparse integers": sparse.csc_matrix(np.where(bits, many, 0)),
        "sparse large integers": sparse.csc_matrix(2**60 + few) - sparse.csc_matrix(np.where(bits, 0, 2**60 + few)),
        "sparse floats": sparse.csc_array(np.where(few, floats, 0)),
        "sparse single floats": with_stored_zeros(np.where(bits, floats, 0).astype(np.float32)),
        "a frame of one type": pd.DataFrame(few),
        "a mixed frame": frame,
        "labels, some of which do not occur": pd.DataFrame(labels),
    }


def with_stored_zeros(dense):
    """Return a sparse matrix that holds all cells of a third of its columns, zeros of both signs among them."""
    held = (dense != 0) | (np.arange(dense.shape[1]) % 3 == 0)
    columns, rows = np.nonzero(held.T)
    values = np.where(dense[rows, columns] == 0, -0.0, dense[rows, columns])
    values[::2] += 0.0
    starts = np.concatenate([[0], np.cumsum(held.sum(axis=0))])
    return sparse.csc_matrix((values.astype(dense.dtype), rows, starts), shape=dense.shape)


FORMS = list(tables(np.random.default_rng(0)))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        *(
            pytest.param(options, marks=pytest.mark.extended)
            for options in ({"binning": "uniform", "bins": 3}, {"binning": "kmeans"}, {"bins": 90})
        ),
    ],
    ids=str,
)
def test_levels_are_those_of_each_column_by_itself(form, options):
    table = as_table(tables(np.random.default_rng(1))[form])
    test = bf.get_ci_test("g2", **options)
    packed = PackedColumns(Coder(table, test.bins, test.binning, None))
    own = [level_codes(column, test.bins, test.binning) for column in table.columns]
    assert packed.n_levels.tolist() == [n_levels for _, n_levels in own]
    positions = np.arange(len(table))
    fits = packed.is_packed(positions)
    assert fits.tolist() == [n_levels <= MOST_LEVELS for _, n_levels in own]
    bound = test.bind(table)
    wanted = [entropy(codes) for codes, _ in own]
    np.testing.assert_allclose(bound.entropy(positions), wanted, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_given", [*(pytest.param(k, marks=pytest.mark.extended) for k in (0, 2)), 1])
def test_information_and_entropy_equal_the_definitions(form, n_given):
    rng = np.random.default_rng(2)
    table = as_table(tables(rng)[form])
    bound = bf.get_ci_test("g2").bind(table)
    codes = [level_codes(column, 5, "quantile")[0] for column in table.columns]
    target, *conditions = rng.choice(len(table), 1 + n_given, replace=False).tolist()
    others = np.setdiff1d(np.arange(len(table)), [target, *conditions])
    given = [codes[z] for z in conditions]
    found = bound.mutual_information(others, target, given=conditions)
    joint = bound.entropy(others, [target, *conditions])
    some = slice(None, None, 5)  # of every block
    for wanted, ours in ((information, found), (entropy, joint)):
        literal = [wanted(codes[x], codes[target], *given) for x in others[some]]
        np.testing.assert_allclose(ours[some], literal, atol=1e-12)
    assert bound.n_tests == 2 * len(others)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("test_id", ["g2", pytest.param("mi-permutation", marks=pytest.mark.extended)])
def test_one_question_about_all_equals_a_question_about_each(form, test_id):
    options = {"n_permutations": 20} if test_id == "mi-permutation" else {}
    table = as_table(tables(np.random.default_rng(3), n=90)[form])
    test = bf.get_ci_test(test_id, **options)
    at_once = test.bind(table, seed=1).test_many(np.arange(1, len(table)), 0)
    one_by_one = test.bind(table, seed=1)
    singly = [one_by_one.test(x, 0) for x in range(1, len(table))]
    assert list(at_once) == singly  # to the last bit
    bound = test.bind(table)
    by_results = test.mutual_information(bound.test_many(np.arange(1, len(table)), 0))
    assert np.array_equal(bound.mutual_information(np.arange(1, len(table)), 0), by_results)


@st.composite
def dense_and_sparse(draw):
    """A matrix with empty, full, constant and negative columns, and the same with some of its zeros stored."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, dtype = draw(st.integers(1, 140)), draw(st.sampled_from("?bhiqBHQfd"))
    d, most = 280, draw(st.sampled_from([1, 2, 9, 100]))
    values = rng.integers(0 if dtype in "?BHQ" else -most, most + 1, (n, d)).astype(float)
    if dtype in "fd":
        values = values * draw(st.sampled_from([1, 1 / 3, 5e-324]))
    density = rng.random(d) ** draw(st.integers(0, 4)) * rng.integers(0, 2, d)
    density[draw(st.integers(0, d - 2)) :][:2] = 1
    dense = np.where(rng.random((n, d)) < density, values, 0).astype(dtype)
    held = (dense != 0) | (rng.random((n, d)) < draw(st.sampled_from([0, 0.1, 1])))
    columns, rows = np.nonzero(held.T)
    starts = np.concatenate([[0], np.cumsum(held.sum(axis=0))])
    return dense, sparse.csc_matrix((dense[rows, columns], rows, starts), shape=(n, d))


@settings(max_examples=60, deadline=None)
@given(dense_and_sparse(), st.sampled_from([2, 5, 11]), st.sampled_from(["quantile", "uniform"]))
def test_a_sparse_matrix_has_the_levels_of_the_dense_one(both, bins, binning):
    dense, same = (as_table(X) for X in both)
    packed = PackedColumns(Coder(same, bins, binning, None))
    for position in range(len(dense)):
        codes, n_levels = level_codes(dense[position], bins, binning)
        assert np.array_equal(level_codes(same[position], bins, binning)[0], codes)
        assert packed.n_levels[position] == n_levels
        cells, _ = packed.cells((position,))
        joint = set(zip(codes.tolist(), cells.tolist(), strict=True))
        assert len(joint) == len(set(cells.tolist())) == n_levels  # the same rows share a level


@settings(max_examples=60, deadline=None)
@given(dense_and_sparse(), st.sampled_from([("g2", {}), ("mi-permutation", {"n_permutations": 9})]), st.data())
def test_a_sparse_matrix_gives_the_answers_of_the_dense_one(both, test, data):
    first, second = (bf.get_ci_test(test[0], **test[1]).bind(X) for X in both)
    target, *given = data.draw(st.lists(st.integers(0, both[0].shape[1] - 1), min_size=1, max_size=3, unique=True))
    others = np.setdiff1d(np.arange(both[0].shape[1]), [target, *given])
    for answers in zip(
        first.test_many(others, target).columns().values(),
        second.test_many(others, target).columns().values(),
        strict=True,
    ):
        assert np.array_equal(*answers)  # to the last bit
    for one, other in (
        (first.mutual_information(others, target, given), second.mutual_information(others, target, given)),
        (first.entropy(others, given), second.entropy(others, given)),
    ):
        assert np.array_equal(one, other)


@settings(max_examples=25, deadline=None)
@given(dense_and_sparse(), st.sampled_from(["mim", "mrmr", "jmi", "cmim"]))
def test_a_sparse_matrix_is_ranked_as_the_dense_one(both, name):
    dense, same = both
    y = np.arange(len(dense)) % 2
    y[dense[:, 1] > 0] = 1
    if len(np.unique(y)) == 2:
        fits = [bf.get_selector(name, n_features=8).fit(X, y) for X in (dense, same, same.tocsr())]
        assert fits[0].selected_features_ == fits[1].selected_features_ == fits[2].selected_features_
        assert fits[0].trace_.equals(fits[1].trace_)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 200), st.sampled_from([2, 3, 7, 40]))
def test_few_candidates_equal_many(seed, n, n_levels):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, rng.integers(1, n_levels + 1, 600), (n, 600))
    bound = bf.get_ci_test("g2").bind(X)
    every = bound.mutual_information(np.arange(2, 600), 0, given=[1])
    few = np.sort(rng.choice(np.arange(2, 600), rng.integers(1, 60), replace=False))
    assert np.array_equal(bound.mutual_information(few, 0, given=[1]), every[few - 2])
    shuffled = rng.permutation(few)
    assert np.array_equal(bound.mutual_information(shuffled, 0, given=[1]), every[shuffled - 2])


def test_relabelled_columns_tie_exactly():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (200, 3))
    X[:, 2] = np.array([2, 0, 3, 1])[X[:, 1]]
    first, second = bf.get_ci_test("g2").bind(X).mutual_information(np.array([1, 2]), 0)
    assert first == second == pytest.approx(mutual_information(X[:, 1], X[:, 0]))


def test_rows_that_do_not_fill_a_word_and_cells_that_are_empty():
    for n in (1, 2, 63, 64, 65, 128, 129):
        X = np.random.default_rng(n).integers(0, 2, (n, 5))
        X[:, 4] = 1
        found = bf.get_ci_test("g2").bind(X).mutual_information(np.array([1, 2]), 0, given=[3, 4])
        wanted = [information(X[:, j], X[:, 0], X[:, 3]) for j in (1, 2)]
        np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_a_read_only_matrix_is_read():
    X = np.random.default_rng(0).integers(0, 2, (50, 300)).astype(np.int8)
    X.flags.writeable = False
    assert bf.MIM(n_features=2).fit(X, X[:, 7]).selected_features_[0] == "x7"


def test_questions_that_make_no_sense_are_refused():
    bound = bf.get_ci_test("g2").bind(np.eye(6, dtype=int))
    for y, conditions in ((0, []), (1, [0]), (1, [1])):
        with pytest.raises(ParameterError, match="to be different columns"):
            bound.mutual_information(np.array([0, 2]), y, conditions)
    with pytest.raises(ParameterError, match="to be different columns"):
        bound.entropy(np.array([0, 2]), [2])
    with pytest.raises(LookupError, match="no column 6 in a table of 6 columns"):
        bound.mutual_information(np.array([2, 6]), 0)
    for test_id, says in (("chi2", "chi2 does not measure mutual information"), ("hsic", "hsic does not measure")):
        with pytest.raises(UnsupportedError, match=says):
            bf.get_ci_test(test_id).bind(np.eye(6)).mutual_information(np.array([1]), 0)
    with pytest.raises(UnsupportedError, match="fisher-z does not measure entropy"):
        bf.get_ci_test("fisher-z").bind(np.eye(6)).entropy(np.array([1]))


def test_a_test_that_only_tests_measures_information_by_its_results():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    X[:, 1] += X[:, 0]
    found = bf.get_ci_test("fisher-z").bind(X).mutual_information(np.array([1, 2]), 0)
    correlation = np.corrcoef(X.T)[0, 1:3]
    np.testing.assert_allclose(found, -np.log(1 - correlation**2) / 2)
