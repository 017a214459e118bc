"""What `auto` prints, end to end: it selects, models learn what it keeps, and fresh rows are predicted."""

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.core.convert import as_table
from blanketflow.core.table import column_from_array
from blanketflow.search.run_fold import run_fold
from blanketflow.selectors.judged.held_out import judge
from blanketflow.selectors.judged.judged_round import NONE
from blanketflow.selectors.judged.pace import Pace
from blanketflow.targets.forms import as_target
from studies.answer.honest_scores import PAGE, RESULTS, table_of, truth

FRESH = 5000


def printed(X, y, **options):
    """Return what is kept, and the scores: corrected for the choice, and not."""
    found = bf.Auto(**options).fit(X, y)
    of = {row["model"]: row for row in found.verdict_["scores"]}
    return found.selected_features_, of["corrected"], of["mean"]


@pytest.mark.extended
def test_the_score_and_the_difference_are_those_on_fresh_rows():
    """Of eight weak columns among noise, sets and rankings are chosen that look better than they are."""
    errors, not_corrected, within = [], [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200 + FRESH, 10))
        y = np.where(0.4 * X[:, :3].sum(axis=1) + rng.logistic(size=len(X)) > 0, "yes", "no")
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(10)])
        kept, said, mean = printed(frame[:200], y[:200])
        true = truth(as_table(frame), y, 200, kept, seed)
        difference = true["chosen"] - true["none" if "none" in said else "all"]
        errors.append((said["chosen"] - true["chosen"], said["difference"] - difference))
        not_corrected.append((mean["chosen"] - true["chosen"], mean["difference"] - difference))
        within.append(said["low"] <= difference <= said["high"])
    assert np.mean(not_corrected, axis=0).min() > 0.03
    assert np.abs(np.mean(errors, axis=0)).max() < 0.025
    assert sum(within) >= 9


def times(rng, score):
    died, left = rng.exponential(np.exp(-0.6 * score)), rng.exponential(2.0, len(score))
    return {"time": np.minimum(died, left), "event": died <= left}


def counts(rng, score):
    exposure = rng.uniform(0.5, 2.0, len(score))
    return {"count": rng.poisson(exposure * np.exp(0.3 * score)), "exposure": exposure}


@pytest.mark.extended
@pytest.mark.parametrize(("kind", "draw"), [("survival", times), ("count", counts)])
def test_the_score_of_a_further_kind_is_that_on_fresh_rows(kind, draw):
    errors, within = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200 + 2000, 10))
        y = draw(rng, X[:, :3].sum(axis=1) * 0.7)
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(10)])
        kept, said, _ = printed(frame[:200], {name: cells[:200] for name, cells in y.items()}, target_kind=kind)
        true = truth(as_table(frame), as_target("test", "y", y, kind), 200, kept, seed)
        difference = true["chosen"] - true["none" if "none" in said else "all"]
        errors.append((said["chosen"] - true["chosen"], said["difference"] - difference))
        within.append(said["low"] <= difference <= said["high"])
    assert np.mean(errors, axis=0).max() < 0.025
    assert sum(within) >= 6


@pytest.mark.extended
def test_without_features_the_score_is_that_of_a_class_that_the_sample_chose():
    """Of two classes as frequent as each other, one has 28 of 50 rows on average; of fresh rows it has half."""
    scores, shares = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        y = np.where(rng.random(50) < 0.5, "yes", "no")
        kept, said, _ = printed(rng.normal(size=(50, 2)), y)
        if not kept:
            scores.append(said["chosen"])
            shares.append(max(np.mean(y == "yes"), np.mean(y == "no")))
    assert len(scores) >= 10 and np.mean(shares) > 0.54
    assert abs(np.mean(scores) - 0.5) < 0.03


def test_a_sample_chooses_the_class_that_is_said_without_features():
    """The rows that a sample left out have another most frequent class, which it does not know."""
    y = np.repeat(["a", "b"], [11, 9])
    X = pd.DataFrame({"x": np.arange(20) % 7})
    judged = judge(as_table(X), column_from_array("y", y), 0, 2, 1, Pace(), search=run_fold)
    none, weights = judged.candidates.index((NONE, 0)), np.ones(20)
    weights[:5] = 0  # six of a and nine of b are left
    assert judged.score_outside(none, weights) == 0
    weights[5:] = 2 * (np.arange(15) < 12)  # six of a, twice each, and six of b: the first of two equal ones is said
    assert judged.score_outside(none, weights) == pytest.approx(5 / 8)
    assert judged.score(none) == pytest.approx(11 / 20)


def test_the_study_counts_on_which_side_the_truth_is_missed():
    row = {"kind": "linear", "metric": "error", "printed": 0.8, "not_corrected": 0.9, "true": 0.7, "difference": 0.1}
    found = pd.DataFrame([row | {"low": 0.0, "high": 0.2, "true_difference": true} for true in (-0.1, 0.1, 0.1, 0.5)])
    last = table_of(found).splitlines()[-1]
    cells = [cell.strip() for cell in last.split("|")[1:-1]]
    # The standard error is sqrt(0.19 / 3 / 4), of 0.2, 0, 0 and -0.4.
    assert cells == ["all", "4", "+0.100", "+0.200", "-0.050 ± 0.247", "1", "1", "0.50"]


def test_the_page_says_what_was_measured():
    assert table_of(pd.read_parquet(RESULTS)) in PAGE.read_text(encoding="utf-8")
