"""Each chart shows the right data by the right channels, and draws to the same SVG each time."""

import re

import altair as alt
import pandas as pd
import pytest
import vl_convert

from blanketflow.reporting import plots
from blanketflow.reporting import tables as result_tables
from blanketflow.reporting.plots import placement, theme
from report_frames import HOSTILE, HOSTILE_FEATURE, drawn_as_svg, run, spec_on_page


@pytest.fixture(scope="module")
def made():
    return run(datasets=("one",))


@pytest.fixture(scope="module")
def scores(made):
    return result_tables.scores(made["evaluations"])


def heatmap(made, limit=30):
    folds, members = (
        frame[(frame["selector"] == "ppfs") & (frame["split"] == "full")] for frame in (made["folds"], made["members"])
    )
    final = made["blankets"].query("selector == 'ppfs' and split == 'full' and chosen")
    return plots.selection_frequency(members, folds, list(final["feature"]), limit), members, final


def rows_of(chart, *columns):
    """Return every dataset of a chart that has these columns."""
    datasets = chart.to_dict()["datasets"].values()
    return next(rows for rows in datasets if rows and set(columns) <= set(rows[0]))


def texts(svg):
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def test_scores_are_drawn_with_their_intervals_and_both_references(scores):
    chart = plots.score_by_selector(scores, "accuracy")
    drawn = {(row["selector"], row["model"]): row for row in rows_of(chart, "low")}
    known = scores[scores["metric"] == "accuracy"].set_index(["selector", "model"])
    assert len(drawn) == len(known) - 3 == 9  # no feature is a line, not a row
    for key, row in known.drop("none", level="selector").iterrows():
        assert drawn[key]["mean"] == pytest.approx(row["mean"], rel=1e-5)
        assert drawn[key]["low"] == pytest.approx(row["low"], rel=1e-5)
        assert drawn[key]["high"] == pytest.approx(row["high"], rel=1e-5)
        assert drawn[key]["baseline"] == pytest.approx(known.loc[("all", key[1]), "mean"], rel=1e-5)
        assert drawn[key]["nothing"] == pytest.approx(0.627)


def test_scores_have_a_panel_for_each_model_and_a_row_for_each_selector(scores):
    spec = plots.score_by_selector(scores, "accuracy").to_dict()
    assert spec["facet"]["field"] == "model"
    drawn = texts(drawn_as_svg(plots.score_by_selector(scores, "accuracy")))
    assert [text for text in drawn if text in ("tree", "svm", "knn")] == ["tree", "svm", "knn"]
    assert spec["spec"]["layer"][2]["encoding"]["y"]["scale"]["domain"] == ["ppfs", "hiton-mb", "all"]
    assert {"ppfs", "hiton-mb", "all"} <= set(drawn)


def test_one_split_has_a_point_without_a_spread(scores):
    single = scores.assign(sd=float("nan"), low=float("nan"), high=float("nan"))
    rows = rows_of(plots.score_by_selector(single, "accuracy"), "low")
    assert rows and all(row["low"] is row["high"] is None for row in rows)


def test_an_axis_shows_no_feature_and_an_interval_does_not_hide_the_rest(scores):
    svm = scores.query("metric == 'accuracy' and model == 'svm'")
    wild = svm.assign(low=svm["low"].where(svm["selector"] != "ppfs", -40.0))
    chart = plots.size_against_score(wild, "accuracy", "svm").to_dict()
    low, high = next(
        node["encoding"]["y"]["scale"]["domain"] for node in chart["layer"] if node["mark"].get("type") == "point"
    )
    assert -0.5 < low < 0.627 and high > svm["mean"].max()  # the references are on it, and -40 is not
    assert "no feature" in texts(drawn_as_svg(plots.size_against_score(wild, "accuracy", "svm")))


def test_the_heatmap_holds_each_selected_feature_of_each_fold(made):
    chart, members, final = heatmap(made)
    drawn = rows_of(chart, "kind")
    assert {(fold + "of5", row["feature"]) for row in drawn for fold in row["folds"]} == set(
        zip(members["fold"], members["feature"], strict=True)
    )
    assert all(row["share"] == f"{len(row['folds'])} of 5" for row in drawn)
    inside = {row["feature"] for row in drawn if row["kind"] == "chosen, and in the final blanket"}
    assert inside == set(final["feature"])
    spec = chart.to_dict()["layer"][0]["encoding"]
    assert spec["x"]["scale"]["domain"] == ["1", "2", "3", "4", "5"]
    assert spec["y"]["scale"]["domain"][:2] == [HOSTILE_FEATURE, HOSTILE]  # in all five folds


def test_the_heatmap_says_how_many_features_it_leaves_out(made):
    chart, members, _ = heatmap(made, limit=4)
    assert len({row["feature"] for row in rows_of(chart, "kind")}) == 4
    note = f"4 of {members['feature'].nunique()} features that any fold selected"
    assert chart.to_dict()["title"]["text"] == note and note in texts(drawn_as_svg(chart))


def test_folds_are_ordered_by_number(made):
    _, members, _ = heatmap(made)
    folds = members[["fold"]].drop_duplicates().assign(fold=[f"{k}of12" for k in (10, 2, 1, 12, 3)])
    domain = plots.selection_frequency(members[:0], folds, []).to_dict()["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert domain == ["1", "2", "3", "10", "12"]


def test_size_against_score_shares_a_label_at_one_point(scores):
    same = scores.copy()
    same.loc[same["selector"].isin(["ppfs", "hiton-mb"]), ["mean", "n_features"]] = (0.9, 4)
    rows = rows_of(plots.size_against_score(same, "accuracy", "svm"), "label_y")
    assert {row["selector"]: row["is_baseline"] for row in rows} == {"ppfs, hiton-mb": False, "all": True}
    known = scores.query("metric == 'accuracy' and model == 'svm'").set_index("selector")["sd"]
    both = next(row["score"] for row in rows if not row["is_baseline"])
    assert both == "; ".join(f"0.900 ± {known[name]:.3f} over 5 splits" for name in ("ppfs", "hiton-mb"))


def test_labels_of_near_points_do_not_overlap(scores):
    one = scores.query("metric == 'accuracy' and model == 'svm'")
    crowd = one.iloc[[0] * 6].assign(
        selector=[f"selector-{i}" for i in range(6)], mean=[0.9 + i / 1e4 for i in range(6)], n_features=5.0
    )
    rows = rows_of(plots.size_against_score(crowd, "accuracy", "svm"), "label_y")
    assert len({(row["side"], round(row["label_y"], 5)) for row in rows}) == 6


def test_names_without_room_are_left_out_and_counted(scores):
    one = scores.query("metric == 'accuracy' and model == 'svm'")
    crowd = one.iloc[[0] * 60].assign(
        selector=[f"selector-{i}" for i in range(60)], mean=[0.9 + i / 1e5 for i in range(60)], n_features=5.0
    )
    crowd = pd.concat([crowd, one[:3].assign(mean=[0.1, 0.2, 0.99])])
    chart = plots.size_against_score(crowd, "accuracy", "svm")
    hidden = [row for row in rows_of(chart, "label_y") if not row["side"]]
    assert hidden and chart.to_dict()["title"]["text"].startswith(f"{len(hidden)} of 63 names do not fit")


def test_wide_ranges_of_size_get_a_logarithmic_axis(scores):
    def kind(largest):
        wide = scores.assign(n_features=scores["selector"].map({"ppfs": 4, "hiton-mb": 5, "all": largest}))
        layers = plots.size_against_score(wide, "accuracy", "svm").to_dict()["layer"]
        return next(layer["encoding"]["x"]["scale"]["type"] for layer in layers if layer["mark"]["type"] == "point")

    assert (kind(30), kind(3000)) == ("linear", "log")


@pytest.mark.parametrize("n_selectors", [2, 20])
def test_charts_draw_every_selector_name(n_selectors):
    made = run(tuple(f"selector-{i}" for i in range(n_selectors)), datasets=("one",), models=("svm",))
    scores = result_tables.scores(made["evaluations"])
    for chart in (plots.score_by_selector(scores, "accuracy"), plots.size_against_score(scores, "accuracy", "svm")):
        words = set(", ".join(texts(drawn_as_svg(chart))).split(", "))
        assert {f"selector-{i}" for i in range(n_selectors)} <= words


def test_equal_charts_give_equal_svg_with_names_escaped(made):
    svg = drawn_as_svg(heatmap(made)[0])
    assert svg == drawn_as_svg(heatmap(made)[0])
    assert "<script" not in svg and "<img" not in svg
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in svg


def test_text_takes_the_colour_of_the_page(made):
    svg = drawn_as_svg(heatmap(made)[0])
    assert set(re.findall(r'<text[^>]* fill="([^"]*)"', svg)) == {theme.INK}


def test_a_page_can_hold_the_shared_looks_once(scores):
    chart = plots.score_by_selector(scores, "accuracy")
    small, full = spec_on_page(chart), chart.to_dict()
    assert not {"config", "$schema"} & set(small)
    assert list(small["datasets"]) == ["d0"] and small["data"] == {"name": "d0"}
    assert list(small["datasets"].values()) == list(full["datasets"].values())
    whole = small | {"config": plots.CONFIG, "$schema": full["$schema"]}
    assert vl_convert.vegalite_to_svg(whole, allowed_base_urls=[]) == drawn_as_svg(chart)
    assert spec_on_page(plots.score_by_selector(scores, "accuracy")) == small


def test_a_control_character_in_a_name_is_drawn_as_an_escape():
    """A file of SVG cannot hold one: what draws the chart ended the process."""
    frame = pd.DataFrame({"name": ["a\x1b[2Jb", "c"], "value": [1, 2]})
    drawn = drawn_as_svg(alt.Chart(frame).mark_bar().encode(x="value:Q", y="name:N"))
    assert r"a\x1b[2Jb" in drawn


def test_a_selector_or_model_may_be_named_if(scores):
    """A method is; Vega's own language has a function of that name."""
    named = scores.assign(**{column: scores[column].where(scores[column] != scores[column].iloc[0], "if")
                             for column in ("selector", "model")})  # fmt: skip
    stability = pd.DataFrame(
        {
            "selector": ["if", "gs"],
            "stability": 0.5,
            "lower": 0.4,
            "upper": 0.6,
            "mean_size": 3,
            "sd_size": 1,
            "n_sets": 5,
        }
    )
    for chart in (plots.score_by_selector(named, "accuracy"), plots.stability_by_selector(stability)):
        assert "if" in texts(drawn_as_svg(chart))


def test_an_axis_up_to_ten_features_is_marked_in_whole_numbers():
    scale = placement.linear(pd.Series([3.0, 11.0]))
    x = alt.X("x:Q", scale=scale.of_chart(), axis=scale.axis())
    drawn = drawn_as_svg(alt.Chart(pd.DataFrame({"x": [3.0, 11.0]})).mark_point().encode(x=x))
    assert ">10<" in drawn and "1e+1" not in drawn
