"""One run with selectors of every shape: folds, fold rows and aggregation of their own, plug-ins, skips, failures."""

import json

import pytest

from workflow_runs import WITHOUT_TABLES, chosen, columns, configure, provenance, snakemake

pytestmark = [pytest.mark.workflow, pytest.mark.extended]

PLUG_IN = """
from dataclasses import dataclass
from typing import ClassVar

from blanketflow.core.cards import Card
from blanketflow.moves.steps import Step
from blanketflow.selectors.base import Method


@dataclass
class Broken(Method):
    card: ClassVar[Card] = Card(id="broken", name="Broken", family="filter", summary="Fails.", reference="none")
    default_test: ClassVar[None] = None

    def grow(self, problem):
        return [Step(problem.features[0])]

    def shrink(self, problem, candidates):
        raise ArithmeticError("the matrix is singular")
"""


OF_FOLDS = {"method": "mrmr", "ci_test": "g2", "n_features": 3}


@pytest.fixture(scope="module")
def by_fold_run(tmp_path_factory):
    """Selectors that differ in folds, fold rows and aggregation only; no evaluation."""
    config = {
        "datasets": {"wine": {"source": "sklearn:wine"}},
        "splits": {"evaluation": 0},
        "folds": 3,
        "selectors": {
            "train-rows": OF_FOLDS,
            "part-rows": {**OF_FOLDS, "fold_rows": "part"},
            "without-folds": {**OF_FOLDS, "folds": 0},
            "often": {**OF_FOLDS, "aggregate": {"frequency": 0.6}},
            "union": {**OF_FOLDS, "aggregate": "union"},
            "intersection": {**OF_FOLDS, "aggregate": "intersection"},
            "told": {**OF_FOLDS, "include": ["ash"], "exclude": ["pro*"]},
        },
    }
    folder = configure(tmp_path_factory.mktemp("by-fold"), config)
    snakemake(folder, "--cores", "2", *WITHOUT_TABLES)
    return folder


def test_what_is_known_beforehand_is_obeyed_on_every_fold(by_fold_run):
    folder = by_fold_run / "results/select/wine/full/told"
    for fold in ("1of3", "2of3", "3of3"):
        shrunk = columns(folder / f"fold-{fold}/shrink.parquet")
        assert shrunk["role"][shrunk["feature"].index("ash")] == "included"
        assert "proline" not in shrunk["feature"]
    known = {"exclude": ["pro*"], "include": ["ash"]}
    assert json.loads(provenance(folder / "fold-1of3/grow.parquet")["spec"])["prior"] == known
    # The test of all features is shared with the other selectors.
    assert "proline" in columns(by_fold_run / "results/ci_test/wine/full/fold-1of3/g2.parquet")["feature"]


@pytest.fixture(scope="module")
def mixed_run(tmp_path_factory):
    """A method that crashes, a scikit-learn selector and one that does not fit the data; evaluated."""
    folder = tmp_path_factory.mktemp("plug-ins")
    (folder / "plug").mkdir()
    (folder / "plug/plug_in.py").write_text(PLUG_IN, encoding="utf-8")
    config = {
        "datasets": {"wine": {"source": "sklearn:wine"}},
        "splits": {"evaluation": 2, "final": False},
        "folds": 0,
        "grain": "dataset",
        "selectors": {
            "broken": {"method": "plug_in:Broken"},
            "outside": {"method": "sklearn.feature_selection:SelectKBest", "k": 2},
            "unsupported": {"method": "gs", "ci_test": "fisher-z"},
        },
        "models": ["naive-bayes"],
    }
    snakemake(configure(folder, config), "--cores", "2", plug_ins=[folder / "plug"])
    return folder


def members(folder, selector, fold):
    found = columns(folder / f"results/select/wine/full/{selector}/fold-{fold}/shrink.parquet")
    return {f for f, kept in zip(found["feature"], found["kept"], strict=True) if kept}


def by_fold(folder, selector):
    return [members(folder, selector, f"{k}of3") for k in (1, 2, 3)]


def blanket(folder, selector):
    return set(chosen(folder / "results", "wine", "full", selector))


def test_folds_zero_uses_all_training_rows_once(by_fold_run):
    assert columns(by_fold_run / "results/select/wine/full/without-folds/folds.parquet")["fold"] == ["0"]
    assert set(columns(by_fold_run / "results/ci_test/wine/full/fold-0/g2.parquet")["n"]) == {178}
    assert blanket(by_fold_run, "without-folds") == members(by_fold_run, "without-folds", "0")


def test_fold_rows_train_and_part_have_artefacts_of_their_own(by_fold_run):
    folder = by_fold_run / "results/ci_test/wine/full"
    rows = {
        name: [columns(folder / f"fold-{k}of3/{name}.parquet")["n"][0] for k in (1, 2, 3)] for name in ("g2", "g2-part")
    }
    assert sum(rows["g2-part"]) == 178
    assert [train + part for train, part in zip(rows["g2"], rows["g2-part"], strict=True)] == [178] * 3


def test_aggregation_rules(by_fold_run):
    folds = by_fold(by_fold_run, "union")
    assert all(by_fold(by_fold_run, name) == folds for name in ("often", "intersection", "train-rows"))
    assert len(set(map(frozenset, folds))) > 1, "folds that agree would show nothing"
    times = {feature: sum(feature in fold for fold in folds) for feature in set.union(*folds)}
    assert blanket(by_fold_run, "union") == set(times)
    assert blanket(by_fold_run, "intersection") == {f for f, n in times.items() if n == 3}
    assert blanket(by_fold_run, "often") == {f for f, n in times.items() if n / 3 >= 0.6}
    assert blanket(by_fold_run, "train-rows") in folds


def test_a_scikit_learn_selector_is_a_selector(mixed_run):
    assert len(chosen(mixed_run / "results", "wine", "cv-1", "outside")) == 2
    scores = columns(mixed_run / "results/evaluate/wine/outside.parquet")
    assert set(scores["n_features"]) == {2} and set(scores["status"]) == {"ok"}


def test_a_crash_leaves_its_reason_in_the_artefacts_and_the_rest_complete(mixed_run):
    results = mixed_run / "results"
    reason = "ArithmeticError: the matrix is singular"
    for split in ("cv-1", "cv-2"):
        select = results / f"select/wine/{split}/broken"
        assert provenance(select / "fold-0/grow.parquet")["status"] == "ok"
        for name in ("fold-0/shrink", "blanket", "folds"):
            said = provenance(select / f"{name}.parquet")
            assert (said["status"], said["reason"]) == ("error", reason)
            assert not next(iter(columns(select / f"{name}.parquet").values()))
    scores = columns(results / "evaluate/wine/broken.parquet")
    assert set(scores["status"]) == {"error"} and set(scores["reason"]) == {reason}
    table = columns(results / "tables/scores.parquet")
    statuses = dict(zip(table["selector"], table["status"], strict=True))
    assert statuses == {"all": "ok", "none": "ok", "outside": "ok", "broken": "error"}
    report = (results / "report.html").read_text(encoding="utf-8")
    assert "broken" in report and "the matrix is singular" in report


def test_a_pair_that_does_not_fit_is_skipped_with_its_reason(mixed_run):
    assert not (mixed_run / "results/select/wine/cv-1/unsupported").exists()
    report = (mixed_run / "results/report.html").read_text(encoding="utf-8")
    assert "unsupported" in report
    assert "fisher-z takes targets of at most 2 classes, this one has 3" in report
