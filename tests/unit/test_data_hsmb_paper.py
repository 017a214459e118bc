"""The Corral and Regression data of Lou and Obradovic: exact distributions, match rates of samples, blankets."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, stats

import blanketflow as bf
from blanketflow.ci.oracle import joint_distribution
from blanketflow.core.errors import ParameterError
from blanketflow.data.simulate import NETWORKS, simulate, simulated
from blanketflow.data.simulate.corral import corral
from blanketflow.data.simulate.regression import regression
from blanketflow.data.sources import read_source
from blanketflow.search.run_fold import run_fold
from blanketflow.workflow.plan import make_plan

SCRIPTS = (Path(__file__).parents[2] / "scripts").joinpath
CORRAL = ["corral-7", "corral-46", "corral-rel-7", "corral-rel-46"]
REGRESSION = ["regression-22", "regression-38", "regression-138"]
ROWS = 4000
#: Two-sided; some 500 counts are looked at below.
IMPROBABLE = 1e-7


def is_binomial(count, probability, n=ROWS):
    low, high = stats.binom.interval(1 - IMPROBABLE, n, probability)
    return low <= count <= high


def the_class(a0, a1, b0, b1):
    return int((a0 and a1) or (b0 and b1))


def blanket(network, method, test):
    """What a method returns that asks a test which knows the truth."""
    table, target = network.sample(1, seed=0), list(network.nodes)[-1]
    outcome = run_fold(bf.get_selector(method).method_class(), test, table.select(table.names[:-1]), table[target], 0)
    return sorted(s.feature for s in outcome.decisions if s.kept)


@pytest.mark.parametrize("pair_match", [0.5, 0.6])
def test_the_joint_distribution_of_corral_7_is_as_described(pair_match):
    names = ["A0", "A1", "B0", "B1", "R", "I", "Y"]
    joint = joint_distribution(corral(pair_match=pair_match), names)
    for a0, a1, b0, b1, r, i, y in itertools.product((0, 1), repeat=7):
        pairs = [pair_match if first == second else 1 - pair_match for first, second in ((a0, a1), (b0, b1))]
        follows = 0.75 if r == y else 0.25
        wanted = pairs[0] / 2 * pairs[1] / 2 * follows / 2 * (y == the_class(a0, a1, b0, b1))
        assert joint[a0, a1, b0, b1, r, i, y] == pytest.approx(wanted, abs=1e-15)


def test_the_class_follows_from_the_pairs():
    # Of 16 combinations of fair bits, 4 have A0 = A1 = 1, 4 have B0 = B1 = 1, and 1 has both.
    assert joint_distribution(corral(), ["Y"])[1] == pytest.approx(7 / 16)
    assert joint_distribution(corral(pair_match=0.6), ["Y"])[1] == pytest.approx(2 * 0.3 - 0.3**2)


@pytest.mark.parametrize("name", [*CORRAL, *REGRESSION])
def test_features_and_truth_are_those_of_the_paper(name):
    table, target, truth = simulate(name, 10, seed=1)
    n_named = int(name.split("-")[-1])
    assert len(table.names) - 1 == (6 if n_named == 7 else n_named)  # Corral-7 is named after its columns
    originals = ["A0", "A1", "B0", "B1"] if name in CORRAL else ["x1", "x2"]
    assert truth == simulated(name).truth()
    assert truth["blanket"] == truth["parents"] == originals and table.names[: len(originals)] == originals
    assert (table.names[-1], target) == (("Y",) * 2 if name in CORRAL else ("y",) * 2)
    irrelevant = sum(column[0] == "I" for column in table.names)
    copies = sum("_" in column for column in table.names)
    assert irrelevant == {7: 1, 46: 14, 22: 20, 38: 20, 138: 120}[n_named]
    assert copies == {7: 0, 46: 28, 22: 0, 38: 16, 138: 16}[n_named]
    assert ("R" in table.names) is (n_named == 7)


@pytest.mark.parametrize("name", CORRAL)
def test_the_bits_of_a_corral_sample_match_as_often_as_they_should(name):
    table, target, _ = simulate(name, ROWS, seed=5)
    bits = {column.name: column.values for column in table.columns}
    assert all(column.levels == ("0", "1") for column in table.columns)
    a0, a1, b0, b1 = (bits[parent] for parent in ("A0", "A1", "B0", "B1"))
    assert np.array_equal(bits.pop(target), (a0 & a1) | (b0 & b1))
    assert all(is_binomial(values.sum(), 0.5) for key, values in bits.items() if key != "R")
    for first, second in itertools.combinations(("A0", "A1", "B0", "B1"), 2):
        related = 0.6 if "rel" in name and first[0] == second[0] else 0.5
        assert is_binomial((bits[first] == bits[second]).sum(), related)
    if "R" in bits:
        assert is_binomial((bits["R"] == ((a0 & a1) | (b0 & b1))).sum(), 0.75)
    for original, i in itertools.product(("A0", "A1", "B0", "B1"), range(1, 8 if "46" in name else 1)):
        assert is_binomial((bits[f"{original}_{i}"] == bits[original]).sum(), (16 - i) / 16)


@pytest.mark.parametrize("name", REGRESSION)
def test_a_regression_sample_follows_its_function_and_its_copies_match(name):
    table, _, _ = simulate(name, ROWS, seed=5)
    x1, x2, y = (table[key].values for key in ("x1", "x2", "y"))
    noise = y - x1 * np.exp(-(x1**2) - x2**2)
    low, high = stats.chi2.interval(1 - IMPROBABLE, ROWS)
    assert low < (noise**2).sum() / 0.075**2 < high
    for column in table.columns[:-1]:  # every feature is standard normal: Kolmogorov and Smirnov's exact test
        assert stats.kstest(column.values, "norm").pvalue > IMPROBABLE, column.name
    for original, i in itertools.product(("x1", "x2"), range(1, 9 if "22" not in name else 1)):
        copy, source = table[f"{original}_{i}"].values, table[original].values
        matches = copy == source
        assert is_binomial(matches.sum(), (8 + i) / 16)
        if not matches.all():  # what does not match is drawn anew
            assert stats.pearsonr(copy[~matches], source[~matches]).pvalue > IMPROBABLE


def test_how_much_of_the_variance_can_be_explained():
    def density(x1, x2):
        return np.exp(-(x1**2 + x2**2) / 2) / (2 * np.pi)

    def mean(power):
        value, _ = integrate.dblquad(
            lambda x1, x2: (x1 * np.exp(-(x1**2) - x2**2)) ** power * density(x1, x2), -9, 9, -9, 9
        )
        return value

    assert mean(1) == pytest.approx(0, abs=1e-9) and mean(2) == pytest.approx(1 / 25)
    assert mean(2) / (mean(2) + 0.075**2) == pytest.approx(0.88, abs=0.005)


@pytest.mark.parametrize("method", ["gs", "iamb", "inter-iamb"])
@pytest.mark.parametrize("pair_match", [0.5, 0.6])
def test_with_exact_probabilities_the_four_are_the_blanket(method, pair_match):
    network = corral(pair_match=pair_match)
    assert blanket(network, method, bf.get_ci_test("population", network=network)) == ["A0", "A1", "B0", "B1"]


@pytest.mark.parametrize("name", [*CORRAL, "regression-38"])
def test_with_d_separation_the_originals_are_the_blanket(name):
    network = NETWORKS[name].network
    found = blanket(network, "iamb", bf.get_ci_test("oracle", network=network))
    assert found == simulated(name).truth()["blanket"]


def test_the_graph_tells_no_independence_that_the_distribution_does_not_have():
    network = corral(1, 0.75, [0.9])
    names = list(network.nodes)
    oracle, exact = (
        bf.get_ci_test(key, network=network).bind(network.sample(1, 0)) for key in ("oracle", "population")
    )
    rng = np.random.default_rng(0)
    independent = 0
    for _ in range(400):
        x, y, *given = rng.permutation(names)[: rng.integers(2, 7)].tolist()
        if oracle.test(x, y, given=given).p_value == 1.0:
            assert exact.test(x, y, given=given).p_value == 1.0, (x, y, given)
            independent += 1
    assert independent > 50


def test_an_exact_copy_is_as_good_as_its_original():
    network = corral(0, None, [1.0])
    table = network.sample(1, seed=0)
    test = bf.get_ci_test("population", network=network)
    outcome = run_fold(bf.get_selector("tie-star").method_class(), test, table.select(table.names[:-1]), table["Y"], 0)
    wanted = itertools.product(*([key, f"{key}_1"] for key in ("A0", "A1", "B0", "B1")))
    assert {frozenset(answer.features) for answer in outcome.answers} == {frozenset(s) for s in wanted}


@pytest.mark.parametrize(
    ("small", "large"),
    [("corral-7", "corral-46"), ("corral-rel-7", "corral-rel-46"), *itertools.pairwise(REGRESSION)],
)
def test_the_larger_data_include_the_smaller_ones_at_the_same_seed(small, large):
    few, target, _ = simulate(small, 300, seed=8)
    many, _, _ = simulate(large, 300, seed=8)
    shared = set(few.names) & set(many.names)
    assert {target, *simulated(small).truth()["blanket"]} <= shared
    assert small == "corral-7" or "rel" in small or shared == set(few.names)
    for key in shared:
        assert np.array_equal(few[key].values, many[key].values)


def test_the_four_families_are_drawn_independently():
    plain, related = (simulate(name, ROWS, seed=8)[0] for name in ("corral-7", "corral-rel-7"))
    assert is_binomial((plain["A0"].values == related["A0"].values).sum(), 0.5)


@pytest.mark.parametrize("name", [*CORRAL, *REGRESSION])
def test_the_plan_knows_each_as_a_data_set_of_a_config(name):
    spec = {"source": f"simulate:{name}", "rows": 120}
    raw = {"datasets": {"study": spec}, "selectors": {"gs": {"method": "gs"}, "truth": {"method": "true-blanket"}}}
    plan = make_plan(raw, SCRIPTS)
    facts = plan.facts["study"]
    read = read_source("study", spec, json.loads(plan.table_spec("study"))["seed"])
    assert (facts.n_rows, facts.n_features, facts.exact) == (120, len(read.features), True)
    assert facts.feature_names == tuple(read.features.names) and facts.truth == read.truth == simulated(name).truth()
    assert facts.task == read.task.name == ("classification" if name in CORRAL else "regression")
    assert facts.kinds == (("categorical",) if name in CORRAL else ("numeric",))
    assert not plan.skipped and {("study", "gs"), ("study", "truth")} <= set(plan.pairs)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: corral(-1), "corral: n_irrelevant is -1"),
        (lambda: corral(class_match=1.5), "corral: class_match is 1.5"),
        (lambda: corral(copies=[0.5, float("nan")]), r"corral: copies\[1\] is nan"),
        (lambda: corral(pair_match=-0.1), "corral: pair_match is -0.1"),
        (lambda: regression(-1), "regression: n_irrelevant is -1"),
        (lambda: regression(copies=[17 / 16]), r"regression: copies\[0\] is 1.0625"),
        (lambda: regression(noise=-1), "regression: noise is -1"),
        (lambda: regression(noise=float("nan")), "regression: noise is nan"),
    ],
)
def test_numbers_out_of_range_are_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()
