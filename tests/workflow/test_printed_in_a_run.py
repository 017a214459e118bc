"""A run beside printed numbers, and blankets that have seen the test rows: what the tables and artefacts say."""

import pytest

from workflow_runs import (
    PROJECT,
    blanketflow,
    check_says_what_is_missing,
    columns,
    configure,
    counts,
    planned,
    snakemake,
)

pytestmark = [pytest.mark.workflow, pytest.mark.extended]

PAPER = """
- table: 1
  measure: accuracy
  model: tree
  columns: [all, gs, iamb]
  rows:
    wine: ["0.90", "0.01", "0.90"]
    digits: ["0.90", "0.90", "0.90"]
  claims:
    - {claim: all features are better than those of gs, better: all, than: [gs, iamb]}
    - {claim: gs needs fewer features, measure: n_features, better: gs, than: [all]}
    - {claim: gs is slower, measure: seconds, better: all, than: [gs]}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    config = {
        "datasets": {"wine": {"source": "sklearn:wine"}, "digits": {"source": "sklearn:digits"}},
        "splits": {"evaluation": 2, "repeats": 2, "optimistic": True},
        "folds": 0,
        "selectors": {"gs": {"method": "gs", "ci_test": "g2", "datasets": ["wine"]}, "all": {"method": "all"}},
        "models": ["tree"],
        "metrics": ["accuracy"],
        "tables": {
            "paper": {"type": "studies.papers.beside:Printed", "path": "paper.yaml"},
            "paper-claims": {"type": "studies.papers.beside:Claims", "path": "paper.yaml"},
        },
    }
    folder = configure(tmp_path_factory.mktemp("printed"), config)
    (folder / "paper.yaml").write_text(PAPER, "utf-8")
    snakemake(folder, "--cores", "2", plug_ins=[PROJECT])
    return folder


def test_each_printed_number_has_ours_beside_it_for_either_selection(run):
    table = columns(run / "results/tables/paper.parquet")
    rows = list(zip(*(table[k] for k in ("dataset", "method", "selected_on", "verdict")), strict=True))
    assert ("wine", "gs", "training rows", "different") in rows and ("wine", "gs", "all rows", "different") in rows
    assert ("wine", "iamb", "", "not comparable") in rows
    assert ("digits", "gs", "", "not comparable") in rows  # which it was told to leave out
    assert {row[2] for row in rows if row[:2] == ("digits", "all")} == {"training rows", "all rows"}
    assert (run / "results/tables/paper.csv").exists()
    scores = columns(run / "results/evaluate/wine/gs.parquet")
    i = rows.index(("wine", "gs", "training rows", "different"))
    assert table["ours"][i] == pytest.approx(sum(scores["value"]) / 4) and table["n_partitions"][i] == 2


def test_each_claim_is_judged_by_the_data_sets_that_both_were_run_on(run):
    table = columns(run / "results/tables/paper-claims.parquet")
    rows = list(zip(*(table[k] for k in ("measure", "method", "other", "n_datasets", "verdict")), strict=True))
    assert rows == [
        ("accuracy", "all", "gs", 1, "undecided"),
        ("accuracy", "all", "iamb", 0, "not comparable"),
        ("n-features", "gs", "all", 1, "undecided"),
        ("seconds", "all", "gs", 1, "undecided"),
    ]
    assert table["wins"][2] == 1 and table["median_difference"][2] < 0
    assert (run / "results/tables/paper-claims.csv").exists()


def test_the_optimistic_scores_are_of_the_final_blanket(run):
    final = columns(run / "results/select/wine/full/gs/blanket.parquet")
    scores = columns(run / "results/evaluate/wine/all-rows/gs.parquet")
    assert set(scores["n_features"]) == {sum(final["chosen"])}
    assert scores["split"] == ["cv-1", "cv-2", "cv-3", "cv-4"]
    table = columns(run / "results/tables/optimism.parquet")
    differences = dict(zip(zip(table["dataset"], table["selector"], strict=True), table["difference"], strict=True))
    assert differences["wine", "all"] == 0  # all features are all features
    assert abs(differences["digits", "all"]) < 0.01  # but for pixels that are of one value in the training rows
    honest = columns(run / "results/evaluate/wine/gs.parquet")["value"]
    assert differences["wine", "gs"] == pytest.approx((sum(scores["value"]) - sum(honest)) / 4)


def test_a_selector_of_some_data_sets_leaves_the_others_out(run):
    assert not (run / "results/select/iris/full/gs").exists()
    assert (run / "results/select/wine/full/gs").exists()


def test_files_that_are_missing_are_named_and_made_again(run):
    assert "evaluate_optimistic" in check_says_what_is_missing(run, [PROJECT])
    path = run / "results/tables/paper-claims.csv"
    path.rename(run / "aside")
    assert (
        blanketflow(run, "check", "--configfile", "my.yaml", plug_ins=[PROJECT]).stdout
        == f"{path.relative_to(run)}: missing\n"
    )
    assert set(counts(planned(run))) == {"further_table"}
    (run / "aside").rename(path)


def test_a_corrected_print_makes_its_table_again_and_nothing_else(run):
    path = run / "paper.yaml"
    path.write_text(PAPER.replace("0.01", "0.99"), "utf-8")
    assert {job[0] if isinstance(job, tuple) else job for job in planned(run)} == {"further_table"}
