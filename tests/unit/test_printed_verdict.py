"""The verdict on a printed number, against a table worked by hand and a rendering by the ends of the interval."""

import numpy as np
import pytest

from studies.papers.verdict import margin, verdict

#: Margins of 0.1, 0 and 0.
ROW, EQUAL, ALONE = [0.7, 0.8, 0.9], [0.8, 0.8], [0.8]


@pytest.mark.parametrize(
    ("methods", "printed", "ours", "noise", "expected"),
    [
        (ROW, 0.8, 0.82, 0.05, "reproduced"),  # -0.03 .. 0.07, which holds zero, within 0.1
        (ROW, 0.8, 0.86, 0.03, "reproduced"),  # 0.03 .. 0.09 excludes zero, and is still nearer than a method
        (ROW, 0.8, 0.86, 0.05, "different"),  # 0.01 .. 0.11
        (ROW, 0.8, 0.74, 0.05, "different"),
        (ROW, 0.8, 0.83, 0.08, "vacuous"),  # 0.75 .. 0.91 around ours holds 0.9
        (ROW, 0.9, 0.95, 0.06, "undecided"),  # 0.89 .. 1.01 holds no other method
        (EQUAL, 0.8, 0.8, 0.01, "undecided"),  # no distance between methods: nothing can be reproduced
        (EQUAL, 0.8, 0.83, 0.01, "different"),
        (ALONE, 0.8, 0.8, 0.01, "undecided"),
        ([], 0.8, 0.8, 0.01, "undecided"),
        (EQUAL, 0.8, 0.8, 0.0, "reproduced"),  # the same number without any noise
    ],
)
def test_verdicts_by_hand(methods, printed, ours, noise, expected):
    assert verdict(printed, ours, noise, methods) == expected


def literally(printed, ours, noise, methods):
    """The rule, word for word, on the ends of the interval of the difference."""
    low, high = ours - printed - noise, ours - printed + noise
    half = (sorted(methods)[-1] - sorted(methods)[0]) / 2
    if -half <= low and high <= half:
        return "reproduced"
    if low > 0 or high < 0:
        return "different"
    distances = [method - printed for method in methods if method != printed]
    return "vacuous" if any(low <= distance <= high for distance in distances) else "undecided"


def test_verdicts_are_those_of_the_ends_of_the_interval():
    rng = np.random.default_rng(0)
    said = set()
    for _ in range(2000):
        methods = (rng.integers(0, 64, rng.integers(1, 6)) / 64).tolist()  # sums of these are exact
        ours, noise = rng.integers(0, 64) / 64, rng.integers(0, 16) / 64
        found = verdict(methods[0], ours, noise, methods)
        assert found == literally(methods[0], ours, noise, methods)
        said.add(found)
    assert said == {"reproduced", "different", "undecided", "vacuous"}


def test_the_margin_is_half_the_distance_between_best_and_worst():
    assert margin([0.5, 1.0, 0.75]) == 0.25 and margin([0.5]) == margin([]) == 0
