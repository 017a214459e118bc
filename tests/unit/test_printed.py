"""Ours beside printed numbers, against arithmetic done by hand."""

import math
from pathlib import Path

import pandas as pd
import pytest
import yaml

from blanketflow.core.errors import ConfigError
from blanketflow.workflow import collect
from studies.papers.comparison import compare_with_printed
from studies.papers.printed_tables import MEASURES, read_printed

PUBLISHED = Path(__file__).parents[2] / "studies" / "papers" / "published"
TABLE = {"table": 2, "measure": "accuracy", "model": "tree", "columns": ["gs"], "rows": {"iris": ["0.80"]}}


def printed(tmp_path, **keys):
    path = tmp_path / "paper.yaml"
    path.write_text(yaml.safe_dump([TABLE | keys]), "utf-8")
    return read_printed(path)


def scored(values, selector="gs", metric="accuracy", model="tree", n_features=(), selected_on=collect.HONEST):
    """Rows of cv-1, cv-2, ... on iris; a value that is None failed."""
    return pd.DataFrame(
        [
            {"dataset": "iris", "selector": selector, "split": f"cv-{i}", "model": model, "metric": metric}
            | {"value": math.nan if value is None else value, "selected_on": selected_on, "seconds": 1.0}
            | {"n_features": n_features[i - 1] if n_features else 3}
            | {"status": "error" if value is None else "ok", "reason": "it broke" if value is None else ""}
            for i, value in enumerate(values, 1)
        ]
    )


def only(frame):
    assert len(frame) == 1
    return frame.iloc[0]


def test_noise_is_that_of_one_more_partition(tmp_path):
    row = only(compare_with_printed(printed(tmp_path), scored([0.8, 0.9, 0.7, 0.8]), n_folds=2))
    assert row["ours"] == pytest.approx(0.8) and row["n_partitions"] == 2  # partitions of 0.85 and 0.75
    # Student's t of 0.975 with one degree of freedom is 12.706; 0.005 is what 0.80 is rounded by
    assert row["noise"] == pytest.approx(12.706205 * math.sqrt(0.005) * math.sqrt(1 + 1 / 2) + 0.005)
    assert row["difference"] == pytest.approx(0, abs=1e-12) and row["verdict"] == "undecided"


def test_a_single_partition_has_the_noise_of_its_folds(tmp_path):
    row = only(compare_with_printed(printed(tmp_path), scored([0.7, 0.9]), n_folds=2))
    assert row["n_partitions"] == 1
    assert row["noise"] == pytest.approx(12.706205 * math.sqrt(0.02) * math.sqrt(1 / 2 + 1 / 2) + 0.005)


def test_a_single_split_does_not_tell(tmp_path):
    row = only(compare_with_printed(printed(tmp_path), scored([0.9]), n_folds=2))
    assert row["ours"] == 0.9 and row["difference"] == pytest.approx(0.1) and math.isnan(row["noise"])
    assert row["verdict"] == "not comparable" and "a single split" in row["reason"]


def test_a_search_that_failed_has_no_number_of_features(tmp_path):
    table = printed(tmp_path, measure="n_features", model=None, rows={"iris": ["2"]})
    row = only(compare_with_printed(table, scored([0.8, None, 0.8, 0.8], n_features=[2, 0, 2, 2]), n_folds=2))
    assert row["reason"] == "ours has no value on 1 of 4 splits; cv-2: error, it broke"
    # An empty blanket was found, and scored: it has none.
    row = only(compare_with_printed(table, scored([0.8, 0.5, 0.8, 0.8], n_features=[2, 0, 2, 2]), n_folds=2))
    assert row["ours"] == 1.5


@pytest.mark.parametrize(
    ("measure", "ours", "cells", "verdict"),
    [
        ("accuracy", 0.82, ["0.80", "0.90"], "reproduced"),
        ("accuracy", 0.95, ["0.80", "0.90"], "different"),
        ("accuracy", 0.804, ["0.80", "0.80"], "undecided"),  # 0.80 may be 0.8049, and nothing else is printed
        ("accuracy", 0.804, ["0.80", "0.808"], "vacuous"),
        ("accuracy", 0.806, ["0.80", "0.80"], "different"),
        ("accuracy_percent", 0.82, ["80", "90"], "reproduced"),
        ("error", 0.82, ["0.20", "0.10"], "reproduced"),
        ("error_percent", 0.82, ["20.0", "10.0"], "reproduced"),
        ("root-mean-squared-error", 9.0, ["3", "6"], "reproduced"),
        ("root-mean-squared-error", 36.0, ["3", "6"], "different"),
        ("n_features", 3, ["3", "9"], "reproduced"),
        ("n_features", 3, ["30", "9"], "different"),  # fewer, and no word of better
    ],
)
def test_verdicts_are_in_the_unit_of_the_measure(tmp_path, measure, ours, cells, verdict):
    metric = MEASURES[measure.replace("_", "-")].metric
    run = scored([ours] * 4, metric=metric) if metric else scored([0.8] * 4, n_features=[ours] * 4)
    keys = {"measure": measure, "columns": ["gs", "iamb"], "rows": {"iris": cells}}
    found = compare_with_printed(printed(tmp_path, **keys), run, n_folds=2).set_index("method")
    assert found["verdict"].to_dict() == {"gs": verdict, "iamb": "not comparable"}


def test_the_methods_of_a_row_are_those_that_can_be_compared(tmp_path):
    keys = {"columns": ["all", "gs", "iamb", "mmpc"], "rows": {"iris": ["0.1", "0.80", "0.90", "0.2"]}}
    (table,) = printed(tmp_path, **keys, not_comparable={"mmpc": "a misprint"})
    assert table.methods_of("iris") == [0.8, 0.9]


def test_of_several_selectors_the_best_counts(tmp_path):
    run = pd.concat([scored([0.8] * 4, "gs-5"), scored([0.9] * 4, "gs-10"), scored([0.7] * 4, "gs-15")])
    table = printed(tmp_path, selectors={"gs": ["gs-5", "gs-10", "gs-15"]})
    row = only(compare_with_printed(table, run, n_folds=2))
    assert (row["selector"], row["ours"]) == ("gs-10", 0.9)
    table = printed(tmp_path, measure="error", selectors={"gs": ["gs-5", "gs-10", "gs-15"]})
    assert only(compare_with_printed(table, run, n_folds=2))["selector"] == "gs-10"


def test_options_of_a_row_name_its_selector(tmp_path):
    table = printed(tmp_path, selectors={"gs": "gs-{m}"}, options={"iris": {"m": 3}})
    assert table[0].candidates("iris", "gs") == ["gs-3"]
    assert only(compare_with_printed(table, scored([0.8] * 4, "gs-3"), n_folds=2))["selector"] == "gs-3"


def test_each_kind_of_selection_has_its_row(tmp_path):
    run = pd.concat([scored([0.7] * 4), scored([0.8] * 4, selected_on=collect.OPTIMISTIC)])
    rows = compare_with_printed(printed(tmp_path), run, n_folds=2).set_index("selected_on")["verdict"]
    assert dict(rows) == {"training rows": "different", "all rows": "undecided"}


def test_what_cannot_be_compared_says_why(tmp_path):
    def verdict(run, **keys):
        row = only(compare_with_printed(printed(tmp_path, **keys), run, n_folds=2))
        return row["verdict"], row["reason"]

    good = scored([0.8] * 4)
    assert verdict(scored([None] * 4)) == ("not comparable", "ours has no value: error, it broke")
    assert verdict(scored([0.8, None, 0.8, 0.8])) == (
        "not comparable",
        "ours has no value on 1 of 4 splits; cv-2: error, it broke",
    )
    assert verdict(scored([0.8] * 4, "iamb")) == ("not comparable", "not run")
    assert verdict(good, rows={"iris": ["-"]}) == ("not comparable", "the paper prints no number")
    for key in ("iris", "gs", "iris/gs"):
        assert verdict(good, not_comparable={key: "other rows"}) == ("not comparable", "other rows")
    assert compare_with_printed(
        printed(tmp_path, rows={"wine": ["0.8"]}), good, n_folds=2
    ).empty  # a data set that was not run


@pytest.mark.parametrize(
    ("cell", "value", "rounding", "spread"),
    [("0.9278 ± 0.02", 0.9278, 0.00005, 0.02), ("32,684", 32684, 0.5, None), ("12", 12, 0.5, None)],
)
def test_cells_keep_their_digits(tmp_path, cell, value, rounding, spread):
    found = printed(tmp_path, rows={"iris": [cell]})[0].cells["iris", "gs"]
    assert (found.value, found.rounding, found.spread) == (value, pytest.approx(rounding), spread)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1", "must be a list of tables"),
        ("[1]", "must be a list of tables"),
        ("[", "cannot be read"),
        ("[{measure: accuracy, columns: [a], rows: {b: [1]}}]", "an entry without a table. Add the table's number"),
        ("[{table: 1, measure: accuracy, rows: {b: [1]}}]", "table 1 has no columns. Add it."),
        ("[{table: 1, measure: accuracy, columns: [a], rows: {b: [1, 2]}}]", "row 'b' must have 1 cells"),
        ("[{table: 1, measure: accuracy, columns: [a], rows: {b: [[1]]}}]", "row 'b' holds .* where a number"),
        (
            "[{table: 1, measure: error, columns: [a], rows: {b: [1]}, selectors: {c: d}}]",
            "names 'c', which is not a column",
        ),
    ],
)
def test_files_that_cannot_be_used_are_refused(tmp_path, text, message):
    path = tmp_path / "paper.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=message):
        read_printed(path)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_printed(tmp_path / "none.yaml")


@pytest.mark.parametrize("name", ["ppfs", "srs", "gs_m", "hsmb", "unified_view"])
def test_the_files_of_the_papers_are_read(name):
    tables = read_printed(PUBLISHED / f"{name}.yaml")
    assert all(table.measure in MEASURES and table.cells for table in tables)
    assert bool(tables) == (name != "gs_m")  # whose figures print no numbers


def test_a_printed_average_is_that_of_its_column():
    (table,) = (t for t in read_printed(PUBLISHED / "ppfs.yaml") if t.table == "7")
    for column in ("all", "permutation-importance", "stepwise", "ppfs"):
        rows = ("arcene", "dexter", "dorothea", "madelon")
        assert sum(table.cells[row, column].value for row in rows) / 4 == pytest.approx(
            table.cells["average", column].value, abs=0.5
        )


def test_of_several_sizes_the_one_that_predicts_best_is_counted(tmp_path):
    few = pd.concat([scored([0.8] * 4, "mrmr-2", n_features=[2] * 4), scored([0.9] * 4, "mrmr-2", model="svm")])
    many = pd.concat([scored([0.9] * 4, "mrmr-4", n_features=[4] * 4), scored([0.8] * 4, "mrmr-4", model="svm")])
    run = pd.concat([few, many])
    keys = {"columns": ["mrmr"], "selectors": {"mrmr": ["mrmr-2", "mrmr-4"]}, "measure": "n_features"}
    keys |= {"rows": {"iris": ["2/4"]}, "cells_of": ["svm", "tree"], "chosen_by": "accuracy"}
    found = compare_with_printed(printed(tmp_path, **keys), run, n_folds=2)
    assert found[["model", "printed", "selector", "ours", "verdict"]].values.tolist() == [
        ["svm", 2.0, "mrmr-2", 2.0, "undecided"],
        ["tree", 4.0, "mrmr-4", 4.0, "undecided"],
    ]
    # Without it the fewest would be.
    del keys["chosen_by"]
    found = compare_with_printed(printed(tmp_path, **keys), run, n_folds=2)
    assert found["selector"].tolist() == ["mrmr-2", "mrmr-2"]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"cells_of": ["svm", "tree"], "rows": {"iris": ["1/2/3"]}}, "holds '1/2/3', but cells_of names 2 models"),
        ({"cells_of": "svm"}, "cells_of must be a list of models, but is 'svm'"),
        ({"chosen_by": "acuracy"}, "chosen_by is 'acuracy', which is not a measure. Did you mean 'accuracy'"),
    ],
)
def test_cells_of_models_and_the_choice_among_sizes_are_checked(tmp_path, keys, message):
    with pytest.raises(ConfigError, match=message):
        printed(tmp_path, **keys)


def test_a_run_without_evaluation_has_nothing_to_set_beside_printed_scores(tmp_path):
    assert compare_with_printed(printed(tmp_path), collect.both_selections([], []), n_folds=0).empty
