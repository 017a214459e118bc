"""What every registered CI test must do."""

import itertools

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.core.cards import KINDS
from blanketflow.core.errors import DataError, ParameterError, UnsupportedError
from blanketflow.core.registry import discover
from blanketflow.data.simulate.network import DiscreteNetwork, node

TESTS = discover("blanketflow.ci")
#: The truth behind the tables below, for tests that know it: effects of a, and columns that stand alone.
RELATED = ("b", "d", "e", "f", "near", "copy", "scaled")
EFFECT, ALONE = node("01", ["a"], table=[[0.8, 0.2], [0.3, 0.7]]), node("01", table=[0.5, 0.5])
NETWORK = DiscreteNetwork(
    "frame",
    {
        "a": ALONE,
        **dict.fromkeys(RELATED, EFFECT),
        **dict.fromkeys(("c", "g", "far", "constant", "zero", "fine"), ALONE),
    },
)
#: Options that keep a test cheap, or that it cannot do without.
OPTIONS = {
    "ppi": {"n_repeats": 5},
    "cpi": {"n_splits": 3, "model": "tree"},
    "oracle": {"arcs": [("a", effect) for effect in RELATED]},
    "population": {"network": NETWORK},
}
every_test = pytest.mark.parametrize("name", TESTS)


def configured(name, **options):
    return bf.get_ci_test(name, **{**OPTIONS.get(name, {}), **options})


def frame(name, n=80, seed=0):
    """Return a table of every kind of column that the test takes; a, b, d, e depend on each other."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    columns = {
        "a": ("numeric", a),
        "b": ("numeric", a + rng.normal(size=n)),
        "c": ("numeric", rng.normal(size=n)),
        "d": ("integer", np.round(2 * a + rng.normal(size=n)).astype(int)),
        "e": ("boolean", a + rng.normal(size=n) > 0),
        "f": ("categorical", np.where(a + rng.normal(size=n) > 0, "yes", "no")),
        "g": ("categorical", np.array(["red", "green", "blue"])[rng.integers(0, 3, n)]),
    }
    card = TESTS[name].card
    few = card.max_classes is not None and card.max_classes < 3
    return pd.DataFrame({k: v for k, (kind, v) in columns.items() if kind in card.kinds and not (k == "g" and few)})


def bind(name, X=None, seed=0, **options):
    return configured(name, **options).bind(frame(name) if X is None else X, seed=seed)


def queries(names):
    """Return pairs given nothing, one and two columns."""
    for x, y in itertools.permutations(names[:4], 2):
        others = [z for z in names if z not in (x, y)]
        yield from ((x, y, others[:k]) for k in range(3))


def valid(result):
    return (
        not any(np.isnan(result))
        and 0 <= result.p_value <= 1
        and result.log_p <= 0
        and np.isclose(np.exp(result.log_p), result.p_value, rtol=1e-6)
        and isinstance(result.reliable, bool)
    )


def test_all_are_there():
    wanted = "g2 chi2 fisher-z lr-mixed mi-permutation ppi cpi hsic oracle population"
    assert set(wanted.split()) <= set(TESTS)


@every_test
def test_card(name):
    card = TESTS[name].card
    assert card.id == name
    assert card.family == "ci-test"
    assert card.summary and card.reference and card.guarantee and card.cost
    assert set(card.kinds) <= set(KINDS)
    assert card.measures and set(card.measures) <= {"p-value", "mutual-information", "entropy", "hsic"}
    assert card.p_values in ("exact", "asymptotic", "resampled")
    assert hasattr(bind(name).engine, "evaluate_sets") == card.column_sets


@every_test
def test_is_listed(name):
    row = bf.list_ci_tests().set_index("id").loc[name]
    assert row["class"] == TESTS[name].__name__
    assert row["summary"] == TESTS[name].card.summary
    assert set(row["options"]) == set(TESTS[name].parameters())


@every_test
def test_results_are_valid_for_every_kind_of_column(name):
    bound = bind(name)
    for query in queries(list(bound.table.names)[::-1]):
        assert valid(bound.test(*query)), query
    assert bound.test("b", "a").n == 80


@every_test
def test_dependence_is_stronger_than_independence(name):
    rng = np.random.default_rng(3)
    a = rng.normal(size=300)
    X = pd.DataFrame({"a": a, "near": a + 0.1 * rng.normal(size=300), "far": rng.normal(size=300)})
    near, far = bind(name, X).test("near", "a"), bind(name, X).test("far", "a")
    assert near.log_p < far.log_p
    assert near.p_value < 0.05


@every_test
def test_is_symmetric_where_the_card_says_so(name):
    if not TESTS[name].card.symmetric:
        pytest.skip("the card does not say so")
    there, back = bind(name), bind(name)
    for x, y, given in queries(there.table.names):
        np.testing.assert_allclose(there.test(x, y, given)[:4], back.test(y, x, given)[:4], rtol=1e-8, atol=1e-10)


@every_test
def test_memory_never_changes_an_answer(name):
    bound = bind(name)
    asked = list(queries(bound.table.names))[::3]
    fresh = [bind(name).test(*query) for query in asked]
    for order in (asked, asked[::-1]):
        answers = {(x, y, tuple(given)): bound.test(x, y, given) for x, y, given in order}
        for query, wanted in zip(asked, fresh, strict=True):
            found = answers[query[0], query[1], tuple(query[2])]
            np.testing.assert_allclose(found[:4], wanted[:4], rtol=1e-9, atol=1e-10)


@every_test
def test_what_is_remembered_cannot_be_overwritten(name):
    bound = bind(name)
    results = bound.test_many(["b", "c"], "a")
    wanted = list(results)
    for values in results.columns().values():
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 0
    assert list(bound.test_many(["b", "c"], "a")) == wanted


@every_test
def test_counts_what_it_computes(name):
    bound = bind(name)
    bound.test("a", "b")
    assert bound.n_tests == 1
    bound.test("a", "b")
    assert bound.n_tests == 1
    bound.test("b", "a")
    symmetric = TESTS[name].card.symmetric
    assert bound.n_tests == (1 if symmetric else 2)
    before = bound.n_tests
    bound.test_many(["c", "d", "c", "a"], "b")
    assert bound.n_tests == before + 2
    bound.test("a", "b", ["c", "d"])
    bound.test("a", "b", ["d", "c", "d"])
    assert bound.n_tests == before + 3


@every_test
@pytest.mark.parametrize("given", [[], ["c"], ["c", "e"]])
def test_one_at_a_time_equals_many_and_names_equal_positions(name, given):
    names = list(frame(name).columns)
    xs = [x for x in names if x not in ("b", *given)]
    many = bind(name).test_many(xs, "b", given)
    by_position = bind(name).test_many([names.index(x) for x in xs], names.index("b"), [names.index(z) for z in given])
    assert len(many) == len(xs)
    for i, x in enumerate(xs):
        np.testing.assert_allclose(many[i][:4], bind(name).test(x, "b", given)[:4], rtol=1e-9, atol=1e-10)
        assert many[i] == by_position[i]


@every_test
def test_the_order_of_the_conditioning_set_does_not_matter(name):
    names = list(frame(name).columns)
    given = [z for z in names if z not in ("a", "b")][:3]
    wanted = bind(name).test("a", "b", given)
    assert bind(name).test("a", "b", given[::-1]) == wanted
    assert bind(name).test("a", "b", pd.Index(given)) == bind(name).test("a", "b", np.array(given)) == wanted


@every_test
def test_sets_of_columns_where_the_card_says_so(name):
    bound = bind(name)
    if not TESTS[name].card.column_sets:
        with pytest.raises(UnsupportedError, match="one column at a time"):
            bound.test(["b", "c"], "a")
        assert bound.test(["b"], "a") == bound.test("b", "a")
        return
    for given in ([], ["d"]):
        both = bound.test(["c", "b"], "a", given)
        assert valid(both)
        assert given or both.statistic > 0  # a model may lose by chance what Z tells, too
        mixed = bound.test_many(["b", ("b", "c"), {"e", "c"}], "a", given)
        np.testing.assert_allclose(mixed[1][:4], both[:4], rtol=1e-9, atol=1e-10)
        for i, x in enumerate(["b", ("b", "c"), ("c", "e")]):
            np.testing.assert_allclose(mixed[i][:4], bind(name).test(x, "a", given)[:4], rtol=1e-9, atol=1e-10)
    before = bound.n_tests
    assert bound.test({"b", "c"}, "a") == bound.test(("c", "b"), "a")
    assert bound.n_tests == before


def answers(name, X):
    bound = bind(name, X)
    return np.array([bound.test(*query)[:4] for query in queries(list(frame(name).columns))])


@every_test
def test_the_order_of_columns_does_not_matter(name):
    if name == "ppi":
        pytest.skip("its tree takes the first of equal columns, in table order")
    X = frame(name)
    np.testing.assert_allclose(answers(name, X[X.columns[::-1]]), answers(name, X), rtol=1e-8, atol=1e-9)


@every_test
def test_the_order_of_rows_does_not_matter(name):
    if TESTS[name].card.p_values == "resampled":
        pytest.skip("other rows are drawn")
    X = frame(name)
    np.testing.assert_allclose(answers(name, X.sample(frac=1, random_state=0)), answers(name, X), rtol=1e-7, atol=1e-9)


@every_test
def test_the_names_of_categories_do_not_matter(name):
    X = frame(name)
    if "f" not in X:
        pytest.skip("takes no categories")
    if name == "ppi":
        pytest.skip("its tree cuts codes, which go by the order of the names")
    renamed = X.assign(f=X["f"].map({"yes": "a", "no": "b"}))
    if "g" in X:
        renamed["g"] = X["g"].map({"red": "1", "green": "0", "blue": "2"})
    np.testing.assert_allclose(answers(name, renamed), answers(name, X), rtol=1e-7, atol=1e-8)


@every_test
def test_no_candidates_are_no_results(name):
    bound = bind(name)
    assert len(bound.test_many([], "a")) == 0
    assert bound.n_tests == 0


@every_test
@pytest.mark.parametrize("query", [("a", "a", []), ("a", "b", ["a"]), ("a", "b", ["b"])])
def test_a_column_that_occurs_twice_is_refused(name, query):
    with pytest.raises(ParameterError, match="different columns"):
        bind(name).test(*query)


@every_test
def test_is_deterministic_under_a_seed(name):
    asked = list(queries(list(frame(name).columns)))[:6]
    for seed in (0, 1):
        one, other = bind(name, seed=seed), bind(name, seed=seed)
        assert [one.test(*q) for q in asked] == [other.test(*q) for q in asked[::-1]][::-1]


@every_test
def test_columns_it_does_not_take_are_refused_by_name(name):
    card = TESTS[name].card
    examples = {
        "numeric": np.linspace(0, 1, 80),
        "integer": np.arange(80),
        "boolean": np.arange(80) % 2 == 0,
        "categorical": np.array(["u", "v"])[np.arange(80) % 2],
    }
    # Two levels of text are within the limit of a test that names one.
    bad = [examples[k] for k in KINDS if k not in card.kinds and not (k == "categorical" and card.max_classes)]
    if card.max_classes is not None:
        bad.append(np.array([f"level {i % (card.max_classes + 1)}" for i in range(80)]))
    for values in bad:
        with pytest.raises(UnsupportedError, match="'odd one'"):
            bind(name, frame(name).assign(**{"odd one": values}))
    for kind in card.kinds:
        assert valid(bind(name, frame(name)[["a", "b"]].assign(fine=examples[kind])).test("fine", "a"))


@every_test
@pytest.mark.parametrize("column", ["a", "f"])
def test_missing_cells_are_refused_by_name(name, column):
    X = frame(name)
    if column not in X:
        pytest.skip("no such column")
    X[column] = X[column].where(np.arange(len(X)) != 3)
    with pytest.raises(DataError, match=f"column '{column}' has 1 missing cells"):
        bind(name, X)


@every_test
def test_infinite_cells_are_refused_by_name(name):
    X = frame(name)
    X["a"] = np.where(np.arange(len(X)) < 2, -np.inf, 0.5)
    with pytest.raises(DataError, match="column 'a' has 2 infinite cells"):
        bind(name, X)


@every_test
def test_constant_and_duplicate_columns_never_give_nan(name):
    X = frame(name)
    X = X.assign(constant=1.5, zero=0, copy=X["a"], scaled=-3 * X["a"])
    for x, y, given in [
        ("constant", "a", []),
        ("constant", "a", ["b"]),
        ("a", "b", ["constant"]),
        ("a", "b", ["constant", "zero"]),
        ("copy", "a", []),
        ("copy", "a", ["b"]),
        ("a", "b", ["copy"]),
        ("a", "b", ["copy", "scaled"]),
        ("b", "a", ["copy", "scaled"]),
        ("a", "constant", []),
        ("constant", "zero", ["a"]),
    ]:
        assert valid(bind(name, X).test(x, y, given)), (x, y, given)
    for result in bind(name, X).test_many(["constant", "zero"], "a"):
        assert result.p_value == 1.0


@every_test
def test_options_out_of_range_are_refused(name):
    for option, parameter in TESTS[name].parameters().items():
        bad = {
            "number": ["x", float("nan"), True, *([] if parameter.nullable else [None])],
            "integer": ["x", 1.5, True],
            "choice": ["no such choice", 1],
        }.get(parameter.kind, [])
        bad += [bound for bound in (parameter.above, parameter.below) if bound is not None]
        bad += [parameter.at_least - 1] if parameter.at_least is not None else []
        bad += [parameter.at_most + 1] if parameter.at_most is not None else []
        for value in bad:
            with pytest.raises(ParameterError, match=option):
                bf.get_ci_test(name, **{option: value})
            late = configured(name).set_params(**{option: value})
            with pytest.raises(ParameterError, match=option):
                late.bind(frame(name))
    with pytest.raises(ParameterError, match="has no option 'nonsense'"):
        bf.get_ci_test(name, nonsense=1)


@every_test
def test_only_what_the_card_lists_is_measured(name):
    test = configured(name)
    results = test.bind(frame(name)).test_many(["b", "c"], "a")
    if "mutual-information" in TESTS[name].card.measures:
        near, far = test.mutual_information(results)
        assert near > far >= 0
    else:
        with pytest.raises(UnsupportedError, match="does not measure mutual information"):
            test.mutual_information(results)
