"""The answer of a data set, by which metric it is judged, and whether anything was learned: worked out by hand."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from blanketflow.core.table import column_from_array
from blanketflow.reporting import tables as result_tables
from blanketflow.reporting.formatting import MINUS
from blanketflow.reporting.tables.answers import NOT_KNOWN, NOT_SHOWN, ONLY_ALL, YES
from blanketflow.reporting.tables.scores import corrected_mean, leading_metrics, leading_model, metrics_in_order
from blanketflow.selectors.judged.yardstick import SPOKEN, yardstick

SPLITS = [f"cv-{i}" for i in range(1, 6)]
NOISE = np.array([0.01, -0.01, 0.02, -0.02, 0.0])


def found(scores, sizes, methods=None, statuses=None, verdicts=None, classes=None, metric="accuracy", prior=0.6):
    """Return what a made-up run found, from {selector: mean} and {selector: size of its blanket}."""
    methods = {name: {"method": (methods or {}).get(name, name)} for name in scores}
    d = max([*sizes.values(), 10])
    evaluations = pd.DataFrame(
        [
            {"dataset": "d", "selector": name, "split": split, "model": "svm", "metric": metric, "prior": prior}
            | {"value": mean + NOISE[i] * (1 if name != "all" else 0.5), "n_features": sizes[name], "seconds": 0.1}
            | {"status": "ok", "reason": ""}
            for name, mean in scores.items()
            for i, split in enumerate(SPLITS)
        ]
    )
    names = [f"x{j}" for j in range(d)]
    blankets = pd.DataFrame(
        [
            {"dataset": "d", "selector": name, "split": "full", "feature": feature, "chosen": True, "frequency": 1.0}
            | {"importance": float(d - j), "role": "member"}
            for name, size in sizes.items()
            for j, feature in enumerate(names[:size])
        ]
    )
    folds = pd.DataFrame(
        [{"dataset": "d", "selector": name, "split": "full", "fold": "0", "size": n} for name, n in sizes.items()]
    )
    ended = pd.DataFrame(
        [
            {"dataset": "d", "selector": name, "split": "full", "stage": "select", "reason": "too few rows"}
            | {"status": (statuses or {}).get(name, "ok"), "verdict": (verdicts or {}).get(name, "")}
            for name in sizes
        ]
    )
    card = {"n_features": d, "target": {"name": "y", "classes": classes or {"a": 50, "b": 50}}, "findings": []}
    return result_tables.Found(
        cards={"d": card},
        blankets=blankets,
        folds=folds,
        evaluations=evaluations,
        both_selections=evaluations,
        confirmed=pd.DataFrame(),
        ended=ended,
        skipped=[],
        selectors=methods,
        n_parts=5,
        scores=result_tables.scores(evaluations, methods, 5),
    )


def answer(*args, **kwargs):
    (row,) = result_tables.answers(found(*args, **kwargs)).itertuples()
    return row


def test_the_answer_is_that_of_auto_in_its_own_words():
    said = answer({"gs": 0.9, "mine": 0.8, "all": 0.9}, {"gs": 2, "mine": 4, "all": 10}, {"mine": "auto"},
                  verdicts={"mine": "Keep these 4."})  # fmt: skip
    assert (said.selector, said.n_features, said.answer) == ("mine", 4, "Keep these 4.")
    assert said.scores.startswith("On rows that the selection did not see (5 splits), svm has accuracy 0.800 (95 % ")
    words = f", 0.900 with all features and 0.600 without any; difference to all {MINUS}0.100 (95 % "
    assert words in said.scores


def test_without_auto_it_is_the_smallest_set_that_loses_nothing():
    said = answer({"big": 0.900, "small": 0.898, "tiny": 0.8, "all": 0.9}, {"big": 6, "small": 3, "tiny": 1, "all": 10})
    assert said.selector == "small"
    assert said.answer == (
        "Keep these 3 of 10 features: x0, x1, x2. Of 3 selectors small keeps the smallest set that loses nothing "
        "against the best score. Having been chosen by its score, it looks a little better than it is."
    )


def test_a_set_that_loses_more_than_a_hundredth_loses_something_however_wide_the_interval():
    scores = {"big": 0.9, "small": 0.885, "all": 0.7}
    assert answer(scores, {"big": 6, "small": 3, "all": 10}).selector == "big"


def test_if_all_features_are_clearly_better_the_answer_says_so():
    said = answer({"one": 0.7, "two": 0.75, "all": 0.9}, {"one": 1, "two": 2, "all": 10})
    assert said.selector == "two" and "two loses the least, but loses something" in said.answer


def test_a_search_that_could_not_make_its_tests_is_not_the_answer():
    sizes = {"empty": 0, "big": 6, "all": 10}
    said = answer({"empty": 0.9, "big": 0.9, "all": 0.9}, sizes, statuses={"empty": "unreliable"})
    assert said.selector == "big"
    alone = answer({"empty": 0.6, "all": 0.9}, {"empty": 0, "all": 10}, statuses={"empty": "unreliable"})
    assert alone.answer == "empty keeps none of 10 features. But it is unreliable: too few rows."


def test_without_scores_it_is_the_first_selector():
    whole = found({"big": 0.9, "small": 0.9, "all": 0.9}, {"big": 6, "small": 3, "all": 10})
    (row,) = result_tables.answers(dataclasses.replace(whole, scores=whole.scores[:0])).itertuples()
    assert row.selector == "big" and (row.scores, row.evidence, row.learned) == ("", "", NOT_KNOWN)


@pytest.mark.parametrize(
    ("scores", "learned", "words"),
    [
        ({"gs": 0.9, "all": 0.9}, YES, "Something was learned: accuracy is 0.300 better than without any feature"),
        ({"gs": 0.601, "all": 0.9}, ONLY_ALL, "With these features that is not shown: accuracy is 0.001 better"),
        ({"gs": 0.601, "all": 0.602}, NOT_SHOWN, "It is not shown that anything was learned: accuracy is 0.001 better"),
        ({"gs": 0.55, "all": 0.5}, NOT_SHOWN, "It is not shown that anything was learned: accuracy is 0.050 worse"),
    ],
)
def test_whether_anything_was_learned_is_told_by_the_interval_of_the_gain(scores, learned, words):
    said = answer(scores, {"gs": 2, "all": 10})
    assert said.learned == learned and words in said.evidence
    # NOISE has mean 0 and variance 0.00025; the mean of five has that times 1/5 + 1/4, and Student's t(4) is 2.776.
    half = 2.776 * np.sqrt(0.00025 * 0.45)
    gain = scores["gs"] - 0.6
    assert f"({'95 % interval'} {gain - half:+.3f} to {gain + half:+.3f})".replace("-", MINUS) in said.evidence


def test_one_split_tells_nothing():
    whole = found({"gs": 0.9, "all": 0.9}, {"gs": 2, "all": 10})
    one = whole.evaluations.query("split == 'cv-1'")
    scores = result_tables.scores(one, whole.selectors, 1)
    (row,) = result_tables.answers(dataclasses.replace(whole, evaluations=one, scores=scores, n_parts=1)).itertuples()
    assert row.learned == NOT_KNOWN and "(the test rows)" in row.scores


def test_what_was_found_in_the_table_is_said_in_one_line():
    whole = found({"gs": 0.9, "all": 0.9}, {"gs": 2, "all": 10})
    leak = {"kind": "leakage", "columns": ["x0"], "n_columns": 1, "message": "", "advice": ""}
    cards = {"d": whole.cards["d"] | {"findings": [leak]}}
    (row,) = result_tables.answers(dataclasses.replace(whole, cards=cards)).itertuples()
    assert row.warning == (
        "look at the table first: suspected leakage (x0): if known only with or after the target, set drop: [x0]. "
        "blanketflow inspect says why"
    )


# --- references -----------------------------------------------------------------------------------------------------


def test_no_feature_is_a_row_of_its_own_and_neither_it_nor_the_truth_competes():
    whole = found({"gs": 0.7, "truth": 0.95, "all": 0.65}, {"gs": 2, "truth": 3, "all": 10}, {"truth": "true-blanket"})
    rows = whole.scores.set_index("selector")
    assert rows.loc["none", "mean"] == pytest.approx(0.6) and rows.loc["none", "n_features"] == 0
    assert rows.loc["none", "difference"] == pytest.approx(-0.05) and rows.loc["gs", "gain"] == pytest.approx(0.1)
    assert rows.index[rows["best"]].tolist() == ["gs"]  # clearly better than all, and the truth does not count
    assert set(whole.competing["selector"]) == {"gs", "all"}
    assert set(result_tables.TABLES["ranks"].make(whole)["selector"]) == {"gs", "all"}


def test_a_selector_of_that_method_takes_its_place():
    whole = found({"gs": 0.7, "nobody": 0.6, "all": 0.65}, {"gs": 2, "nobody": 0, "all": 10}, {"nobody": "none"})
    assert set(whole.scores["selector"]) == {"gs", "nobody", "all"}
    assert whole.scores.set_index("selector").loc["gs", "gain"] == pytest.approx(0.1)


def test_gain_is_positive_where_a_loss_is_lower():
    whole = found({"gs": 0.3, "all": 0.2}, {"gs": 2, "all": 10}, metric="log-loss", prior=0.69)
    rows = whole.scores.set_index("selector")
    assert rows.loc["gs", "gain"] == pytest.approx(0.39) and rows.loc["gs", "difference"] == pytest.approx(0.1)


# --- the leading metric ---------------------------------------------------------------------------------------------


def scored(*metrics):
    rows = [
        {"metric": m, "model": f, "selector": "all", "mean": v} for m in metrics for f, v in (("a", 0.3), ("b", 0.4))
    ]
    return pd.DataFrame(rows, columns=["metric", "model", "selector", "mean"])


@pytest.mark.parametrize(
    ("classes", "leading"),
    [
        ({"a": 65, "b": 35}, ["accuracy"]),
        ({"a": 66, "b": 34}, ["roc-auc", "log-loss"]),
        ({"a": 66, "b": 34, "c": 0}, ["roc-auc", "log-loss"]),
        ({"a": 40, "b": 35, "c": 34}, ["accuracy"]),
        ({"a": 50, "b": 40, "c": 20}, ["roc-auc", "log-loss"]),
        ({"a": 65, "b": 35, "c": 0}, ["accuracy"]),  # a label that does not occur
    ],
)
def test_what_auto_judges_by_leads(classes, leading):
    card = {"target": {"classes": classes}}
    known = scored("error", "accuracy", "log-loss", "balanced-accuracy", "roc-auc")
    assert leading_metrics(known, card) == leading and metrics_in_order(card)[0] == leading[0]
    y = column_from_array("y", np.repeat([*classes], [*classes.values()]))
    assert leading[0] == SPOKEN[yardstick(y)][0].replace("_", "-")


def test_what_auto_was_asked_to_judge_by_leads():
    rare, number = ({"target": {"classes": {"a": 90, "b": 10}}}, {"target": {"min": 0.0}})
    asked = {"all": {"method": "all"}, "auto": {"method": "auto", "metric": "error"}}
    known = scored("accuracy", "log-loss", "roc-auc")
    assert leading_metrics(known, rare, asked) == ["accuracy"] == metrics_in_order(rare, asked)[:1]
    assert leading_metrics(scored("mse", "r2"), number, asked) == ["r2"]
    assert leading_metrics(known, rare, {"auto": {"method": "auto", "metric": "auto"}}) == ["roc-auc", "log-loss"]


def test_what_was_not_computed_does_not_lead():
    rare, number = ({"target": {"classes": {"a": 90, "b": 10}}}, {"target": {"min": 0.0}})
    assert leading_metrics(scored("accuracy", "log-loss"), rare) == ["log-loss"]
    assert leading_metrics(scored("accuracy", "error"), rare) == ["accuracy"]
    assert leading_metrics(scored("mse", "r2"), number) == ["r2"] and leading_metrics(scored(), number) == []


def test_the_leading_model_is_the_best_on_all_features_in_the_metrics_direction():
    assert leading_model(scored("accuracy"), "accuracy", {}) == "b"
    assert leading_model(scored("log-loss"), "log-loss", {}) == "a"
    assert leading_model(scored(), None, {}) is None


# --- the interval ---------------------------------------------------------------------------------------------------


def test_the_interval_covers_the_truth_where_splits_share_their_training_rows():
    """Means of 5-fold cross-validation of a model that predicts the training mean: its expected loss is known."""
    rng, n, n_parts, covered = np.random.default_rng(0), 50, 5, 0
    truth = 1 + 1 / (n * (1 - 1 / n_parts))  # variance of a new value, and of the mean of the training rows
    for _ in range(2_000):
        y = rng.normal(size=n)
        parts = np.arange(n) % n_parts
        losses = [np.mean((y[parts == k] - y[parts != k].mean()) ** 2) for k in range(n_parts)]
        interval = corrected_mean(np.array(losses), n_parts)
        covered += interval.low <= truth <= interval.high
    assert 0.93 < covered / 2_000 <= 1.0
