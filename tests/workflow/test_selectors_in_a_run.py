"""One run with selectors of every shape: folds, fold rows and aggregation of their own, plug-ins, skips, failures."""

import pytest
from workflow_runs import chosen, columns, configure, provenance, snakemake

pytestmark = pytest.mark.workflow

PLUG_IN = '''
from dataclasses import dataclass
from typing import ClassVar

from blanketflow.core.cards import Card
from blanketflow.search.steps import Step
from blanketflow.selectors.base import Method


@dataclass
class Broken(Method):
    card: ClassVar[Card] = Card(id="broken", name="Broken", family="filter", summary="Fails.", reference="none")
    default_test: ClassVar[None] = None

    def grow(self, problem):
        return [Step(problem.features[0])]

    def shrink(self, problem, candidates):
        raise ArithmeticError("the matrix is singular")
'''


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("selectors")
    (folder / "plug").mkdir()
    (folder / "plug/plug_in.py").write_text(PLUG_IN, encoding="utf-8")
    of_folds = {"method": "mrmr", "ci_test": "g2", "n_features": 3}
    config = {
        "datasets": {"wine": {"source": "sklearn:wine"}},
        "splits": {"evaluation": 2, "final": False},
        "folds": 3,
        "selectors": {
            "train-rows": of_folds,
            "part-rows": {**of_folds, "fold_rows": "part"},
            "without-folds": {**of_folds, "folds": 0},
            "often": {**of_folds, "aggregate": {"frequency": 0.6}},
            "union": {**of_folds, "aggregate": "union"},
            "intersection": {**of_folds, "aggregate": "intersection"},
            "broken": {"method": "plug_in:Broken", "folds": 0},
            "outside": {"method": "sklearn.feature_selection:SelectKBest", "k": 2, "folds": 0},
            "unsupported": {"method": "gs", "ci_test": "fisher-z"},
            "all": {"method": "all", "folds": 0},
        },
        "models": ["naive-bayes"],
    }
    snakemake(configure(folder, config), "--cores", "2", plug_ins=[folder / "plug"])
    return folder


def members(run, selector, fold):
    found = columns(run / f"results/select/wine/cv-1/{selector}/fold-{fold}/shrink.parquet")
    return {f for f, kept in zip(found["feature"], found["kept"], strict=True) if kept}


def by_fold(run, selector):
    return [members(run, selector, f"{k}of3") for k in (1, 2, 3)]


def blanket(run, selector):
    return set(chosen(run / "results", "wine", "cv-1", selector))


def test_folds_zero_uses_all_training_rows_once(run):
    assert columns(run / "results/select/wine/cv-1/without-folds/folds.parquet")["fold"] == ["0"]
    assert set(columns(run / "results/ci_test/wine/cv-1/fold-0/g2.parquet")["n"]) == {89}
    assert blanket(run, "without-folds") == members(run, "without-folds", "0")


def test_fold_rows_train_and_part_have_artefacts_of_their_own(run):
    folder = run / "results/ci_test/wine/cv-1"
    rows = {
        name: [columns(folder / f"fold-{k}of3/{name}.parquet")["n"][0] for k in (1, 2, 3)] for name in ("g2", "g2-part")
    }
    assert sum(rows["g2-part"]) == 89
    assert [train + part for train, part in zip(rows["g2"], rows["g2-part"], strict=True)] == [89] * 3


def test_aggregation_rules(run):
    folds = by_fold(run, "union")
    assert folds == by_fold(run, "often") == by_fold(run, "intersection") == by_fold(run, "train-rows")
    assert len(set(map(frozenset, folds))) > 1, "folds that agree would show nothing"
    times = {feature: sum(feature in fold for fold in folds) for feature in set.union(*folds)}
    assert blanket(run, "union") == set(times)
    assert blanket(run, "intersection") == {f for f, n in times.items() if n == 3}
    assert blanket(run, "often") == {f for f, n in times.items() if n / 3 >= 0.6}
    assert blanket(run, "train-rows") in folds


def test_a_scikit_learn_selector_is_a_selector(run):
    assert len(blanket(run, "outside")) == 2
    scores = columns(run / "results/evaluate/wine/outside.parquet")
    assert set(scores["n_features"]) == {2} and set(scores["status"]) == {"ok"}


def test_a_crash_leaves_its_reason_in_the_artefacts_and_the_rest_complete(run):
    results = run / "results"
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
    others = set(columns(results / "tables/scores.parquet")["selector"])
    assert others >= {"all", "outside", "union"} and "broken" not in others
    report = (results / "report.html").read_text(encoding="utf-8")
    assert "broken" in report and "the matrix is singular" in report


def test_a_pair_that_does_not_fit_is_skipped_with_its_reason(run):
    assert not (run / "results/select/wine/cv-1/unsupported").exists()
    report = (run / "results/report.html").read_text(encoding="utf-8")
    assert "unsupported" in report
    assert "fisher-z takes targets of at most 2 classes, this one has 3" in report
