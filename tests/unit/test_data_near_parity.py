"""The near-parity network: its joint distribution by hand, its blanket, and what hides in it."""

import itertools

import numpy as np
import pytest

import blanketflow as bf
from blanketflow.ci.oracle import joint_distribution
from blanketflow.core.errors import ParameterError
from blanketflow.data.simulate import simulate
from blanketflow.data.simulate.near_parity import PARENTS, TARGET, near_parity


def test_the_joint_distribution_is_that_of_a_noisy_parity():
    joint = joint_distribution(near_parity(5, noise=0.1, bit_probability=0.6), [TARGET, *PARENTS])
    for x1, *bits in itertools.product((0, 1), repeat=4):
        share = np.prod([0.6 if bit else 0.4 for bit in bits])
        assert joint[x1, *bits] == pytest.approx(share * (0.9 if x1 == sum(bits) % 2 else 0.1), abs=1e-15)


def test_the_blanket_is_the_three_bits_whatever_else_there_is():
    network = near_parity(30, seed=4)
    assert list(network.nodes) == [f"x{i}" for i in range(1, 31)]
    truth = network.dag().markov_blanket(TARGET)
    assert truth["blanket"] == truth["parents"] == list(PARENTS)
    assert list(near_parity(4).nodes) == ["x1", "x2", "x3", "x4"]


def test_at_one_half_the_bits_show_only_all_together():
    network = near_parity(6, noise=0.2, bit_probability=0.5)
    bound = bf.get_ci_test("population", network=network).bind(network.sample(1, seed=0))
    for size in (1, 2):
        for bits in itertools.combinations(PARENTS, size):
            assert bound.test(bits, TARGET).p_value == 1.0
            assert bound.test(bits, TARGET, given=["x5", "x6"]).p_value == 1.0
    assert bound.test(PARENTS, TARGET).p_value < 1e-9
    # A bit flipped in one of five is known up to the entropy of that.
    information = np.log(2) + 0.2 * np.log(0.2) + 0.8 * np.log(0.8)
    assert bound.test(PARENTS, TARGET).statistic == pytest.approx(information)
    for bit in PARENTS:
        assert bound.test(bit, TARGET, given=set(PARENTS) - {bit}).statistic == pytest.approx(information)


def test_rows_have_the_shares_that_the_network_says():
    network, rows = near_parity(12, noise=0.3, seed=2), 20_000
    table = network.sample(rows, seed=5)
    bits = np.stack([table[name].values for name in PARENTS])
    flipped = table[TARGET].values != bits.sum(axis=0) % 2
    wanted = {name: network.nodes[name].cpt[1] for name in table.names[1:]}
    assert [wanted[name] for name in PARENTS] == [0.6] * 3
    assert len({*wanted.values()}) == 8 + 1  # those of x5 to x12, and 0.6
    for share, probability in [(flipped.mean(), 0.3), *((table[n].values.mean(), p) for n, p in wanted.items())]:
        assert abs(share - probability) < 4.5 * np.sqrt(probability * (1 - probability) / rows)


def test_the_seed_gives_the_other_bits_only():
    first, again, other = (near_parity(10, seed=seed) for seed in (1, 1, 2))
    for name in first.nodes:
        assert np.array_equal(first.nodes[name].cpt, again.nodes[name].cpt)
        assert np.array_equal(first.nodes[name].cpt, other.nodes[name].cpt) is (name in (TARGET, *PARENTS))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_variables": 3}, "n_variables is 3"),
        ({"noise": 1.1}, "noise is 1.1"),
        ({"bit_probability": float("nan")}, "bit_probability is nan"),
    ],
)
def test_numbers_out_of_range_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        near_parity(**options)


@pytest.mark.parametrize(
    ("name", "n_variables", "noise"),
    [
        ("near-parity", 50, 0.1),
        ("near-parity-10", 10, 0.1),
        ("near-parity-100", 100, 0.1),
        ("near-parity-noise-0", 50, 0),
    ],
)
def test_sources_are_named_by_what_the_paper_varies(name, n_variables, noise):
    table, target, truth = simulate(name, 4000, seed=1)
    bits = {column.name: column.numbers() for column in table.columns}
    assert len(bits) == n_variables and truth["blanket"] == ["x2", "x3", "x4"]
    flipped = (bits[target] - bits["x2"] - bits["x3"] - bits["x4"]) % 2
    assert flipped.mean() == pytest.approx(noise, abs=0.02)
