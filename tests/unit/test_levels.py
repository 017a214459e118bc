"""What looks at the level of a test by few samples finds whatever is found by all of them."""

import numpy as np
import pytest
from scipy.stats import binom

from levels import Level

CASES = [(60, 1e-4), (80, 1e-4), (200, 1e-3), (200, 1e-4), (300, 1e-4), (400, 1e-4)]


def of_all_paths(asked, rate):
    """Return the exact probability that a rate of rejections is found too high, and the mean number of samples."""
    paths, found, drawn = np.append(1.0, np.zeros(asked.limit - 1)), 0.0, 0.0
    for left in range(asked.n_samples - 1, -1, -1):
        drawn += paths.sum()
        found += rate * paths[-1]
        paths = (1 - rate) * paths + rate * np.append(0.0, paths[:-1])
        paths[asked.is_hopeless(np.arange(asked.limit), left)] = 0.0
    assert paths.sum() == 0.0
    return found, drawn


@pytest.mark.parametrize(("n_samples", "doubt"), CASES)
def test_a_high_rate_is_found_as_often_as_by_all_samples_and_the_right_one_by_fewer(n_samples, doubt):
    asked = Level(n_samples, doubt)
    for rate in (0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4):
        # The p-value of a binomial test of all samples is below `doubt` where more than the limit are rejected.
        assert of_all_paths(asked, rate)[0] > binom.sf(asked.limit, n_samples, rate) - 1e-6
    found, drawn = of_all_paths(asked, 0.05)
    assert found < 2 * doubt and drawn < 2 / 3 * n_samples


def test_it_draws_no_more_than_it_takes():
    asked = Level(200, 1e-3)
    for is_rejected in (True, False):
        drawn = []
        assert asked.is_exceeded(drawn.append(1) or is_rejected for _ in range(200)) == is_rejected
        assert len(drawn) == asked.limit if is_rejected else asked.limit < len(drawn) < 100
    with pytest.raises(ValueError, match="fewer than 200"):
        asked.is_exceeded([False] * 9)
