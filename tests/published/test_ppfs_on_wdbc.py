"""The breast-cancer rows of Tables 2, 3 and 6 of the PPFS paper, out of its config in studies/papers."""

import pytest
import yaml

from workflow_runs import PROJECT, WITHOUT_REPORT, columns, configure, snakemake

pytestmark = [pytest.mark.workflow, pytest.mark.extended]

REPRODUCED, DIFFERENT = "reproduced", "different"
HONEST, OPTIMISTIC = "training rows", "all rows"

PUBLISHED = PROJECT / "studies" / "papers" / "published"


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    """The verdict on each cell: table, method and what it was selected on."""
    config = yaml.safe_load((PROJECT / "studies/papers/configs/ppfs.yaml").read_text("utf-8"))
    asked = {name: config["selectors"][name] for name in ("ppfs-50-0", "mixed-mb", "all")}
    config |= {
        "output": "results",
        "datasets": {"wdbc": {"source": "sklearn:breast_cancer"}},
        "splits": config["splits"] | {"repeats": 3},
        "selectors": {name: {k: v for k, v in spec.items() if k != "datasets"} for name, spec in asked.items()},
        "tables": {"paper": {"type": "studies.papers.beside:Printed", "path": str(PUBLISHED / "ppfs.yaml")}},
    }
    folder = configure(tmp_path_factory.mktemp("wdbc"), config)
    snakemake(folder, "--cores", "2", *WITHOUT_REPORT, plug_ins=[PROJECT])
    found = columns(folder / "results/tables/paper.parquet")
    rows = zip(*(found[name] for name in ("table", "method", "selected_on", "verdict")), strict=True)
    return {row[:3]: row[3] for row in rows}


@pytest.mark.parametrize("table", ["2", "3"])
@pytest.mark.parametrize("method", ["all", "mixed-mb"])
@pytest.mark.parametrize("selected_on", [HONEST, OPTIMISTIC])
def test_baselines_do_not_differ(verdicts, table, method, selected_on):
    assert verdicts[table, method, selected_on] != DIFFERENT


def test_ppfs_does_not_differ_where_the_selection_has_seen_the_test_rows(verdicts):
    assert DIFFERENT not in (verdicts["2", "ppfs", OPTIMISTIC], verdicts["3", "ppfs", OPTIMISTIC])
    # Inside the training rows it is not reproduced, with a tree: 0.949 is printed, and three repeats may not tell more.
    assert verdicts["2", "ppfs", HONEST] != REPRODUCED


def test_the_size_of_mixed_mb_chosen_inside_the_training_rows_is_reproduced(verdicts):
    assert verdicts["6", "mixed-mb", HONEST] == REPRODUCED and verdicts["6", "ppfs", HONEST] != DIFFERENT
