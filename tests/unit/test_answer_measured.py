"""What studies/answer/README.md says of selectors: what is lacking, how failures count, and what splits could show."""

from argparse import Namespace

import numpy as np
import pandas as pd
import pytest

from studies.answer import page as answer
from studies.answer import rows as answer_rows
from studies.answer import tables as answer_tables

SCORES = {"logistic": 0.8, "ridge": np.nan, "knn": 0.6, "lightgbm": 0.7, "svm": 0.9}
FACTS = {"metric": "accuracy", "n": 100, "d": 4, "seconds": 1.0}


def rows(dataset, selector, scores=SCORES, n_splits=3, chosen="0 1", **facts):
    """Return the recorded rows of a selector on a data set; `chosen` None is no answer."""
    own = dict.fromkeys(scores, np.nan) if chosen is None else scores
    size = np.nan if chosen is None else len(chosen.split())
    panel = np.nanmean(list(own.values())) if chosen is not None else np.nan
    row = {**FACTS, **own, "score": panel, "n_features": size, "chosen": chosen, **facts}
    splits = [f"cv-{k}" for k in range(1, n_splits + 1)]
    return pd.DataFrame([{"dataset": dataset, "selector": selector, "split": split, **row} for split in splits])


def asked(**options):
    """Return the arguments of answer_rows.py, with what a test says of them."""
    names = {"datasets": ["wine"], "selectors": None, "judges": ["knn", "forest"], "most_cells": None, "anew": False}
    return Namespace(**{**names, "splits": 3, "first_split": 1, **options})


def todo(raw, lines=(), **options):
    """Return what is to be done, shortly."""
    found = answer_rows.units(raw, pd.DataFrame(list(lines)), asked(**options))
    return [(unit.selector, unit.split, unit.chosen, unit.judges) for unit in found]


def test_what_is_lacking_is_made_and_nothing_else():
    raw = pd.concat([rows("wine", "all", n_splits=1), rows("wine", "lasso", chosen=None, n_splits=1)])
    raw = pd.concat([raw, rows("wine", "relief", n_splits=1).assign(chosen=None)], ignore_index=True)
    some = {"selectors": ["all", "lasso", "relief"], "splits": 1}
    lacking = [("all", "cv-1", "0 1", ("forest",)), ("relief", "cv-1", None, ("forest",))]
    assert todo(raw, **some) == lacking  # one that had no answer is not asked again
    done = {"dataset": "wine", "selector": "all", "split": "cv-1", "searched": False, "forest": 0.5}
    assert todo(raw, [done], **some) == lacking[1:]
    assert todo(raw, **{**some, "selectors": ["all"], "splits": 2})[1] == ("all", "cv-2", None, ("knn", "forest"))
    assert [one[2] for one in todo(raw, anew=True, **some)] == [None] * 3
    assert [one[0] for one in todo(raw, [done | {"searched": True}], anew=True, **some)] == ["lasso", "relief"]
    assert todo(raw, most_cells=399, **some) == []


def test_a_search_replaces_a_row_and_a_judge_adds_to_it():
    raw = pd.concat([rows("wine", "all", n_splits=1), rows("wine", "lasso", n_splits=1)], ignore_index=True)
    key = {"dataset": "wine", "split": "cv-1"}
    new = {"chosen": "3", "n_features": 1, "knn": 0.1, "logistic": 0.2, "svm": 0.3, **FACTS}
    lines = [
        {**key, "selector": "all", "searched": False, "forest": 0.5},
        {**key, "selector": "lasso", "searched": True, **new},
        {**key, "selector": "lasso", "searched": False, "lightgbm": 0.4},  # by a machine that has its package
    ]
    before = answer_rows.taken_up(raw, pd.DataFrame(lines[:2])).set_index("selector")
    assert np.isnan(before.loc["lasso", ["score", "lightgbm"]].astype(float)).all()
    found = answer_rows.taken_up(raw, pd.DataFrame(lines)).set_index("selector")
    assert found.loc["all", ["forest", "knn", "chosen"]].tolist() == [0.5, 0.6, "0 1"]
    assert found.loc["lasso", ["chosen", "lightgbm"]].tolist() == ["3", 0.4]
    assert found.loc["lasso", "score"] == pytest.approx(0.25)


def test_a_judge_of_some_data_sets_speaks_of_these_alone():
    judged, other = SCORES | {"forest": 0.5}, SCORES | {"forest": 0.7}
    raw = [rows("wine", "all", judged), rows("wine", "auto", other), rows("wine", "lasso", SCORES | {"forest": 0.8})]
    raw += [rows("iris", "all", judged), rows("iris", "auto", other), rows("iris", "lasso", SCORES)]
    raw += [rows("wine", "relief", chosen=None)]
    found = answer_tables.on_fewer_sets(pd.concat(raw, ignore_index=True), [*answer_tables.JUDGES][:4], answer.nogueira)
    assert found == [
        "By random forest, on 1 of 2 data sets with classes, it was +0.200; 1 of 2 other selectors gain more there."
    ]
    assert answer_tables.on_fewer_sets(pd.concat(raw[3:6]), [*answer_tables.JUDGES][:4], answer.nogueira) == []


def test_the_scores_of_recorded_features_are_made_again(tmp_path, monkeypatch):
    monkeypatch.setattr(answer_rows, "FOLDER", tmp_path / "answer-rows")
    monkeypatch.chdir(answer_rows.ROOT)
    answer_rows.files_of.cache_clear()
    raw = pd.read_parquet(answer_rows.RAW)
    row = raw[(raw["dataset"] == "wine") & (raw["selector"] == "boruta")].set_index("split").loc["cv-2"]
    answer_rows.prepare("wine", 6)
    unit = answer_rows.Unit("wine", "boruta", "cv-2", row["chosen"], ("logistic",), row["knn"], 1.0, 1.0)
    found = answer_rows.done(unit, 6)  # more splits leave the first three as they are
    assert (found["searched"], found["n"], found["d"]) == (False, 178, 13)
    assert (found["knn"], found["logistic"]) == pytest.approx((row["knn"], row["logistic"]))
    few = row["chosen"].rpartition(" ")[0].partition(" ")[2]  # other features than those that were judged
    other = answer_rows.Unit("wine", "boruta", "cv-2", few, ("logistic",), row["knn"] - 0.5, 1.0, 1.0)
    found = answer_rows.done(other, 6)
    assert found["searched"]
    assert {"logistic", "knn", "lightgbm", "svm", "forest", "mlp"} <= set(found)
    failed = [{"model": "knn", "value": None, "status": "error", "reason": "no library"}]
    monkeypatch.setattr("blanketflow.models.evaluation.evaluate_split", lambda *given: failed)
    with pytest.raises(RuntimeError, match="no library"):  # no score of this machine is written down
        answer_rows.done(unit, 6)


def tables(*parts):
    """Return the means of selectors in recorded rows, and the rows by data set."""
    raw, judges = answer_tables.with_judges(pd.concat(parts, ignore_index=True))
    found = answer_tables.by_set(answer_tables.differences(raw, judges), judges, answer.nogueira)
    return answer_tables.means(found, judges), found, judges


def test_no_answer_counts_as_all_features_and_is_shown():
    better = {name: value + 0.04 for name, value in SCORES.items()} | {"forest": 0.7, "mlp": 0.7}
    same = SCORES | {"forest": 0.7, "mlp": 0.7}
    everywhere = [rows(name, "all", same, chosen="0 1 2 3") for name in ("a", "b")]
    auto = [rows(name, "auto", same) for name in ("a", "b")]
    found, _, _ = tables(*everywhere, *auto, rows("a", "boruta", better), rows("b", "boruta", same, chosen=None))
    assert found.loc["boruta", "no_answer"] == 1
    assert found.loc["boruta", ["share", "share_answered"]].tolist() == [0.75, 0.5]
    assert found.loc["boruta", ["knn", "forest"]].tolist() == pytest.approx([0.02, 0.0])
    assert found.loc["boruta", ["mean", "answered"]].tolist() == pytest.approx([0.04 * 4 / 6 / 2, 0.04 * 4 / 6])
    assert found.loc["boruta", "auto_there"] == 0
    assert answer_tables.above_auto(found, "knn") == ["boruta"]
    assert answer_tables.above_auto(found, "forest") == []


def test_a_judge_that_has_not_seen_every_answer_is_left_out():
    raw = pd.concat([rows("a", "all"), rows("a", "auto").assign(forest=[0.5, 0.5, np.nan])])
    assert answer_tables.with_judges(raw.assign(mlp=0.5))[1] == ["linear", "knn", "lightgbm", "svm", "mlp"]


def test_splits_that_only_one_of_two_was_run_on_are_not_compared():
    later = rows("a", "all", n_splits=1).assign(knn=0.1, split="cv-1")
    found, _, _ = tables(later, rows("a", "auto", n_splits=3))
    assert found.loc["auto", "knn"] == pytest.approx(0.5)


def test_the_smallest_loss_that_could_be_seen_is_where_the_test_turns():
    differences = np.array([-0.01, 0.02, 0.05, -0.03])
    seen = answer_tables.smallest_seen(differences)
    for share, significant in ((0.99, False), (1.01, True)):
        p_value = answer_tables.corrected_p(differences - differences.mean() - share * seen)
        assert (p_value < answer_tables.LEVEL) == significant
    # Of three splits: t with two degrees of freedom at 0.975, times sd * sqrt(1/3 + 1/2).
    assert answer_tables.smallest_seen(np.array([-0.1, 0.0, 0.1])) == pytest.approx(4.302653 * 0.1 * (5 / 6) ** 0.5)


def test_sentences_are_short_and_the_page_of_all_has_them():
    raw = pd.read_parquet(answer_rows.RAW)
    every = raw.assign(**{name: raw[name] if name in raw else raw["svm"] for name in ("forest", "mlp")})
    for scores in (every.assign(forest=every["forest"].fillna(every["svm"]), mlp=every["mlp"].fillna(raw["svm"])), raw):
        judged, judges = answer_tables.with_judges(scores)
        found = answer_tables.by_set(answer_tables.differences(judged, judges), judges, answer.nogueira)
        said = answer_tables.sentences(answer_tables.by_completeness(found)[0], judges)
        assert max(len(sentence.split()) for sentence in said) <= 25
    readme, page = (
        " ".join((answer_rows.ROOT / p).read_text("utf-8").split()) for p in ("README.md", "docs/how-good.md")
    )
    assert all(sentence in page for sentence in said) and all(sentence in readme for sentence in said[:2])
