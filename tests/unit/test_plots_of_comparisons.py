"""The charts that compare selectors, and the blanket as a graph: what they hold, and that they draw with any names."""

import itertools
import json
import math
import re

import numpy as np
import pandas as pd
import pytest
import vl_convert

from blanketflow.core.errors import UnknownNameError
from blanketflow.reporting import plots
from blanketflow.reporting import tables as result_tables
from blanketflow.reporting.plots.blanket_charts import ring_places
from blanketflow.reporting.plots.comparison_charts import alike
from blanketflow.reporting.plots.placement import CHARACTER, LINE
from report_frames import HOSTILE, HOSTILE_FEATURE, drawn_as_svg, spec_on_page

NAMES = [HOSTILE, HOSTILE_FEATURE, "a.b[0]", "back\\slash", 'it\'s "quoted"', "datum['x']", "温度", "", "x" * 90]


def texts(chart):
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawn_as_svg(chart))


def data(chart, *columns):
    """Return the rows of the dataset of a chart that has these columns."""
    datasets = chart.to_dict()["datasets"].values()
    return next(rows for rows in datasets if rows and set(columns) <= set(rows[0]))


def blanket(roles, names=None):
    n = len(roles)
    return pd.DataFrame(
        {
            "feature": list(names or (f"feature {j}" for j in range(n))),
            "role": roles,
            "importance": [float(n - j) for j in range(n)],
            "frequency": [1 - j / 100 for j in range(n)],
        }
    ).astype({"feature": "str", "role": "str"})


def selectors(n):
    return [HOSTILE, *(f"selector-{i}" for i in range(1, n))]


def scores(n, n_datasets=1, seed=0):
    """Scores and costs of n selectors."""
    rng = np.random.default_rng(seed)
    rows = [
        {"dataset": f"d{i}", "selector": name, "model": "svm", "metric": "accuracy", "mean": rng.uniform(0.6, 0.99)}
        | {"sd": 0.01, "n_splits": 5, "n_features": float(rng.integers(1, 40)), "difference": float("nan")}
        for i in range(n_datasets)
        for name in selectors(n)
    ]
    runtime = [{"selector": s, "n_tests": j * 50, "selection_seconds": 0.01 + j} for j, s in enumerate(selectors(n))]
    return pd.DataFrame(rows), pd.DataFrame(runtime)


def agreement(n, seed=0):
    rng = np.random.default_rng(seed)
    sets = {name: set(rng.choice(30, rng.integers(0, 12), replace=False)) for name in selectors(n)}
    key = {"dataset": "d", "split": "full"}
    chosen = [key | {"selector": s, "feature": str(f), "chosen": True} for s, found in sets.items() for f in found]
    folds = pd.DataFrame([key | {"selector": s} for s in sets])
    return result_tables.agreement(pd.DataFrame(chosen), folds)


def stability(n):
    rows = [
        {"selector": s, "stability": j / n, "lower": j / n - 0.1, "upper": min(j / n + 0.1, 1.0)}
        | {"mean_size": 3.5, "sd_size": 0.5, "n_sets": 5}
        for j, s in enumerate(selectors(n))
    ]
    return pd.DataFrame(rows)


def every_chart(n):
    """Every chart that compares n selectors, some of them named by an enemy."""
    table, runtime = scores(n)
    several = scores(n, n_datasets=6)[0]
    ranks, test = result_tables.friedman_ranks(several), result_tables.friedman(several).iloc[0]
    return {
        "agreement": plots.agreement(agreement(n), selectors(n)),
        "cost": plots.cost_against_score(table, runtime, "accuracy", "svm"),
        "tests": plots.cost_against_score(table, runtime, "accuracy", "svm", cost="n_tests"),
        "size": plots.size_against_score(table, "accuracy", "svm"),
        "score": plots.score_by_selector(table, "accuracy", baseline="selector-1"),
        "ranks": plots.critical_difference(ranks, test["critical_difference"], int(test["n_datasets"])),
        "stability": plots.stability_by_selector(stability(n)),
        "wins": plots.wins(result_tables.wins(several), selectors(n)),
    }


# --- every chart ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, *(pytest.param(n, marks=pytest.mark.extended) for n in (1, 15, 40))])
def test_charts_draw_with_any_number_of_selectors_and_names_stay_text(n):
    first = every_chart(n)
    for name, chart in first.items():
        svg = drawn_as_svg(chart)
        assert "<script" not in svg and "NaN" not in svg and "Infinity" not in svg, name
        if n > 1 and not (n == 40 and name in ("cost", "tests", "size")):  # there a label may have no room
            assert "&lt;script&gt;alert(1)&lt;/script&gt;" in svg, name
    again = every_chart(n)
    for name, chart in first.items():
        assert spec_on_page(chart) == spec_on_page(again[name]), name
        assert json.dumps(spec_on_page(chart), allow_nan=False)


def test_charts_of_nothing_draw():
    table, runtime = scores(2)
    blank = pd.DataFrame({"selector": [], "mean_rank": []}, dtype="float64").astype({"selector": "str"})
    made = [
        plots.agreement(agreement(2)[:0], ["a"]),
        plots.blanket_graph(blanket([]), "y"),
        plots.cost_against_score(table[:0], runtime, "accuracy", "svm"),
        plots.score_by_selector(table[:0], "accuracy"),
        plots.size_against_score(table[:0], "accuracy", "svm"),
        plots.critical_difference(blank, math.nan, 0),
        plots.stability_by_selector(stability(2)[:0]),
        plots.wins(result_tables.wins(table[:0]), ["a"]),
    ]
    for chart in made:
        assert drawn_as_svg(chart).startswith("<svg")


def marks(spec):
    """Every view with a mark, with the encoding that it shares with its parents."""
    parents = [(spec, {})]
    while parents:
        node, encoding = parents.pop()
        encoding = encoding | node.get("encoding", {})
        if "mark" in node:
            yield node, encoding
        parents += [(child, encoding) for child in [*node.get("layer", []), *filter(None, [node.get("spec")])]]


def test_every_mark_has_a_tooltip():
    charts = every_chart(5) | {"graph": plots.blanket_graph(blanket(["spouse", "parent_or_child"]), "y")}
    members = pd.DataFrame({"fold": ["1of2"], "feature": ["a"]})
    folds = pd.DataFrame({"fold": ["1of2", "2of2"], "chosen": [True, False]})
    charts["folds"] = plots.selection_frequency(members, folds, ["a"])
    for name, chart in charts.items():
        found = list(marks(spec_on_page(chart)))
        assert found
        for view, encoding in found:
            # A tooltip that is not a list has no titles, and Vega draws a value titled "image" as one.
            assert isinstance(encoding.get("tooltip"), list), (name, view["mark"])
            assert all(field["title"] not in ("image", "title") for field in encoding["tooltip"])


def test_a_chart_holds_no_column_that_it_does_not_use():
    charts = every_chart(5) | {"graph": plots.blanket_graph(blanket(["spouse", "parent_or_child"]), "y")}
    for name, chart in charts.items():
        small = spec_on_page(chart)
        text = json.dumps({key: value for key, value in small.items() if key != "datasets"})
        for rows in small["datasets"].values():
            for column in rows[0] if rows else ():
                assert f'"{column}"' in text or f"datum.{column}" in text, (name, column)


def test_a_page_of_ten_data_sets_and_twenty_selectors_stays_small():
    one = sum(len(json.dumps(spec_on_page(chart))) for chart in every_chart(20).values())
    graph = len(json.dumps(spec_on_page(plots.blanket_graph(blanket(["parent_or_child"] * 12 + ["spouse"] * 12), "y"))))
    assert 10 * one + 10 * 20 * graph < 3_000_000


# --- the blanket as a graph -----------------------------------------------------------------------------------------


def test_the_graph_holds_each_feature_with_its_role_and_words():
    rows = data(plots.blanket_graph(blanket(["spouse", "parent_or_child", "member"]), "y"), "folds")
    assert [(row["feature"], row["role"].split(",")[0].split(":")[0]) for row in rows] == [
        ("feature 1", "parent or child"),
        ("feature 2", "member"),
        ("feature 0", "spouse"),
    ]
    assert [row["folds"] for row in rows] == ["99% of folds", "98% of folds", "100% of folds"]
    assert [row["importance"] for row in rows] == ["2", "1", "3"]
    assert max(rows, key=lambda row: row["size"])["feature"] == "feature 0"


def test_a_role_has_its_own_colour_and_shape():
    chart = plots.blanket_graph(blanket(["spouse", "parent_or_child", "member"]), "y")
    encoding = next(e for view, e in marks(spec_on_page(chart)) if view["mark"]["type"] == "point")
    for channel in ("color", "shape"):
        assert encoding[channel]["field"] == "role"
        assert len(set(encoding[channel]["scale"]["range"])) == len(encoding[channel]["scale"]["domain"]) == 3


def test_a_cut_graph_says_so_and_keeps_the_first():
    chart = plots.blanket_graph(blanket(["parent_or_child"] * 30), "y", limit=10)
    assert {row["feature"] for row in data(chart, "folds")} == {f"feature {j}" for j in range(10)}
    assert any("the first 10 of 30 features" in text for text in texts(chart))


def test_importance_that_is_missing_or_infinite_has_a_size():
    odd = blanket(["member"] * 3).assign(importance=[math.inf, None, 2.0], frequency=[None, 0.5, 1.0])
    rows = data(plots.blanket_graph(odd, "y"), "folds")
    assert all(row["size"] > 0 for row in rows)
    assert [row["importance"] for row in rows] == ["∞", "\N{EN DASH}", "2"]
    assert rows[0]["folds"] == "not known"


def test_names_in_the_graph_stay_text_and_are_drawn():
    chart = plots.blanket_graph(blanket(["parent_or_child"] * len(NAMES), NAMES), HOSTILE)
    drawn = texts(chart)
    assert sum("&lt;script&gt;" in text for text in drawn) == 2  # a feature and the target
    assert "a.b[0]" in drawn and "back\\slash" in drawn and "温度" in drawn
    assert [row["feature"] for row in data(chart, "folds")] == NAMES


@pytest.mark.parametrize("n_inner", [0, 1, 2, 3, 5, 12, 24])
@pytest.mark.parametrize("n_outer", [0, 1, 2, 3, 9, 24])
def test_no_name_covers_another_and_no_line_crosses_one(n_inner, n_outer):
    places = ring_places(n_inner, n_outer)
    assert len(places) == len(set(places)) == n_inner + n_outer
    for (x, y), (other_x, other_y) in itertools.permutations(places, 2):
        same_side = (x > 0) == (other_x > 0)
        if not same_side:
            continue
        assert abs(y - other_y) >= LINE  # a line of text each
        if y and y * other_y > 0 and abs(other_y) > abs(y):
            at = other_x * y / other_y  # where the other's line is at the height of this name
            assert abs(at) < abs(x)
    inner, outer = ([math.hypot(x, y) for x, y in part] for part in (places[:n_inner], places[n_inner:]))
    if inner and outer:
        assert np.mean(outer) > np.mean(inner)
    assert all(abs(x) + 4 * CHARACTER < 350 for x, _ in places)


# --- comparisons ----------------------------------------------------------------------------------------------------


def cells(chart):
    return {
        (row["selector"], other): (value, text)
        for row in data(chart, "other")
        for other, value, text in zip(row["other"], row["value"], row["text"], strict=True)
    }


def order(chart):
    return next(encoding for _, encoding in marks(spec_on_page(chart)))["y"]["scale"]["domain"]


def test_agreement_holds_each_pair_and_puts_similar_selectors_together():
    sets = {"a": "xyz", "far": "q", "b": "xyw", "far2": "qr", "empty": ""}
    key = {"dataset": "d", "split": "full"}
    chosen = [key | {"selector": s, "feature": f, "chosen": True} for s, features in sets.items() for f in features]
    table = result_tables.agreement(pd.DataFrame(chosen), pd.DataFrame([key | {"selector": s} for s in sets]))
    chart = plots.agreement(table, [*sets, "never-ran"])
    assert cells(chart)["a", "b"] == (0.5, "0.50") and len(cells(chart)) == 20
    found = order(chart)
    assert sorted(found) == sorted(sets)
    assert abs(found.index("a") - found.index("b")) == abs(found.index("far") - found.index("far2")) == 1
    assert order(plots.agreement(table, ["far", "a"])) == ["far", "a"]
    assert any("0.50" in text for text in texts(chart))


@pytest.mark.parametrize(("n", "has_text"), [(15, True), (16, False)])
def test_cells_have_their_value_as_text_where_there_is_room(n, has_text):
    kinds = [view["mark"]["type"] for view, _ in marks(spec_on_page(plots.agreement(agreement(n), selectors(n))))]
    assert ("text" in kinds) is has_text


def test_wins_are_signed():
    table = pd.DataFrame(
        [("a", "b", 5, 1, 2), ("b", "a", 2, 1, 5)], columns=["selector", "other", "wins", "ties", "losses"]
    )
    assert cells(plots.wins(table, ["b", "a"])) == {("a", "b"): (3.0, "5-1-2"), ("b", "a"): (-3.0, "2-1-5")}
    assert order(plots.wins(table, ["b", "a"])) == ["b", "a"]


def test_cost_has_both_costs_in_words_and_an_axis_that_can_reach_zero():
    table, runtime = scores(3)
    by_tests = plots.cost_against_score(table, runtime, "accuracy", "svm", cost="n_tests")
    rows = {row["selector"]: row for row in data(by_tests, "tests")}
    assert {name: (row["x"], row["tests"], row["time"]) for name, row in rows.items()} == {
        HOSTILE: (0, "0", "0.01 s"),
        "selector-1": (50, "50", "1.01 s"),
        "selector-2": (100, "100", "2.01 s"),
    }

    def kind(chart):
        return next(encoding for _, encoding in marks(spec_on_page(chart)))["x"]["scale"]["type"]

    assert kind(by_tests) == "symlog"
    assert kind(plots.cost_against_score(table, runtime, "accuracy", "svm")) == "log"
    with pytest.raises(UnknownNameError, match="Did you mean 'n_tests'"):
        plots.cost_against_score(table, runtime, "accuracy", "svm", cost="n_test")


def test_stability_is_drawn_with_its_interval_and_one_set_is_named():
    table = stability(4)
    table.loc[0, ["stability", "lower", "upper"]] = math.nan
    chart = plots.stability_by_selector(table)
    rows = {row["selector"]: row for row in data(chart, "upper")}
    assert list(rows) == selectors(4)[1:]
    assert (rows["selector-2"]["lower"], rows["selector-2"]["index"], rows["selector-2"]["upper"]) == (0.4, 0.5, 0.6)
    assert rows["selector-2"]["size"] == "3.500 ± 0.500"
    assert any("fewer than two sets to compare" in text and "&lt;script" in text for text in texts(chart))


@pytest.mark.parametrize(
    ("ranks", "difference", "groups"),
    [
        ([1.964, 2.0, 2.893, 3.143], 1.25, [(0, 3)]),  # Demsar's example: at alpha 0.05 nobody differs
        ([1.964, 2.0, 2.893, 3.143], 1.12, [(0, 2), (2, 3)]),  # and at alpha 0.10 C4.5 differs from the two best
        ([1.0, 2.0, 3.0], 1.0, []),  # at least the critical difference apart: they differ
        ([2.0, 2.0, 2.0], 0.1, [(0, 2)]),
        ([1.0, 2.0], math.nan, []),
        ([], 1.0, []),
    ],
)
def test_bars_join_the_largest_groups_that_do_not_differ(ranks, difference, groups):
    assert alike(ranks, difference) == groups


def test_the_diagram_holds_ranks_groups_and_the_critical_difference():
    ranks = pd.DataFrame({"selector": ["C4.5", "m", "cf", "m+cf"], "mean_rank": [3.143, 2.0, 2.893, 1.964]})
    chart = plots.critical_difference(ranks, 1.12, 14)
    rows = {row["selector"]: row for row in data(chart, "alike")}
    assert {name: (row["rank"], row["is_left"]) for name, row in rows.items()} == {
        "m+cf": (1.964, True), "m": (2.0, True), "cf": (2.893, False), "C4.5": (3.143, False),
    }  # fmt: skip
    assert rows["C4.5"]["alike"] == "cf" and rows["cf"]["alike"] == "m+cf, m, C4.5"
    assert [(row["low"], row["high"]) for row in data(chart, "names")] == [(1.964, 2.893), (2.893, 3.143)]
    assert "critical difference 1.12" in texts(chart)
    assert any("14 data sets" in text for text in texts(chart))


def test_without_a_test_there_are_no_bars():
    ranks = pd.DataFrame({"selector": ["a", "b"], "mean_rank": [1.0, 2.0]})
    words = texts(plots.critical_difference(ranks, math.nan, 1))
    assert {"a", "b"} <= set(words) and any("not tested" in text for text in words)
    assert not any("critical difference" in text for text in words)


def test_lines_of_the_diagram_do_not_cross():
    table = scores(9, n_datasets=8)[0]
    rows = data(plots.critical_difference(result_tables.friedman_ranks(table), 1.0, 8), "alike")
    for is_left in (True, False):
        side = sorted((row["rank"], row["y"]) for row in rows if row["is_left"] is is_left)
        depths = [y for _, y in side]
        assert depths == sorted(depths, reverse=not is_left) and len(set(depths)) == len(depths)


@pytest.mark.extended
def test_the_specification_draws_what_the_chart_draws():
    for name, chart in every_chart(6).items():
        checked = chart.to_dict(validate=True)  # full_spec does not check
        whole = spec_on_page(chart) | {"config": plots.CONFIG, "$schema": checked["$schema"]}
        assert vl_convert.vegalite_to_svg(whole, allowed_base_urls=[]) == drawn_as_svg(chart), name
