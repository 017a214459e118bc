"""What bf.compare finds in memory is what the workflow finds on files of the same content, to the last digit."""

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.feature_selection import VarianceThreshold

import blanketflow as bf
from blanketflow.api.compare import compare_config
from blanketflow.reporting.tables import unclean
from blanketflow.workflow import collect
from workflow_runs import WITHOUT_REPORT, configure, snakemake

pytestmark = [pytest.mark.workflow, pytest.mark.extended]

SELECTORS = {
    "ppfs": {"method": "ppfs", "ci_test": "quick"},
    "hiton-mb": {"method": "hiton-mb", "ci_test": "g2", "max_k": 2, "folds": 3, "datasets": ["wine"]},
    "mrmr": {"method": "mrmr", "n_features": [2, 4], "fold_rows": "part"},
    "varied": {"method": "sklearn.feature_selection:VarianceThreshold", "threshold": 0.5, "datasets": ["wine"]},
    "linear": {"method": "iamb", "ci_test": "fisher-z"},  # skipped on categorical columns
    "confirmed": {"method": "iamb", "ci_test": "lr-mixed", "confirm": 0.5, "fold_rows": "part", "datasets": ["clinic"]},
    "broken": {"method": "sklearn.feature_selection:SelectKBest", "k": -1, "datasets": ["wine"]},
    "stopped": {"method": "iamb", "ci_test": "g2", "max_tests": 3, "datasets": ["clinic"]},
}
CONFIG = {
    "seed": 7,
    "splits": {"evaluation": 2},
    "folds": 2,
    "ci_tests": {"quick": {"type": "ppi", "n_repeats": 5}},
    "selectors": SELECTORS,
    "aggregate": {"frequency": 0.6},
    "models": ["tree", "svm"],
}


def wine():
    return load_wine(as_frame=True).frame.rename(columns=lambda name: name.split("/")[0])


def clinic():
    """Every kind of column, with gaps in each, whose target is a number and whose rows come in groups."""
    rng = np.random.default_rng(3)
    n = 150
    dose, smokes = rng.integers(0, 4, n), rng.random(n) < 0.4
    frame = pd.DataFrame(
        {
            "ward": np.repeat(np.arange(n // 5), 5),
            "dose": dose,
            "smokes": smokes,
            "site": rng.choice(["north", "south", "west"], n),
            "noise": rng.normal(size=n),
            "weight": rng.normal(70, 9, n).round(2),
            "recovery": (2.0 * dose - 3.0 * smokes + rng.normal(size=n)).round(3),
        }
    )
    gaps = {"dose": [3, 40], "smokes": [5], "site": [6, 77], "weight": [8, 9]}
    for name, rows in gaps.items():
        frame[name] = frame[name].astype(object) if name in ("dose", "smokes") else frame[name]
        frame.loc[rows, name] = None
    return frame


@pytest.fixture(scope="module")
def by_workflow(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared")
    datasets = {}
    for name, frame, target, more in (
        ("wine", wine(), "target", {}),
        ("clinic", clinic(), "recovery", {"groups": "ward"}),
    ):
        frame.to_csv(folder / f"{name}.csv", index=False)
        datasets[name] = {"path": str(folder / f"{name}.csv"), "target": target, **more}
    config = {"datasets": datasets, **CONFIG}
    snakemake(configure(folder, config), "--cores", "2", *WITHOUT_REPORT)
    return folder, config


def frames(folder):
    return pd.read_csv(folder / "wine.csv"), pd.read_csv(folder / "clinic.csv")


@pytest.fixture(scope="module")
def in_memory(by_workflow):
    wines, patients = frames(by_workflow[0])
    return bf.compare(
        {
            "wine": (wines.drop(columns="target"), wines["target"]),
            "clinic": (patients.drop(columns=["recovery", "ward"]), patients["recovery"], patients["ward"]),
        },
        selectors=SELECTORS,
        evaluation=2,
        folds=2,
        ci_tests=CONFIG["ci_tests"],
        aggregate=CONFIG["aggregate"],
        models=CONFIG["models"],
        random_state=7,
    )


def assert_equal_tables(found, results, without=("optimism",)):
    expected = collect.tables(sorted((results / "tables").glob("*.parquet")))
    assert found.tables.keys() == expected.keys()
    for name, table in expected.items():
        of_some = ("truth", "held_out_groups", "unions", "observed", "drift", "discoveries", *without)
        assert len(table) or name in of_some, name
        seconds = [column for column in table if "seconds" in column]
        own = found.tables[name]
        assert list(own) == list(table)
        assert_frame_equal(own.drop(columns=seconds), table.drop(columns=seconds), check_exact=True, obj=name)


def test_frames_give_the_tables_of_the_workflow(by_workflow, in_memory):
    assert_equal_tables(in_memory, by_workflow[0] / "results")


def test_a_configuration_gives_them_too_and_the_truth(by_workflow, tmp_path):
    _, config = by_workflow
    small = {
        **config,
        "splits": {"evaluation": 2, "optimistic": True},
        "datasets": {"clinic": {"source": "simulate:clinic", "rows": 300}},
        "selectors": {"true": {"method": "true-blanket"}, "pc": {"method": "mmpc", "ci_test": "oracle"}},
    }
    snakemake(configure(tmp_path, small), "--cores", "2", *WITHOUT_REPORT)
    found = compare_config(small)
    assert_equal_tables(found, tmp_path / "results", without=("confirmed",))
    assert set(found.truth.query("selector == 'true'")["f1"]) == {1.0}


def test_matrices_give_the_tables_of_the_workflow_dense_and_sparse(tmp_path):
    rng = np.random.default_rng(0)
    n = 60
    y = rng.integers(0, 2, n)
    dense = rng.normal(size=(n, 2050)) + np.outer(y, np.arange(2050) < 3)
    counted = sparse.csr_matrix(rng.poisson(0.1, (n, 450)) + np.outer(y, np.arange(450) < 3))
    np.savez(tmp_path / "dense.npz", X=dense, y=y)
    sparse.save_npz(tmp_path / "sparse.npz", counted)
    np.savetxt(tmp_path / "sparse.y.csv", y, fmt="%d", header="target", comments="")
    config = {
        "datasets": {name: {"path": str(tmp_path / f"{name}.npz")} for name in ("dense", "sparse")},
        "splits": {"evaluation": 2, "final": False},
        "folds": 2,
        "selectors": {"mim": {"method": "mim"}, "gs": {"method": "gs", "ci_test": "fisher-z"}},
        "models": ["tree"],
    }
    snakemake(configure(tmp_path, config), "--cores", "2", *WITHOUT_REPORT)
    data = {"dense": (dense, y), "sparse": (counted, y)}
    found = bf.compare(data, selectors=config["selectors"], evaluation=2, final=False, folds=2, models=["tree"])
    assert_equal_tables(found, tmp_path / "results", without=("blankets", "agreement", "optimism", "confirmed"))


def test_cards_tell_the_same_of_the_data(by_workflow, in_memory):
    cards = collect.cards(sorted((by_workflow[0] / "results/data").glob("*/card.json")))
    for name, expected in cards.items():
        own = in_memory.run.cards[name]
        assert {k: v for k, v in own.items() if k != "source"} == {k: v for k, v in expected.items() if k != "source"}


def test_folds_members_and_failures_are_the_same(by_workflow, in_memory):
    select = sorted((by_workflow[0] / "results/select").glob("*/*/*/blanket.parquet"))
    ids = ["dataset", "selector", "split"]
    folds = collect.selections([path.with_name("folds.parquet") for path in select])
    drop = {"columns": "seconds"}

    def ordered(frame, by):
        return frame.sort_values(by, ignore_index=True)

    assert_frame_equal(
        ordered(in_memory.folds.drop(**drop), [*ids, "fold"]), ordered(folds.drop(**drop), [*ids, "fold"])
    )
    members = collect.members(sorted((by_workflow[0] / "results/select").glob("*/full/*/*/shrink.parquet")))
    every = list(members)
    assert_frame_equal(ordered(in_memory.run.members, every), ordered(members, every))
    evaluations = sorted((by_workflow[0] / "results/evaluate").glob("*/*.parquet"))
    outcomes = unclean(collect.outcomes(select, evaluations))
    every = list(outcomes)
    assert_frame_equal(ordered(in_memory.outcomes, every), ordered(outcomes, every))
    failed = outcomes.query("status == 'error'")
    assert set(failed["selector"]) == {"broken", "confirmed"}
    too_few = failed.query("selector == 'confirmed'")  # half of the wards of a split that is evaluated
    assert set(too_few["split"]) == {"cv-1", "cv-2"} and too_few["reason"].str.contains("15 groups into 7").all()
    assert "timeout" in set(outcomes.query("selector == 'stopped'")["status"])
    assert list(in_memory.skipped[["dataset", "selector"]].itertuples(index=False, name=None)) == [
        ("wine", "linear"),
        ("clinic", "linear"),
    ]


def test_two_jobs_at_a_time_and_objects_instead_of_specs_change_nothing(by_workflow, in_memory):
    wines, _ = frames(by_workflow[0])
    found = bf.compare(
        wines,
        "target",
        {
            "ppfs": bf.PPFS(n_repeats=5),
            "hiton-mb": bf.HITONMB(ci_test="g2", max_k=2, n_folds=3),
            "mrmr": bf.MRMR(n_features=[2, 4], fold_rows="part"),
            "varied": VarianceThreshold(threshold=0.5),
        },
        name="wine",
        evaluation=2,
        folds=2,
        aggregate=CONFIG["aggregate"],
        models=CONFIG["models"],
        random_state=7,
        n_jobs=2,
    )
    for table in ("scores", "blankets", "stability"):
        of_wine = in_memory.tables[table].query("dataset == 'wine'")
        expected = of_wine[of_wine["selector"].isin([*found.run.selectors, "none"])]
        kept = [column for column in expected if column != "best"]  # the best of other selectors
        assert_frame_equal(found.tables[table][kept], expected[kept].reset_index(drop=True), check_exact=True)
