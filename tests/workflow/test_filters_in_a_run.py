"""Filters and kernel methods in one real run on a numeric target, beside what the library finds on the same rows."""

import pytest

from blanketflow.config.reading import read_config
from blanketflow.data.sources import read_source
from blanketflow.search.run_fold import fold_seed, run_fold
from blanketflow.workflow.specs import table_seed
from workflow_runs import WITHOUT_TABLES, columns, configure, provenance, snakemake

pytestmark = [pytest.mark.workflow, pytest.mark.extended]

DATASETS = {"greenhouse": {"source": "simulate:greenhouse", "rows": 150}}
SELECTORS = {
    **{name: {"method": name, "n_features": 3} for name in ("cmim", "if", "disr", "relieved", "spfs-lar", "bahsic")},
    "fcbf": {"method": "fcbf", "threshold": 0.01},
    "mimr-pair": {"method": "mimr", "start": "pair", "n_features": 3},
    "hsmb": {"method": "hsmb", "k": 2},
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What a run leaves; no evaluation, no folds."""
    config = {"datasets": DATASETS, "splits": {"evaluation": 0}, "folds": 0, "selectors": SELECTORS}
    folder = configure(tmp_path_factory.mktemp("filters"), config)
    snakemake(folder, "--cores", "2", *WITHOUT_TABLES)
    return folder / "results"


@pytest.mark.parametrize("selector", SELECTORS)
def test_the_library_finds_the_same(results, selector):
    config = read_config({"datasets": DATASETS, "selectors": {selector: SELECTORS[selector]}})
    asked, seed = config.selectors[selector], fold_seed(2026, "greenhouse", "full", "0")
    source = read_source("greenhouse", config.datasets["greenhouse"], table_seed(config, "greenhouse"))
    test = config.ci_tests[asked.ci_test] if asked.ci_test else None
    found = run_fold(asked.method, test, source.features, source.target, seed)
    fold = results / "select/greenhouse/full" / selector / "fold-0"
    grown, decided = columns(fold / "grow.parquet"), columns(fold / "shrink.parquet")
    assert grown["feature"] == [step.feature for step in found.candidates]
    for field in ("feature", "kept"):
        assert decided[field] == [getattr(step, field) for step in found.decisions]
    for field in ("statistic", "p_value", "importance"):
        assert decided[field] == pytest.approx([getattr(step, field) for step in found.decisions], rel=1e-9)
    assert any(decided["kept"])
    assert provenance(fold / "shrink.parquet")["status"] == "ok"
