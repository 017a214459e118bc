"""The rule of the smallest set that loses nothing, written out, and its score corrected for the choice."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from blanketflow.moves.smallest_set import corrected_score, shares, smallest_set, undecided_size


def literal(losses, sizes, n_parts, nothing=None):
    """How much each set counts, as the documentation states it, number by number."""
    kinds = range(len(losses[0]))
    chances, keeps = [], []
    means = [[sum(own[kind]) / len(own[kind]) for kind in kinds] for own in losses]
    for candidate in range(len(losses)):
        of_kinds, loses = [], False
        for kind in kinds:
            best = min(range(len(losses)), key=lambda i: (round(means[i][kind], 12), sizes[i]))
            differences = [a - b for a, b in zip(losses[candidate][kind], losses[best][kind], strict=True)]
            lost = sum(differences) / len(differences)
            variance = sum((d - lost) ** 2 for d in differences) / len(differences)
            error = math.sqrt(variance / len(differences) * (1 + n_parts / (n_parts - 1)))
            gain = 0 if nothing is None else max(0, sum(nothing[kind]) / len(nothing[kind]) - means[best][kind])
            may = min(error / 2, 0.01 if nothing is None else gain / 20)
            of_kinds.append(float(lost <= 1e-12) if error <= 1e-12 else NormalDist().cdf((may - lost) / error))
            loses = loses or lost > may + 1e-12
        chances.append(min(of_kinds))
        keeps += [] if loses else [candidate]
    if not keeps:
        return literal([own[-1:] for own in losses], sizes, n_parts, nothing and nothing[-1:])
    counts, reached = [0.0] * len(losses), 1.0
    for size in sorted(set(sizes)):
        of_size = [i for i in range(len(losses)) if sizes[i] == size and chances[i]]
        total, n_of_size = sum(chances[i] for i in of_size), sizes.count(size)
        for i in of_size:
            counts[i] = reached * (total / n_of_size) * (chances[i] / total)
        reached *= 1 - total / n_of_size
    return [count / sum(counts) for count in counts]


def some(seed):
    """Losses of several sets, sizes, and losses without any feature."""
    rng = np.random.default_rng(seed)
    n_sets, n_rows = int(rng.integers(1, 8)), int(rng.integers(5, 200))
    chances = rng.choice([0.1, 0.105, 0.12, 0.3], n_sets)
    wrong = (rng.random((n_sets, 1, n_rows)) < chances[:, None, None]).astype(float)
    losses = np.concatenate([wrong, rng.random((n_sets, 1, n_rows)) * chances[:, None, None]], axis=1)
    return losses, rng.integers(0, 5, n_sets), rng.random((2, n_rows)) * 0.5


@pytest.mark.parametrize("seed", range(60))
def test_it_is_the_rule_written_out(seed):
    losses, sizes, none = some(seed)
    for nothing in (None, none):
        wanted = literal(losses.tolist(), sizes.tolist(), 5, nothing if nothing is None else nothing.tolist())
        assert shares(losses, sizes, 5, nothing=nothing) == pytest.approx(wanted)
        found = smallest_set(losses, sizes, 5, nothing=nothing)
        of_sizes = list(zip(sizes, wanted, strict=True))
        assert sum(count for size, count in of_sizes if size < sizes[found]) < 0.5 + 1e-9
        assert sum(count for size, count in of_sizes if size <= sizes[found]) > 0.5 - 1e-9
        assert wanted[found] == pytest.approx(max(wanted[i] for i in np.flatnonzero(sizes == sizes[found])))


@pytest.mark.parametrize("seed", range(5))
def test_rows_that_count_twice_are_two_rows(seed):
    losses, sizes, none = some(seed)
    drawn = np.random.default_rng(seed).integers(losses.shape[2], size=losses.shape[2])
    weights = np.bincount(drawn, minlength=losses.shape[2]).astype(float)
    wanted = shares(losses[..., drawn], sizes, 5, nothing=none[..., drawn])
    assert shares(losses, sizes, 5, weights, none) == pytest.approx(wanted)


def test_a_smaller_set_may_lose_a_little_but_not_more_than_the_cap():
    rows = np.arange(10_000)
    best, little, much = rows < 1000, rows < 1020, rows < 1300
    losses = np.stack([much, little, best]).astype(float)[:, np.newaxis]
    sizes = np.array([1, 2, 3])
    # 20 rows more: 0.002 against half of sqrt(0.002 / 10,000 * 2.25), which is 0.0003. The third is the only one.
    assert smallest_set(losses, sizes, 5) == 2 and shares(losses, sizes, 5)[2] > 0.99
    noisy = np.random.default_rng(0).permutation(rows) < 1020  # other rows: the standard error is 0.0064
    losses[1, 0] = noisy
    assert smallest_set(losses, sizes, 5) == 1 and shares(losses, sizes, 5)[1] > 0.5


def test_it_changes_less_with_the_rows_than_the_smallest_set_that_passes_the_threshold():
    """Larger sets are a little better: where the threshold is passed is chance."""
    rng, sizes, found, passing = np.random.default_rng(0), np.array([1, 2, 3, 4, 5, 6, 8, 10, 13, 16]), [], []
    for _ in range(60):
        row = rng.random(200)
        own = rng.random((len(sizes), 200))
        chances = 0.2 + 0.1 / sizes
        losses = np.where(rng.random((len(sizes), 200)) < 0.3, own, row)[:, np.newaxis] < chances[:, None, None]
        losses = losses.astype(float)
        lost = losses[:, 0].mean(axis=1) - losses[:, 0].mean(axis=1).min()
        best = losses[lost.argmin(), 0]
        error = (losses[:, 0] - best).std(axis=1) * math.sqrt(2.25 / 200)
        passing.append(sizes[lost <= np.minimum(error / 2, 0.01) + 1e-12].min())
        found.append(sizes[smallest_set(losses, sizes, 5)])
    assert np.std(np.log(found)) < 0.8 * np.std(np.log(passing))


def test_what_may_be_chance_is_not_decided():
    """Of 100 rows the second set gets 3 more wrong, 1.0 standard errors, and the first 30 more, 4.4 of them."""
    best, little, much = (np.arange(100) >= 100 - n for n in (10, 13, 40))
    losses = np.stack([much, little, best]).astype(float)[:, np.newaxis]
    assert math.sqrt(0.3 * 0.7 / 100 * 2.25) * 4.3 < 0.3 < math.sqrt(0.3 * 0.7 / 100 * 2.25) * 4.4
    assert undecided_size(losses, np.array([1, 2, 3]), n_parts=5) == 2


def test_where_the_losses_disagree_the_proper_one_decides():
    """By chance the second set has fewer errors, and its probabilities are worse than those of no feature."""
    wrong, squared = np.zeros((2, 100)), np.full((2, 100), 0.25)
    wrong[0, :50], wrong[1, :42], squared[1] = 1, 1, 0.27
    assert smallest_set(np.stack([wrong, squared], axis=1), np.array([0, 1]), 5) == 0


def test_of_sets_of_one_size_each_counts_by_its_chance():
    """The second errs in five rows more of 50, one standard error and a half; a larger set is not needed."""
    losses = np.zeros((3, 1, 50))
    losses[1, 0, :5] = 1
    error = math.sqrt(0.1 * 0.9 / 50 * 2.25)
    chance = NormalDist().cdf((0.01 - 0.1) / error)
    wanted = [1 / 2, chance / 2, (1 - chance) / 2]  # a size of two is taken with the chance (1 + chance) / 2
    assert shares(losses, np.array([2, 2, 3]), 5) == pytest.approx(wanted)
    assert smallest_set(losses, np.array([2, 2, 3]), 5) == 0


def test_a_share_of_what_is_gained_may_be_lost_and_no_fixed_amount():
    """One feature gains 0.009 of a loss that is 0.1 without any: all that is there, though less than 0.01."""
    rng = np.random.default_rng(0)
    none, one = np.full((1, 1000), 0.1), 0.091 + 0.5 * rng.normal(size=(1, 1000))
    losses, sizes = np.stack([none, one + 0.091 - one.mean()]), np.array([0, 1])
    error = one.std() * math.sqrt(2.25 / 1000)
    fixed, of_gain = (NormalDist().cdf((may - 0.009) / error) for may in (0.01, 0.05 * 0.009))
    assert shares(losses, sizes, 5)[0] == pytest.approx(fixed) and fixed > 0.5
    assert shares(losses, sizes, 5, nothing=none)[0] == pytest.approx(of_gain) and of_gain < 0.4


def score_of(losses, reference):
    """Return the function that `corrected_score` asks, of losses."""
    return lambda at, weights: 1 - losses[reference if at is None else at, 0, weights == 0].mean()


def simulated(rng, n_rows, truth):
    return (rng.random((len(truth), 1, n_rows)) < np.array(truth)[:, None, None]).astype(float)


def test_the_score_is_corrected_for_the_choice_among_many():
    """Forty sets that all err in 30 of 100 rows: the best looks better than it is, by far more than what is said."""
    rng = np.random.default_rng(1)
    naive, corrected = [], []
    for _ in range(30):
        losses, sizes = simulated(rng, 100, [0.3] * 40), np.full(40, 5)
        naive.append(losses.mean(axis=2).min())
        corrected.append(1 - corrected_score(losses, sizes, 5, score_of(losses, 0), rng).chosen)
    assert np.mean(naive) < 0.22
    assert abs(np.mean(corrected) - 0.3) < 0.02


@pytest.mark.parametrize("n_rows", [60, pytest.param(400, marks=pytest.mark.extended)])
@pytest.mark.parametrize("truth", [[0.25, 0.27, 0.3, 0.3, 0.35], pytest.param([0.3] * 12, marks=pytest.mark.extended)])
def test_the_interval_covers_the_true_difference(n_rows, truth):
    """At least nine times in ten, where 95 % are claimed and 50 are tried."""
    rng, covered, n = np.random.default_rng(2), 0, 50
    sizes = np.arange(len(truth)) + 1
    for _ in range(n):
        losses = simulated(rng, n_rows, truth)
        found = corrected_score(losses, sizes, 5, score_of(losses, -1), rng)
        own = truth[-1] - truth[smallest_set(losses, sizes, 5)]
        covered += found.low <= own <= found.high
    assert covered >= 45
