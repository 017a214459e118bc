"""What notebooks and terminals show of results: complete, short, and safe whatever the columns are called."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import blanketflow as bf
from blanketflow.api.inspection import inspect_table
from blanketflow.plugins import Card, Method, Step

#: A name that would run, hide the rest of a line, and end a table.
HOSTILE = "<script>alert(1)</script>\u202e\n</td></table>"


class Reader(HTMLParser):
    """The text of a page; fails where a tag is closed that is not open."""

    def __init__(self, page):
        super().__init__()
        self.open, self.words, self.tags = [], [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def read(page):
    reader = Reader(page)
    assert "script" not in reader.tags and "\u202e" not in page
    return reader


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 4)), columns=["weak", HOSTILE, "noise", "strong"])
    return X, (3 * X["strong"] + X[HOSTILE] + 0.3 * X["weak"] + rng.normal(size=200)).rename("y")


@pytest.fixture(scope="module")
def fitted(table):
    return bf.HITONMB(ci_test="fisher-z").fit(*table)


def test_a_fitted_selector_shows_its_blanket_below_the_diagram_of_scikit_learn(fitted):
    page, shown = fitted._repr_html_(), fitted._found_html()
    assert page.endswith(shown) and "sk-estimator" in page.removesuffix(shown)
    assert fitted._repr_mimebundle_()["text/html"].endswith(shown)
    words = read(shown).words
    assert words[0] == f"{len(fitted.selected_features_)} of 4 features, {fitted.n_tests_} CI tests (fisher-z)"
    at = [words.index(name) for name in ("strong", r"<script>alert(1)</script>\u202e\n</td></table>")]
    assert at == sorted(at)
    assert words[at[0] + 1] == "parent or child"


def test_p_values_are_of_the_tests_that_kept_the_features(table):
    found = bf.IAMB(ci_test="fisher-z").fit(table[0][["strong", "weak"]], table[1])
    last = found.trace_.query("stage == 'shrink' and kept").set_index("feature")["p_value"]
    assert sorted(last.index) == ["strong", "weak"] and last["weak"] > 1e-3
    words = read(found._found_html()).words
    assert words[words.index("weak") + 3] == f"{last['weak']:.3f}"


class Strongest(Method):
    """A plug-in whose steps name no test."""

    card = Card("strongest", "the strongest", "filter", "Keeps the feature of least p.", "unpublished")

    def grow(self, problem):
        return [Step(problem.features[int(problem.marginal.log_p.argmin())], role="a <b>role</b>")]

    def shrink(self, problem, candidates):
        return candidates


def test_where_no_test_was_made_there_is_no_p_value_and_a_role_of_a_plug_in_stands_as_it_is(table):
    found = bf.get_selector(Strongest, ci_test="fisher-z").fit(*table)
    words = read(found._found_html()).words
    assert "strong" in words and "a <b>role</b>" in words and "p-value" not in words


def test_folds_stand_in_place_of_p_values(table):
    found = bf.GS(ci_test="fisher-z", n_folds=3, aggregate="union").fit(*table)
    words = read(found._found_html()).words
    assert "folds" in words and "p-value" not in words
    assert words[words.index("strong") + 3] == "3 of 3"


def test_the_display_that_scikit_learn_is_set_to_decides(fitted):
    with config_context(display="text"):
        assert not hasattr(fitted, "_repr_html_") and list(fitted._repr_mimebundle_()) == ["text/plain"]
    assert "blanketflow" not in clone(fitted)._repr_html_().replace("blanketflow.api", "")
    assert make_pipeline(fitted)._repr_html_().count("HITONMB") >= 1
    assert repr(fitted) == "HITONMB(ci_test='fisher-z')"


def test_a_selector_draws_its_importances(fitted, table):
    chart = fitted.plot().to_dict()  # Altair checks it
    (rows,) = chart["datasets"].values()
    assert [row["feature"] for row in rows] == fitted.selected_features_
    assert rows[0]["importance"] == pytest.approx(fitted.importances_["strong"], rel=1e-5)
    assert chart["encoding"]["color"]["scale"]["domain"] == ["parent or child"]
    with pytest.raises(ValueError, match="not fitted"):
        bf.GS().plot()
    nothing = bf.NoFeatures().fit(*table)
    assert nothing.plot().to_dict()["mark"] == {"type": "bar"}
    assert read(nothing._found_html()).words == ["0 of 4 features"]


def test_all_blankets_have_a_line_and_a_row_each(table):
    X = table[0].assign(y=table[1])
    found = bf.blankets(X, ci_test="fisher-z")
    first, *lines = repr(found).splitlines()
    assert first == f"Markov blankets of 5 targets in a table of 5 columns, {found.n_tests} CI tests"
    assert len(lines) == 5 and lines[-1].startswith("  y: strong, ")
    reader = read(found._repr_html_())
    assert reader.tags.count("tr") == 6 and "parent or child" in " ".join(reader.words)
    limited = bf.blankets(X, method="mmmb", ci_test="fisher-z", max_tests=1)
    n = sum(status == "timeout" for status, _ in limited.statuses.values())
    assert n and repr(limited).splitlines()[0].endswith(f" {limited.n_tests} CI tests, {n} timeout")
    assert sum(word.startswith("timeout: ") for word in read(limited._repr_html_()).words) == n


def test_many_targets_and_many_members_are_cut():
    X = np.random.default_rng(0).normal(size=(60, 1)) + np.random.default_rng(1).normal(size=(60, 50)) / 9
    found = bf.blankets(X, method="mmpc", ci_test="fisher-z", max_k=0)
    assert repr(found).splitlines()[-1] == "  ... and 38 more" and " and 43 more" in repr(found).splitlines()[1]
    words = " ".join(read(found._repr_html_()).words)
    assert "... and 10 more targets" in words and "and 19 more" in words


def test_an_inspection_shows_columns_findings_and_advice(table, tmp_path):
    path = tmp_path / "t.csv"
    of_rows = {"<b>x": [0.5, 1, 2, 3] * 9, "n": [i * 7 % 36 / 4 for i in range(36)], "copy": list("abab") * 9}
    pd.DataFrame({**of_rows, "z": list("abab") * 9}).to_csv(path, index=False)
    seen = inspect_table({"path": str(path), "target": "z"})
    assert repr(seen).startswith("z: classification, 36 rows, 3 features\n  leakage: ")
    drawn = read(seen._repr_html_())
    assert "<b>x" in drawn.words and "Settle first" in drawn.words
    (leak,) = [word for word in drawn.words if word.startswith("suspected leakage: <b>x alone explains all")]
    assert 'drop=["<b>x", copy]' in leak
    assert drawn.tags.count("svg") == 2  # of the numbers
    assert "50 %" in drawn.words and {" a", " b"} < {*drawn.words}
