"""The picture of an answer: what it says of features and scores, and that names stay text."""

import csv
import io
import math
import re

from blanketflow.cli import main
from blanketflow.core.results import StandIn, in_words
from blanketflow.reporting.picture import MOST_ROWS, Picture, Point, Row, cut, picture_of
from report_frames import HOSTILE, HOSTILE_FEATURE

VERDICT = {
    "scores": [{"metric": "accuracy"}],
    "alternatives": [
        {"n_features": 0, "ranking": "none", "accuracy": 0.5, "low": 0.4, "high": 0.6, "chosen": False},
        {"n_features": 1, "ranking": "mim", "accuracy": 0.875, "low": 0.8, "high": 0.95, "chosen": True},
        {"n_features": 3, "ranking": "all", "accuracy": 0.75, "low": None, "high": None, "chosen": False},
    ],
    "ranked": [
        {"feature": "age", "kept": True, "times": 5, "of": 5, "importance": 0.9, "low": 0.8, "high": 1.0},
        {"feature": HOSTILE, "kept": False, "times": 1.25, "of": 5, "importance": 0.4, "low": 0.3, "high": 0.5},
    ],
}


def words(drawn):
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawn)


def test_a_row_says_frequency_role_and_stand_ins_in_whole_words():
    others = [StandIn("years, in 2020", 0.97, 0.9, 1.0), StandIn("birth", 0.9, 0.8, 1.0)]
    for told in (in_words(others, 1), in_words(others)):
        drawn = picture_of([Row("age", True, role="member", stand_ins=told)], VERDICT).__html__()
        said = "or years, in 2020 and 1 more"
        assert {"age", "selected in 5 of 5 resamples", said} <= {*words(drawn)}
    drawn = picture_of([Row("age", True, role="spouse", stand_ins=in_words(others[1:]))], VERDICT).__html__()
    assert "spouse, or birth" in words(drawn)
    assert {"Next, not chosen:", "selected in 1.2 of 5 resamples"} <= {*words(drawn)}
    assert "Importance: 1: ranked first in every resample" in words(drawn)


def test_the_scores_stand_between_all_and_none_with_the_choice_marked():
    drawn = picture_of([Row("age", True)], VERDICT).__html__()
    assert {"all features 0.750", "no feature 0.500", "accuracy on held-out rows (1: every row right)"} <= {
        *words(drawn)
    }
    assert re.findall(r'r="(\d)" fill="(#\w+)"', drawn).count(("6", "#E69F00")) == 1 and drawn.count("<circle") == 3
    assert drawn.count("<polygon") == 1 and "nan" not in drawn


def test_the_axes_stay_within_the_picture_and_what_a_score_can_be():
    drawn = Picture([], [Point(1, 0.9, 0.8, 1.02), Point(20_000, 0.95, math.nan, math.nan)], "accuracy").__html__()
    assert "1.000" in words(drawn) and "1.020" not in words(drawn) and "nan" not in drawn
    (at,) = re.findall(r'<text x="([\d.]+)"[^>]*>20,000<', drawn)
    assert float(at) + 3 * 6 <= 380


def test_names_are_text_and_numbers_are_there_to_be_saved():
    drawn = Picture([Row(HOSTILE_FEATURE, True, 1, 5, 2.0)], [Point(1, 0.5, kept=True)], "r2")
    assert HOSTILE_FEATURE not in drawn.__html__() and "<script" not in drawn.__html__()
    head, row, _, points, _ = csv.reader(io.StringIO(drawn.csv()))
    assert dict(zip(head, row, strict=True))["feature"] == HOSTILE_FEATURE and points[:2] == ["size", "score"]
    formula = Picture([Row("=1+1", True)]).csv()
    assert "'=1+1" in formula


def test_most_rows_are_chosen_ones_and_the_others_are_counted():
    rows, n_more = cut([Row(f"x{i}", True) for i in range(20)], [Row(f"z{i}", False) for i in range(9)])
    assert len(rows) == MOST_ROWS and sum(row.kept for row in rows) == MOST_ROWS - 1 and n_more == 12
    assert Picture([]).__html__() == ""


def test_a_selection_writes_a_page_with_what_to_do_where_nothing_was_found(tmp_path):
    table, page = tmp_path / "t.csv", tmp_path / "t.html"
    table.write_text("a,b,y\n" + "\n".join(f"{i % 7},{i * 37 % 11},{i * 53 % 13}" for i in range(60)), "utf-8")
    assert main(["select", str(table), "--target", "y", "--method", "iamb", "--html", str(page)]) == 0
    text = page.read_text("utf-8")
    assert "What to do next" in text and "four times the 60 of now" in text and "https:" not in text
    method = "sklearn.feature_selection:SelectKBest"
    options = ["--method", method, "--set", "k=1"]
    assert main(["select", str(table), "--target", "y", *options, "--html", str(page)]) == 0
    assert 'class="picture"' in page.read_text("utf-8")
