"""Beyond max_rows a search works on a stratified sample of its fold's rows, in Python and in a run, and says so."""

import numpy as np
import pytest

import blanketflow as bf
from blanketflow.api.select_command import select
from blanketflow.core.errors import ConfigError, ParameterError, UnsupportedError
from blanketflow.core.registry import discover
from blanketflow.core.rows import sampled
from blanketflow.data.artefacts import read_columns, read_provenance
from blanketflow.data.sources import read_source
from blanketflow.search.run_fold import fold_seed
from blanketflow.workflow.in_process import run_plan
from blanketflow.workflow.plan import make_plan

RNG = np.random.default_rng(0)
N, MOST = 600, 120
Y = np.where(RNG.random(N) < 0.3, "yes", "no")
X = np.column_stack([RNG.normal(size=N) + (Y == "yes"), *(RNG.normal(size=N) for _ in range(4))])
TESTS = discover("blanketflow.ci")
#: The options of every method that takes a sample by itself or with its own test, and of one with another test.
TAKING = {
    name: {}
    for name, method in discover("blanketflow.selectors").items()
    if TESTS.get(method.default_test, method).card.takes_max_rows
} | {"gs": {"ci_test": "hsic"}, "iamb": {"ci_test": "spline"}, "mmpc": {"ci_test": "gcm"}}
TAKING["ppfs"], TAKING["permutation-importance"] = {"n_repeats": 6}, {"n_permutations": 19}
TAKING["auto"] = {"max_candidates": 3, "n_parts": 2}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "study.csv"
    lines = [",".join([label, *map(repr, row)]) for label, row in zip(Y, X.tolist(), strict=True)]
    path.write_text("\n".join(["y,x0,x1,x2,x3,x4", *lines]) + "\n")
    return {"path": str(path), "target": "y"}


def test_a_sample_keeps_the_share_of_each_class_and_of_each_range():
    rows, labels = np.arange(100, 1100), np.repeat([0, 1, 2, 0], [300, 450, 243, 107])
    taken = sampled(rows, labels, 200, 3)
    # Of 1,000 rows 307, 450 and 243 less the first 100, all of class 0: a fifth of 307, 450 and 243.
    counts = np.bincount(labels[taken])
    assert np.all(np.abs(counts - np.bincount(labels[rows]) / 5) < 1) and counts.sum() == 200
    assert len(set(taken)) == 200 and set(taken) <= set(rows) and np.all(np.diff(taken) > 0)
    numbers = RNG.normal(size=1100)
    ranks = np.argsort(np.argsort(numbers[rows]))[sampled(rows, numbers, 200, 3) - 100]
    assert sorted(ranks // 5) == list(range(200))  # one of each five neighbours in the order of the numbers


def test_it_depends_on_the_seed_alone_and_each_row_can_be_in_it():
    target = np.zeros(50)
    samples = [tuple(sampled(np.arange(50), target, 10, seed)) for seed in range(60)]
    assert samples == [tuple(sampled(np.arange(50), target, 10, seed)) for seed in range(60)]
    assert len(set(samples)) == 60 and set(np.concatenate(samples)) == set(range(50))


def test_up_to_max_rows_nothing_changes():
    rows = np.arange(7, 27)
    for most in (None, 20, 21):
        assert sampled(rows, np.zeros(30), most, 0) is rows


@pytest.mark.parametrize("name", TAKING)
def test_a_search_with_max_rows_is_the_search_on_the_sample_alone(name):
    found = bf.get_selector(name, max_rows=MOST, **TAKING[name]).fit(X, Y)
    rows = sampled(np.arange(N), (Y == "yes").astype(int), MOST, fold_seed(0, "0"))
    alone = bf.get_selector(name, **TAKING[name]).fit(X[rows], Y[rows])
    assert found.selected_features_ == alone.selected_features_ and found.importances_ == alone.importances_
    assert found.trace_.equals(alone.trace_)
    assert found.sample_.startswith("120 of 600 rows") and alone.sample_ == ""


def test_a_class_refuses_it_where_all_rows_are_taken():
    with pytest.raises(ParameterError, match=r"GS: gs with lr-mixed takes all rows.*Remove max_rows"):
        bf.GS(ci_test="lr-mixed", max_rows=MOST).fit(X, Y)
    with pytest.raises(ParameterError, match=r"max_rows is 5, but must be an? .* at least 10"):
        bf.Relief(max_rows=5).fit(X, Y)
    with pytest.raises(UnsupportedError, match="Stepwise: rows that count several times are not sampled"):
        bf.Stepwise(max_rows=MOST).fit(X, Y, sample_weight=np.full(N, 2))
    with pytest.raises(ConfigError, match="'relief' has a max_rows of its own"):
        bf.compare(X, Y, selectors=[bf.Relief(max_rows=MOST)])
    with pytest.raises(ParameterError, match=r"blankets: mmpc with g2 takes all rows.*Remove max_rows"):
        bf.blankets(X, "mmpc", "g2", max_rows=MOST)


def test_compare_takes_a_sample_for_those_that_take_one(study):
    how = {"models": ["tree"], "evaluation": 0, "folds": 0, "name": "study"}
    selectors = {"relief": {"method": "relief", "n_features": 2}, "gs": {"method": "gs", "ci_test": "lr-mixed"}}
    found = bf.compare(X, Y, selectors, max_rows=MOST, **how)
    plan = make_plan(config(study, max_rows=MOST), str)
    rows = sampled(np.arange(N), (Y == "yes").astype(int), MOST, fold_seed(plan.config.seed, "study", "full", "0"))
    assert set(found.blanket("relief")) == {*bf.Relief(n_features=2).fit(X[rows], Y[rows]).selected_features_}
    assert found.blanket("gs") == bf.compare(X, Y, {"gs": selectors["gs"]}, **how).blanket("gs")


def test_blankets_of_a_sample_are_those_of_these_rows():
    found = bf.blankets(X, "gs", "hsic", max_rows=MOST, alpha=0.2)
    rows = sampled(np.arange(N), np.zeros(N), MOST, fold_seed(0, "0"))
    assert found.to_dict() == bf.blankets(X[rows], "gs", "hsic", alpha=0.2).to_dict()
    assert found.sample == "120 of 600 rows were taken (max_rows)"
    assert bf.blankets(X[rows], "gs", "hsic", max_rows=MOST).sample == ""


@pytest.mark.extended
def test_the_answer_of_a_sample_is_that_of_these_rows():
    found = bf.select(X, Y, None, max_rows=MOST)
    rows = sampled(np.arange(N), (Y == "yes").astype(int), MOST, fold_seed(0, "0"))
    alone = bf.select(X[rows], Y[rows], None)
    assert found.features == alone.features and found.scores.equals(alone.scores)


def config(study, **more):
    return {
        "datasets": {"study": {**study, **more}},
        "splits": {"evaluation": 0},
        "folds": 2,
        "selectors": {
            "kernel": {"method": "gs", "ci_test": "hsic"},
            "relief": {"method": "relief", "n_features": 2, "folds": 0},
            "all-rows": {"method": "gs", "ci_test": "lr-mixed"},
        },
    }


def test_only_searches_that_take_a_sample_have_it_in_their_specs(study):
    plain, told = make_plan(config(study), str), make_plan(config(study, max_rows=MOST), str)
    for plan, n in ((plain, 0), (told, 1)):
        assert plan.method_spec("study", "kernel").count('"max_rows":120') == 2 * n  # its own, and its test's
        assert plan.method_spec("study", "relief").count('"max_rows":120') == n
    assert told.method_spec("study", "all-rows") == plain.method_spec("study", "all-rows")
    assert told.test_spec("study", "lr-mixed") == plain.test_spec("study", "lr-mixed")
    assert told.table_spec("study") == plain.table_spec("study")
    assert "max_rows" not in plain.report_spec()
    assert "study: beyond 120 rows a stratified sample is taken by kernel, relief; the others take all rows" in (
        told.notes()
    )
    only = config(study, max_rows=MOST)
    only["selectors"] = {"all-rows": only["selectors"]["all-rows"]}
    assert any("max_rows changes nothing" in note for note in make_plan(only, str).notes())


def test_weights_and_max_rows_are_refused_together(study):
    asked = {**study, "weights": "x0", "weights_are": "counts", "max_rows": MOST}
    with pytest.raises(ConfigError, match=r"'study' has weights.*Remove max_rows"):
        make_plan(config(asked), str)


def test_a_run_works_on_the_same_sample_and_its_report_says_so(study, tmp_path):
    plan = make_plan(config(study, max_rows=MOST), str)
    run = run_plan(plan, {"study": read_source("study", plan.config.datasets["study"], 0)}, tmp_path, 1, False)
    assert run.sampled["study"] == [
        "kernel took 120 of 300 rows, stratified by the target",
        "relief took 120 of 600 rows, stratified by the target",
    ]
    found = tmp_path / "select/study/full"
    rows = sampled(np.arange(N), (Y == "yes").astype(int), MOST, fold_seed(plan.config.seed, "study", "full", "0"))
    # RELIEF draws its rows by the fold's seed, which a class cannot be given; with all of them it draws none.
    columns, provenance = read_columns(found / "relief/fold-0/grow.parquet")
    assert provenance.extra["sample"] == [MOST, N]
    marginal = read_columns(tmp_path / "ci_test/study/full/fold-1of2/hsic.parquet")
    assert set(marginal[0]["n"]) == {MOST} and marginal[1].extra["sample"] == [MOST, N // 2]
    assert set(read_columns(tmp_path / "ci_test/study/full/fold-1of2/lr-mixed.parquet")[0]["n"]) == {N // 2}
    assert "sample" not in read_provenance(found / "all-rows/blanket.parquet").extra
    alone = bf.get_selector("relief", n_features=2).fit(X[rows], Y[rows])
    weights = dict(zip(columns["feature"], columns["importance"], strict=True))
    assert alone.importances_ == pytest.approx({name: weights[name] for name in alone.importances_})


def test_select_says_it(study):
    notes = select({**study, "max_rows": MOST}, {"method": "relief", "n_features": 2}, {}, 0).notes
    assert "120 of 600 rows were taken, a sample stratified by the target (max_rows)" in notes
    assert not any("max_rows" in note for note in select(study, {"method": "relief", "n_features": 2}, {}, 0).notes)
