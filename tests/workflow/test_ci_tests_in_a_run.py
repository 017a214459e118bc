"""Every CI test through the real workflow, on a network read from a file; those that know the truth find it."""

import pytest

from blanketflow.core.registry import discover
from workflow_runs import WITHOUT_TABLES, chosen, columns, configure, counts, planned, provenance, snakemake

pytestmark = [pytest.mark.workflow, pytest.mark.extended]

#: The target is wet: its parents rain and sprinkler, its child slippery, slippery's other parent oil.
NETWORK = """
network garden { }
variable season { type discrete [ 2 ] { dry, wet_season }; }
variable rain { type discrete [ 2 ] { no, yes }; }
variable sprinkler { type discrete [ 2 ] { off, on }; }
variable wet { type discrete [ 2 ] { no, yes }; }
variable oil { type discrete [ 2 ] { no, yes }; }
variable slippery { type discrete [ 3 ] { no, rather, very }; }
variable lottery { type discrete [ 2 ] { lost, won }; }
probability ( season ) { table 0.5, 0.5; }
probability ( rain | season ) { (dry) 0.9, 0.1; (wet_season) 0.4, 0.6; }
probability ( sprinkler | season ) { (dry) 0.3, 0.7; (wet_season) 0.9, 0.1; }
probability ( wet | rain, sprinkler ) {
  (no, off) 0.95, 0.05; (no, on) 0.2, 0.8; (yes, off) 0.1, 0.9; default 0.05, 0.95;
}
probability ( oil ) { table 0.7, 0.3; }
probability ( slippery | wet, oil ) {
  (no, no) 0.9, 0.08, 0.02; (yes, no) 0.3, 0.6, 0.1; (no, yes) 0.3, 0.5, 0.2; (yes, yes) 0.05, 0.15, 0.8;
}
probability ( lottery ) { table 0.9, 0.1; }
"""
OPTIONS = {
    "ppi": {"n_repeats": 10},
    "cpi": {"model": "naive-bayes", "n_splits": 3},
    "codec": {"n_neighbors": 50},  # of the many equal rows that labels have
    "mi-permutation": {"n_permutations": 200},
}
#: Fisher's z takes no classes of three levels.
TESTS = sorted(set(discover("blanketflow.ci")) - {"fisher-z"})


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tests")
    (folder / "garden.bif").write_text(NETWORK, encoding="utf-8")
    config = {
        "datasets": {"garden": {"source": "network:garden.bif", "target": "wet", "rows": 300}},
        "splits": {"evaluation": 0},
        "folds": 0,
        "ci_tests": {name: {"type": name, **OPTIONS.get(name, {})} for name in TESTS},
        "selectors": {f"gs-{name}": {"method": "gs", "ci_test": name} for name in TESTS}
        | {"exact": {"method": "gs", "ci_test": "oracle"}, "truth": {"method": "true-blanket"}},
    }
    snakemake(configure(folder, config), "--cores", "2", *WITHOUT_TABLES)
    return folder


@pytest.mark.parametrize("name", TESTS)
def test_every_test_runs_and_is_on_record(run, name):
    path = run / f"results/ci_test/garden/full/fold-0/{name}.parquet"
    found = columns(path)
    assert provenance(path)["status"] == "ok"
    assert sorted(found["feature"]) == ["lottery", "oil", "rain", "season", "slippery", "sprinkler"]
    p = dict(zip(found["feature"], found["p_value"], strict=True))
    assert p["slippery"] < 0.01 < p["lottery"]
    assert "slippery" in chosen(run / "results", "garden", "full", f"gs-{name}")


def test_the_truth_is_found_by_tests_that_know_it(run):
    blanket = {"rain", "sprinkler", "slippery", "oil"}
    for selector in ("exact", "truth"):
        assert set(chosen(run / "results", "garden", "full", selector)) == blanket


def test_another_network_file_is_read_again(run):
    assert not planned(run, *WITHOUT_TABLES)
    text = NETWORK.replace("0.7, 0.3", "0.6, 0.4")
    (run / "garden.bif").write_text(text, encoding="utf-8")
    again = counts(planned(run))
    assert again["table"] == 1
