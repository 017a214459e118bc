"""The report says what it must, keeps names as text and loads nothing."""

import base64
import dataclasses
import hashlib
import json
from html.parser import HTMLParser

import pandas as pd
import pytest

from blanketflow.reporting import formatting, plots
from blanketflow.reporting.report import charts, html, overview, render
from blanketflow.reporting.report.dataset import Headline, headline
from blanketflow.reporting.report.figures import narrow_charts
from blanketflow.reporting.report.overview import calibration, methods
from blanketflow.selectors import get_method
from report_frames import HOSTILE, HOSTILE_FEATURE, report_run


class Page(HTMLParser):
    """Tags with their attributes, and the text outside style and scripts; scripts are kept apart."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.words, self.scripts, self.within = [], [], [], ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.within = tag
        if tag == "script":
            self.scripts.append((dict(attributes), ""))

    def handle_endtag(self, tag):
        self.within = ""

    def handle_data(self, data):
        if self.within == "script":
            attributes, known = self.scripts[-1]
            self.scripts[-1] = (attributes, known + data)
        elif self.within != "style":
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def run():
    return report_run()


@pytest.fixture(scope="module")
def drawn(run):
    return charts(run)


@pytest.fixture(scope="module")
def source(run):
    return render(run)


@pytest.fixture(scope="module")
def page(source):
    return Page(source)


@pytest.mark.parametrize(
    "phrase",
    [
        "2 data sets and 3 selectors, each selector evaluated on 5 splits",
        "of 30 features: ",
        "On rows that the selection did not see (5 splits), ",
        "with all features and 0.627 without any",
        "Something was learned: accuracy is ",
        "Look at the table first",
        "How to read this",
        "Importance: ln(1/p) of the test that admitted it, in nats",
        "569",
        "30 (29 numeric, 1 categorical)",
        "benign 357 (63%)",
        "3 in 1 column (policy: impute)",
        "copy repeats",
        "2 rows without a target were left out",
        "parent or child",
        "5 of 5",
        "Recovery of the true blanket",
        "accuracy, mean ± sd over 5 splits",
        "log-loss, mean ± sd over 5 splits",
        "mean rank over n data sets",
        "95 % interval",
        "Agreement between selectors",
        "Do the selectors differ?",
        "By accuracy of",
        "Demšar (2006)",
        "Vega-Embed",
        "stopped after 60 s",
        "fisher-z needs numeric features",
        "sound under faithfulness and correct tests",
        "21 to 22 % with B = 30",
        "This selector used B = 30",
        "scikit-learn",
        "2026",
    ],
)
def test_the_report_says(page, phrase):
    assert phrase in page.text


def test_no_line_ends_within_the_number_of_an_interval(source):
    assert "(95\N{NO-BREAK SPACE}% interval" in source and "(95 % interval" not in source


def test_numbers_are_those_of_the_tables(run, page):
    score = run.tables["scores"].query("dataset == 'breast-cancer' and metric == 'accuracy'")
    for row in score.itertuples():
        assert formatting.mean_sd(row.mean, row.sd) in page.text
    for row in run.tables["stability"].itertuples():
        assert f"{row.stability:.2f}".replace("-", formatting.MINUS) in page.text
        assert f"{row.between_groups:.2f}".replace("-", formatting.MINUS) in page.text


def data_of(page):
    """The data of the page's charts: the elements with data that have no name."""
    return [json.loads(text) for a, text in page.scripts if a["type"] == "application/json" and "id" not in a]


def test_it_holds_each_chart_as_data(run, drawn, page):
    made, narrow = (
        [html.compact(plots.short_spec(chart)) for chart in of.values()] for of in (drawn, narrow_charts(run))
    )
    assert sorted(map(json.dumps, data_of(page))) == sorted(map(json.dumps, [*made, *narrow]))
    assert sum(attributes.get("class") == "chart" for tag, attributes in page.tags if tag == "figure") == len(made)
    assert len(narrow) == sum("/blanket/" in name for name in drawn)


def test_it_holds_the_looks_of_the_charts_once(page):
    (looks,) = (json.loads(text) for attributes, text in page.scripts if attributes.get("id") == "chart-config")
    assert looks == plots.CONFIG
    assert not [spec for spec in data_of(page) if "config" in spec]


def test_hostile_names_stay_text(page, source):
    kinds = [attributes["type"] for tag, attributes in page.tags if tag == "script"]
    assert set(kinds) == {"application/json", "module"} and kinds.count("module") == 2
    assert not [tag for tag, _ in page.tags if tag in ("img", "iframe", "object", "embed", "form")]
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert HOSTILE in page.text and HOSTILE_FEATURE in page.text
    assert HOSTILE not in source and HOSTILE_FEATURE not in source
    assert HOSTILE in json.dumps(data_of(page)) and "alert(2)</script>" in json.dumps(data_of(page))


def test_data_in_a_script_element_can_hold_any_name():
    name = "</script> <!-- & \u2028 \u2029 ä"
    text = str(html.as_json({name: name}))
    assert json.loads(text) == {name: name}
    assert not set("<>&\u2028\u2029") & set(text)


def test_it_loads_nothing_and_runs_only_its_own_scripts(page, source):
    loading = ("src", "srcset", "data", "poster", "action", "background", "xlink:href")
    assert not [(tag, a) for tag, a in page.tags if tag == "link" or any(name in a for name in loading)]
    links = [a["href"] for _, a in page.tags if "href" in a]
    assert all(link.startswith(("#", "https://doi.org/10.")) for link in links)
    style = source.split("<style>")[1].split("</style>")[0]
    assert "url(" not in style and "@import" not in style
    (policy,) = (a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert {name: rules[name] for name in ("default-src", "base-uri", "form-action")} == dict.fromkeys(
        ("default-src", "base-uri", "form-action"), "'none'"
    )
    run_as_module = [text for attributes, text in page.scripts if attributes == {"type": "module"}]
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in run_as_module]
    assert rules["script-src"].split() == [f"'sha256-{digest}'" for digest in digests]


def test_every_link_inside_the_page_arrives(page):
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    assert {a["href"][1:] for _, a in page.tags if a.get("href", "").startswith("#")} <= set(ids)


def test_equal_runs_give_equal_pages(run, drawn, source):
    assert render(run, drawn) == source


def test_a_selector_without_features_is_said_to_keep_none(run):
    empty = run.tables["blankets"].query("selector != 'ppfs'")
    without = dataclasses.replace(run, tables={**run.tables, "blankets": empty})
    assert "no feature was kept" in Page(render(without, {})).text


def test_without_the_full_split_there_is_no_final_blanket(run):
    without = dataclasses.replace(
        run,
        tables={**run.tables, "blankets": run.tables["blankets"][:0]},
        folds=run.folds.query("split != 'full'"),
        members=run.members.query("split != 'full'"),
    )
    page = Page(render(without)).text
    assert "No final blanket: the split on all rows was not run" in page


def test_a_run_in_which_nothing_ended_well_still_has_its_report(run):
    nothing = dataclasses.replace(
        run,
        tables={name: table[:0] for name, table in run.tables.items()},
        folds=run.folds[:0],
        members=run.members[:0],
    )
    page = Page(render(nothing)).text
    assert "No selector has a result" in page
    assert "stopped after 60 s" in page


def test_a_run_without_failures_says_so(run):
    clean = dataclasses.replace(run, outcomes=run.outcomes[:0], skipped=run.skipped[:0])
    assert "every stage succeeded" in Page(render(clean, {})).text


def test_one_data_set_has_no_ranks_and_the_page_says_why():
    alone = report_run(datasets=("one",), models=("svm",))
    assert not [name for name in charts(alone) if name.startswith("across/")]
    assert (
        "This run has one data set. Ranks, wins and the test whether selectors differ need at least two."
        in Page(render(alone, {})).text
    )


@pytest.mark.parametrize(
    ("p", "note", "said"),
    [
        (
            0.001,
            "",
            "Over 12 data sets the 4 selectors differ (Friedman's χ² = 16.2, p = 0.001). Two selectors whose mean "
            "ranks are closer than 1.35 do not differ by Nemenyi's test at the 5% level.",
        ),
        (
            0.2,
            "one lacks b",
            "the 4 selectors differ no more than by chance (Friedman's χ² = 16.2, p = 0.200). Mean ranks would "
            "have to be 1.35 apart by Nemenyi's test at the 5% level. One lacks b.",
        ),
        (float("nan"), "2 data sets are too few", "No test: 2 data sets are too few."),
    ],
)
def test_friedmans_test_is_said_in_words(p, note, said):
    statistic = float("nan") if p != p else 16.2
    test = {"n_datasets": 12, "n_selectors": 4, "statistic": statistic, "p_value": p, "critical_difference": 1.354}
    assert said in overview.sentence(pd.Series(test | {"note": note}))


@pytest.mark.extended
def test_ten_data_sets_and_twenty_selectors_are_less_than_5_mb():
    selectors, sizes = ("ppfs", *(f"selector-{at}" for at in range(2, 20)), "all"), []
    for datasets in (("data-1", "data-2"), ("data-1", "data-2", "data-3")):
        sizes.append(len(render(report_run(selectors=selectors, datasets=datasets, n_features=100)).encode()))
    assert sizes[0] + 8 * (sizes[1] - sizes[0]) < 5_000_000


def test_columns_without_rows_may_lack_types(run):
    bare = pd.DataFrame(columns=["dataset", "selector", "reason"])
    render(dataclasses.replace(run, skipped=bare), {})


def test_the_model_of_the_sentence_is_the_best_on_all_features(run):
    score = run.tables["scores"].query("dataset == 'breast-cancer' and metric == 'accuracy' and selector == 'all'")
    assert run.main_model("breast-cancer") == score.loc[score["mean"].idxmax(), "model"]


def test_long_blankets_are_cut_and_named_below():
    long = report_run(n_features=60, datasets=("one",), models=("svm",))
    names = [f"feature number {j}" for j in range(2, 47)]
    row = long.tables["blankets"].query("selector == 'ppfs'").iloc[0]
    blanket = pd.DataFrame([row.to_dict() | {"feature": name, "importance": 50.0 - i} for i, name in enumerate(names)])
    page = Page(render(dataclasses.replace(long, tables={**long.tables, "blankets": blanket}), {})).text
    assert "And 15 less important features: feature number 32," in page


@pytest.mark.parametrize(
    ("first", "rest", "names"),
    [
        (
            "Keep these 2 of 9 features: dose, No. of rooms.",
            "Models do as well: R² 0.41 against 0.43.",
            "dose|No. of rooms",
        ),
        ("Keep this 1 of 2 features: mean. dose.", "mean can stand in for mean. dose.", "mean. dose"),
        ("iamb keeps none of 3 features.", "", ""),
        ("No feature helps: accuracy 0.51 against 0.50.", "", ""),
    ],
)
def test_the_first_sentence_of_an_answer_ends_after_the_names(first, rest, names):
    features = [(name, "") for name in names.split("|") if name]
    said = Headline("auto", f"{first} {rest}".strip(), features=features)
    assert (said.first, said.rest) == (first, rest)


def test_groups_of_features_are_shown_together():
    plain = report_run(datasets=("one",), models=("svm",))
    assert headline(plain, "one").selector == "hiton-mb"
    names = [name for name, _ in headline(plain, "one").features]
    first, last = [name for name in names if name.startswith("feature number")][-2:]
    groups = {"scale <b>": [first, last], "else": ["no such feature *"]}
    cards = {name: card | {"prior": {"feature_groups": groups}} for name, card in plain.cards.items()}
    grouped = dataclasses.replace(plain, cards=cards)
    listed = [name for name, _ in headline(grouped, "one").features]
    assert listed == [f"scale <b> ({first}, {last})" if name == first else name for name in names if name != last]
    page = Page(render(grouped, {})).text
    assert f"Feature group scale <b> {first}, {last}" in page
    assert "feature group" in page and "feature group" not in Page(render(plain, {})).text
    own = {**grouped.selectors, "hiton-mb": {**grouped.selectors["hiton-mb"], "feature_groups": {"own": [first]}}}
    of_its_own = dataclasses.replace(grouped, selectors=own)
    assert [of_its_own.feature_group("one", s, first) for s in ("hiton-mb", "ppfs")] == ["own", "scale <b>"]


def test_a_numeric_target_is_described_by_its_range(run):
    target = {"name": "y", "min": 1.0, "mean": 2.5, "max": 9.123456, "sd": 0.5}
    cards = {name: card | {"task": "regression", "target": target} for name, card in run.cards.items()}
    assert "y: min 1, mean 2.500, max 9.123, sd 0.500" in Page(render(dataclasses.replace(run, cards=cards), {})).text


def test_corrected_t_has_its_own_rate():
    assert "1 to 5 %" in calibration({"significance": "corrected-t", "n_repeats": 30})
    assert "30 to 31" not in calibration({"significance": "corrected-t", "n_repeats": 30})


@pytest.mark.parametrize(
    ("reference", "links"),
    [
        ("A (2003). doi:10.1000/182.", ["https://doi.org/10.1000/182"]),
        ("A (2003). https://doi.org/10.1000/x(1)y", ["https://doi.org/10.1000/x(1)y"]),
        ("A <b>bold</b> claim", []),
        (
            "A (1996). doi:10.1002/(SICI)1099-1255(199611)11:6<619::AID-JAE418>3.0.CO;2-1, and more.",
            ["https://doi.org/10.1002/(SICI)1099-1255(199611)11:6<619::AID-JAE418>3.0.CO;2-1"],
        ),
        ('doi:10.1000/a"onclick="x', ["https://doi.org/10.1000/a"]),
    ],
)
def test_dois_become_links_and_nothing_else_does(reference, links):
    page = Page(str(formatting.linked(reference)))
    assert [attributes["href"] for _, attributes in page.tags] == links


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "N"), (float("nan"), "N"), (0.5, "0.500"), (-0.25, "-0.250"), (0.00001, "1.0e-05"), (float("-inf"), "-∞")],
)
def test_numbers(value, shown):
    assert formatting.fixed(value).replace(formatting.NONE, "N").replace(formatting.MINUS, "-") == shown


def test_a_ranking_says_what_it_ranks_by_and_each_option_once():
    made = report_run()
    spec = {"method": "jmi", "options": {"n_features": 4}, "n_features": 4}
    cards = {**made.method_cards, "jmi": get_method("jmi", "test", {}).card}
    (told,) = methods(dataclasses.replace(made, selectors={"four": spec}, method_cards=cards))
    assert dict(told.facts)["Ranks by"] == "mean_F I(X;T|F) = I(X;T) - mean_F I(X;F) + mean_F I(X;F|T)"
    assert told.settings == [("n_features", "4")]
