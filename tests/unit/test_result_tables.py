"""The result tables against arithmetic done by hand."""

import itertools

import numpy as np
import pandas as pd
import pytest

from blanketflow.core.errors import UnknownNameError
from blanketflow.reporting import tables as result_tables


def evaluations(values, metric="accuracy", model="svm", dataset="d"):
    """Rows from {selector: [value of cv-1, cv-2, ...]}."""
    return pd.DataFrame(
        [
            {"dataset": dataset, "selector": selector, "split": f"cv-{i}", "model": model, "metric": metric}
            | {"value": value, "n_features": 2 + i, "seconds": 1.5, "status": "ok", "reason": ""}
            for selector, row in values.items()
            for i, value in enumerate(row, start=1)
        ]
    )


def sets(chosen, selector="s", dataset="d", extra=()):
    """Blankets and folds from {split: features}; `extra` features were in a fold's set, but not chosen."""
    blankets = pd.DataFrame(
        [
            {"dataset": dataset, "selector": selector, "split": split, "feature": f, "chosen": f not in extra}
            | {"frequency": 0.5, "importance": 1.0, "role": "member", "stand_ins": []}
            for split, features in chosen.items()
            for f in [*features, *extra]
        ],
        columns=["dataset", "selector", "split", "feature", "chosen", "frequency", "importance", "role", "stand_ins"],
    )
    folds = pd.DataFrame(
        [
            {"dataset": dataset, "selector": selector, "split": split, "fold": fold, "size": 1, "z": 0.0}
            | {"chosen": True, "n_tests": 10, "seconds": 0.25}
            for split in chosen
            for fold in ("1of2", "2of2")
        ]
    )
    return blankets, folds


def only(frame):
    assert len(frame) == 1
    return frame.iloc[0]


# --- scores ---------------------------------------------------------------------------------------------------------


def test_scores_are_mean_sd_and_paired_difference():
    table = result_tables.scores(evaluations({"a": [0.8, 0.9], "all": [0.7, 0.9]}), n_parts=2).set_index("selector")
    assert table.loc["a", "mean"] == pytest.approx(0.85)
    assert table.loc["a", "sd"] == pytest.approx(np.sqrt(0.005))  # deviations +-0.05, one degree of freedom
    assert table.loc["a", "difference"] == pytest.approx(0.05)
    assert table.loc["all", "difference"] == 0
    assert table.loc["a", "n_splits"] == 2
    assert table.loc["a", "n_features"] == 3.5
    # The differences 0.1 and 0 have variance 0.005, and their mean that times 1/2 + 1/(2 - 1): Nadeau and Bengio.
    half = 12.7062 * np.sqrt(0.005 * 1.5)  # Student's 97.5 % point of one degree of freedom
    assert table.loc["a", ["difference_low", "difference_high"]].tolist() == pytest.approx(
        [0.05 - half, 0.05 + half], rel=1e-5
    )
    assert table.loc["a", ["low", "high"]].tolist() == pytest.approx([0.85 - half, 1.0], rel=1e-5)  # accuracy ends at 1
    assert not table["best"].any()  # which of them is better cannot be told from this


def test_difference_uses_only_the_splits_that_both_have():
    table = result_tables.scores(evaluations({"a": [0.8, None], "all": [0.5, 0.9]})).set_index("selector")
    assert table.loc["a", "difference"] == pytest.approx(0.3)
    assert table.loc["a", "n_splits"] == 1
    assert np.isnan(table.loc["a", "sd"])


def test_without_the_baseline_there_is_no_difference():
    assert np.isnan(only(result_tables.scores(evaluations({"a": [0.8]})))["difference"])


@pytest.mark.parametrize(
    ("metric", "best"), [("accuracy", "high"), ("log-loss", "low"), ("mae", "low"), ("r2", "high")]
)
def test_best_follows_the_direction_of_the_metric(metric, best):
    table = result_tables.scores(evaluations({"low": [0.1, 0.2], "high": [0.3, 0.4]}, metric))
    assert list(table.loc[table["best"], "selector"]) == [best]


def test_ties_are_all_best_and_a_selector_with_fewer_splits_is_not():
    means = {"a": [0.7, 0.8], "b": [0.7, 0.8], "worse": [0.1, 0.2], "lucky": [0.9, None]}
    table = result_tables.scores(evaluations(means))
    assert list(table.loc[table["best"], "selector"]) == ["a", "b"]


@pytest.mark.parametrize("names", ["a", "abcde"])
def test_where_nothing_differs_none_is_best(names):
    table = result_tables.scores(evaluations({name: [0.5, 0.5] for name in names}))
    assert not table["best"].any()


def test_an_undefined_metric_keeps_its_row_and_wins_nothing():
    row = only(result_tables.scores(evaluations({"a": [None, None]}, "roc-auc")))
    assert row["n_splits"] == 0 and np.isnan(row["mean"]) and not row["best"]


def test_an_unknown_metric_is_refused():
    with pytest.raises(UnknownNameError, match="Did you mean 'accuracy'"):
        result_tables.scores(evaluations({"a": [1.0]}, "acuracy"))


def test_ranks_average_ties_and_datasets():
    scores = pd.concat(
        [
            result_tables.scores(evaluations({"a": [0.9], "b": [0.9], "c": [0.1]}, dataset="one")),
            result_tables.scores(evaluations({"a": [0.9], "b": [0.8]}, dataset="two")),
        ]
    )
    table = result_tables.ranks(scores).set_index("selector")
    assert table["mean_rank"].to_dict() == {"a": 1.25, "b": 1.75, "c": 3.0}
    assert table["n_datasets"].to_dict() == {"a": 2, "b": 2, "c": 1}


def test_the_lowest_loss_ranks_first():
    table = result_tables.ranks(result_tables.scores(evaluations({"a": [0.9], "b": [0.2]}, "log-loss")))
    assert list(table["selector"]) == ["b", "a"]


# --- stability ------------------------------------------------------------------------------------------------------


def test_nogueira_by_hand():
    # d = 4, sets {1}, {1, 2}: p = (1, .5, 0, 0); mean unbiased variance 2 * .25 / 4 = .125; kbar / d = .375
    index = result_tables.nogueira(np.array([[1, 0, 0, 0], [1, 1, 0, 0]], dtype=bool))
    assert index.value == pytest.approx(1 - 0.125 / (0.375 * 0.625))


def test_equal_sets_are_perfectly_stable():
    assert result_tables.nogueira(np.array([[1, 0, 0]] * 4, dtype=bool)) == (1.0, 1.0, 1.0)


def test_disjoint_sets_reach_the_lower_bound():
    index = result_tables.nogueira(np.array([[1, 0], [0, 1]], dtype=bool))
    assert index.value == pytest.approx(-1) and index.lower == -1


def test_random_sets_have_index_zero_on_average():
    rng = np.random.default_rng(1)
    values = [result_tables.nogueira(rng.random((5, 40)) < 0.3).value for _ in range(400)]
    assert abs(np.mean(values)) < 4 * np.std(values) / np.sqrt(400)


def test_the_variance_is_the_infinitesimal_jackknife():
    """The published variance equals what weighting each set a little more says about the index."""
    z = (np.random.default_rng(3).random((8, 12)) < np.linspace(0.1, 0.9, 12)).astype(float)
    m = len(z)

    def index(weight):
        p = weight @ z
        density = p.mean()
        return 1 - m / (m - 1) * np.mean(p * (1 - p)) / (density * (1 - density))

    uniform, step = np.full(m, 1 / m), 1e-6
    slopes = np.array([(index(uniform + step * (np.eye(m)[i] - uniform)) - index(uniform)) / step for i in range(m)])
    # The paper's form treats m / (m - 1) as 1 inside the slope of the variance term: equal up to that factor.
    found = result_tables.nogueira(z.astype(bool))
    half = (found.upper - found.lower) / 2 / 1.959963984540054
    assert half == pytest.approx(np.sqrt(np.sum(slopes**2) / m**2), rel=0.2)


def test_the_interval_covers_the_population_value():
    """About 95 % of intervals hold the index that many sets converge to."""
    rng = np.random.default_rng(5)
    p = np.repeat([0.9, 0.1], [5, 15])
    truth = 1 - np.mean(p * (1 - p)) / (p.mean() * (1 - p.mean()))
    intervals = [result_tables.nogueira(rng.random((100, 20)) < p) for _ in range(300)]
    assert np.mean([i.lower <= truth <= i.upper for i in intervals]) > 0.9


def test_stability_between_groups_is_that_of_the_paper():
    """1 - tr(C S) / tr(C S0), with all d x d matrices written out."""
    rng = np.random.default_rng(7)
    for _ in range(30):
        m, d = rng.integers(2, 7), rng.integers(2, 9)
        z, groups = rng.random((m, d)) < rng.random(d), rng.integers(0, d, size=d)
        sizes = z.sum(axis=1)
        alike, covariance = groups[:, None] == groups, np.atleast_2d(np.cov(z.astype(float).T))
        by_chance = np.full((d, d), (sizes * (sizes - 1)).mean() / (d * (d - 1)) - (sizes.mean() / d) ** 2)
        np.fill_diagonal(by_chance, sizes.mean() / d * (1 - sizes.mean() / d))
        chance = np.trace(alike @ by_chance)
        expected = 1 - np.trace(alike @ covariance) / chance if chance > 1e-9 else 1.0
        assert result_tables.between_groups(z, groups) == pytest.approx(expected)
        assert result_tables.between_groups(z, np.arange(d)) == pytest.approx(result_tables.nogueira(z).value)


def test_sets_that_name_different_members_of_a_group_are_alike_between_groups():
    z = np.array([[1, 0, 1, 0, 0], [0, 1, 1, 0, 0]], dtype=bool)
    assert result_tables.between_groups(z, np.array([0, 0, 1, 2, 3])) == 1 > result_tables.nogueira(z).value
    one_more = np.array([[1, 0, 1, 0, 0], [1, 1, 1, 0, 0]], dtype=bool)
    assert result_tables.between_groups(one_more, np.array([0, 0, 1, 2, 3])) < 1


def test_features_are_alike_if_half_of_the_sets_with_one_of_them_say_so():
    def stand_in(feature, low=0.9):
        return {"feature": feature, "share": 0.97, "low": low, "high": 1.0}

    def by_groups(splits, said):
        blankets, folds = sets(splits)
        of = [said.get((row.split, row.feature), []) for row in blankets.itertuples()]
        row = only(result_tables.stability(blankets.assign(stand_ins=of), folds, {"d": {"n_features": 6}}))
        return row["stability"], row["between_groups"]

    two = {"cv-1": "ac", "cv-2": "bc"}
    assert by_groups(two, {("cv-1", "a"): [stand_in("b")]}) == pytest.approx((0.25, 1.0))
    unsure = by_groups(two, {("cv-1", "a"): [stand_in("b", low=0.7)]})
    assert unsure[0] == pytest.approx(unsure[1])
    three = two | {"cv-3": "bc"}
    seldom = by_groups(three, {("cv-1", "a"): [stand_in("b")]})
    assert seldom[0] == pytest.approx(seldom[1])
    # of a group all can stand in for each other: a and c cannot
    chain = {("cv-1", "a"): [stand_in("b")], ("cv-2", "b"): [stand_in("a"), stand_in("c")], ("cv-3", "c"): []}
    chained = by_groups({"cv-1": "a", "cv-2": "b", "cv-3": "c"}, chain)
    assert chained[0] < chained[1] < 1


def test_stability_of_sets_jaccard_and_size():
    blankets, folds = sets({"full": "xyz", "cv-1": "ab", "cv-2": "bc", "cv-3": ""}, extra="q")
    row = only(result_tables.stability(blankets, folds, {"d": {"n_features": 10}}))
    assert row["n_sets"] == 3  # not the final one, and the empty one counts
    assert row["jaccard"] == pytest.approx((1 / 3 + 0 + 0) / 3)
    assert row["mean_size"] == pytest.approx(4 / 3)
    assert row["sd_size"] == pytest.approx(np.std([2, 2, 0], ddof=1))
    assert row["note"] == ""


@pytest.mark.parametrize(("features", "note"), [("", "all sets empty"), ("abc", "all features in every set")])
def test_empty_and_complete_sets_are_equal_sets(features, note):
    blankets, folds = sets({"cv-1": features, "cv-2": features})
    row = only(result_tables.stability(blankets, folds, {"d": {"n_features": 3}}))
    assert (row["stability"], row["lower"], row["upper"], row["jaccard"], row["sd_size"]) == (1, 1, 1, 1, 0)
    assert row["between_groups"] == 1 and row["note"] == note


def test_one_set_has_nothing_to_be_compared_with():
    blankets, folds = sets({"cv-1": "ab"})
    row = only(result_tables.stability(blankets, folds, {"d": {"n_features": 3}}))
    assert row[["stability", "lower", "upper", "between_groups", "jaccard", "sd_size"]].isna().all()
    assert row["mean_size"] == 2 and row["note"].startswith("one set")


# --- truth ----------------------------------------------------------------------------------------------------------


def known(blanket, spouses=""):
    """A card whose blanket holds these one-letter features; those that are no spouses are children."""
    children = sorted(set(blanket) - set(spouses))
    return {"truth": {"parents": [], "children": children, "spouses": list(spouses), "blanket": list(blanket)}}


@pytest.mark.parametrize(
    ("chosen", "true", "expected"),
    [
        ("ab", "bcd", (1 / 2, 1 / 3, 2 / 5)),
        ("", "", (1, 1, 1)),
        ("", "a", (0, 0, 0)),
        ("a", "", (0, 0, 0)),
        ("ab", "ab", (1, 1, 1)),
    ],
)
def test_truth_by_hand(chosen, true, expected):
    blankets, folds = sets({"full": chosen})
    row = only(result_tables.truth(blankets, folds, {"d": known(true)}))
    assert tuple(row[["precision", "recall", "f1"]]) == pytest.approx(expected)
    assert tuple(row[["pc_precision", "pc_recall", "pc_f1"]]) == pytest.approx(expected)  # there are no spouses
    assert (row["n_chosen"], row["n_true"]) == (len(chosen), len(true))


def test_parents_children_spouses_and_false_positives_are_counted_apart():
    blankets, folds = sets({"cv-1": "abxyz"})
    row = only(result_tables.truth(blankets, folds, {"d": known("abcdxw", spouses="xw")}))
    assert tuple(row[["n_chosen", "n_pc", "n_spouses", "n_false"]]) == (5, 2, 1, 2)
    assert tuple(row[["n_true", "n_true_pc", "n_common"]]) == (6, 4, 3)
    assert tuple(row[["precision", "recall", "f1"]]) == pytest.approx((3 / 5, 3 / 6, 6 / 11))
    assert tuple(row[["pc_precision", "pc_recall", "pc_f1"]]) == pytest.approx((2 / 5, 2 / 4, 4 / 9))


def test_data_without_known_truth_have_no_rows():
    blankets, folds = sets({"full": "ab"})
    assert result_tables.truth(blankets, folds, {"d": {"truth": None}}).empty


# --- blankets and runtime -------------------------------------------------------------------------------------------


def test_the_final_blanket_is_sorted_by_importance():
    blankets, folds = sets({"full": "abc", "cv-1": "xyz"}, extra="q")
    blankets.loc[blankets["feature"].isin(["a", "b", "c"]), "importance"] = [1.0, np.nan, 3.0]
    table = result_tables.blankets_table(blankets, folds)
    assert list(table["feature"]) == ["c", "a", "b"]
    assert set(table["n_folds"]) == {2}


def test_without_the_full_split_there_is_no_final_blanket():
    assert result_tables.blankets_table(*sets({"cv-1": "ab"})).empty


def test_runtime_counts_a_model_once_for_all_its_metrics():
    _, folds = sets({"full": "a", "cv-1": "a"}, selector="a")
    both = pd.concat([evaluations({"a": [0.5, 0.6]}), evaluations({"a": [0.4, 0.3]}, "log-loss")])
    row = only(result_tables.runtime(folds, both))
    assert (row["n_tests"], row["selection_seconds"], row["evaluation_seconds"]) == (40, 1.0, 3.0)


def test_every_table_has_its_columns_with_and_without_rows():
    blankets, folds = sets({"full": "ab", "cv-1": "a", "cv-2": "b"}, selector="a")
    measured = evaluations({"a": [0.5, 0.6]})
    cards = {"d": {"n_features": 5} | known("a")}
    pair = [blankets, folds, measured]
    blankets, folds, measured = (pd.concat([x, x.assign(selector="b")], ignore_index=True) for x in pair)
    for rows in (slice(None), slice(0)):
        b, f, e = blankets[rows], folds[rows], measured[rows]
        scores = result_tables.scores(e)
        made = {
            "scores": scores,
            "blankets": result_tables.blankets_table(b, f),
            "stability": result_tables.stability(b, f, cards),
            "agreement": result_tables.agreement(b, f),
            "ranks": result_tables.ranks(scores),
            "wins": result_tables.wins(scores),
            "friedman": result_tables.friedman(scores),
            "friedman_ranks": result_tables.friedman_ranks(scores),
            "runtime": result_tables.runtime(f, e),
            "truth": result_tables.truth(b, f, cards),
        }
        for (name, frame), kind in itertools.product(made.items(), ("double", "int64", "bool")):
            assert list(frame.columns) == list(result_tables.TABLES[name].rows.columns)
            assert frame.empty is (rows == slice(0))
            dtype = {"double": "float64"}.get(kind, kind)
            assert all(frame[c].dtype == dtype for c, t in result_tables.TABLES[name].rows.types().items() if t == kind)


# --- optimism -------------------------------------------------------------------------------------------------------


def test_optimism_is_the_difference_on_the_splits_that_both_have():
    honest = evaluations({"a": [0.7, 0.8, None], "b": [0.5, 0.5, 0.5]}).assign(selected_on="training rows")
    flattered = evaluations({"a": [0.9, 0.9, 0.2]}).assign(selected_on="all rows")
    row = only(result_tables.optimism(pd.concat([honest, flattered])))
    assert (row["selector"], row["n_splits"]) == ("a", 2)
    assert (row["honest"], row["optimistic"], row["difference"]) == pytest.approx((0.75, 0.9, 0.15))
    assert result_tables.optimism(honest).empty
