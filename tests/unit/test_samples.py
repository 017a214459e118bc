"""Tables whose features stand in rows, and labels of samples in another file."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from blanketflow.config.reading import checked_dataset
from blanketflow.core.column import MatrixColumns
from blanketflow.core.errors import ConfigError, DataError
from blanketflow.data.dialect import found_line
from blanketflow.data.download import with_copies
from blanketflow.data.sources import read_columns, read_source, source_files
from blanketflow.workflow.peek import peek
from blanketflow.workflow.plan import make_plan

RNG = np.random.default_rng(4)
X = pd.DataFrame(
    RNG.normal(size=(12, 30)).round(3), columns=[f"g{j}" for j in range(30)], index=[f"S{i:02d}" for i in range(12)]
)
LABELS = pd.DataFrame({"sample": X.index[::-1], "age": range(40, 52), "dx": ["ill", "well"] * 6})
TURNED = {"orient": "features-in-rows", "labels": {"path": "labels.csv", "by": "sample", "target": "dx"}}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    LABELS.to_csv("labels.csv", index=False)
    turned = X.T.rename_axis("gene").reset_index()
    turned.to_csv("genes.csv", index=False)
    turned.to_parquet("genes.parquet")
    turned.to_excel("genes.xlsx", index=False)
    X.T.to_csv("unnamed.tsv", sep="\t")
    X.T.to_csv("of_r.txt", sep=" ", index_label=False)
    X.rename_axis("sample").to_csv("upright.csv")
    X.to_csv("rows_without_name.csv")
    return tmp_path


def raw_of(path, **keys):
    spec = checked_dataset("t", {"path": path, **keys})
    raw = read_source("t", spec, 0)
    facts = peek("t", spec)
    assert (facts.n_rows, facts.n_features) == (raw.features.n_rows, len(raw.features))
    assert facts.found == found_line(raw.found)
    return raw


def numbers(raw):
    return np.column_stack([column.numbers() for column in raw.features.columns])


@pytest.mark.parametrize("path", ["genes.csv", "genes.parquet", "genes.xlsx", "unnamed.tsv", "of_r.txt"])
def test_features_in_rows_are_the_upright_table(path):
    raw = raw_of(path, **TURNED)
    assert raw.features.names == list(X) and np.array_equal(numbers(raw), X.to_numpy())
    dx = LABELS.set_index("sample").loc[X.index, "dx"]
    assert [raw.target.levels[code] for code in raw.target.values] == dx.tolist()
    (age,) = [one.what for one in raw.found if "labels.csv" in one.what]
    assert age == "columns of labels.csv that are no features unless columns of labels lists them: age"


@pytest.mark.parametrize("path", ["upright.csv", "rows_without_name.csv"])
@pytest.mark.parametrize("columns", [["age"], "all"])
def test_labels_of_an_upright_table(path, columns):
    raw = raw_of(path, labels={"path": "labels.csv", "by": "sample", "target": "dx", "columns": columns})
    assert raw.features.names == [*X, "age"] and raw.target.name == "dx"
    assert raw.features["age"].values.tolist() == LABELS.set_index("sample").loc[X.index, "age"].tolist()
    assert not raw.found


def test_what_does_not_match_is_counted_and_named():
    LABELS.drop(index=[3, 4]).replace("S11", "S99").to_csv("labels.csv", index=False)
    raw = raw_of("genes.csv", **TURNED)
    told = found_line(raw.found)
    assert raw.features.n_rows == 9
    assert "3 of 12 samples are not in labels.csv and are left out: S07, S08, S11" in told
    assert "1 of 10 rows of labels.csv are of no sample of the table: S99" in told


def test_a_sample_may_have_several_rows_and_only_one_of_labels():
    pd.concat([X, X]).rename_axis("sample").to_csv("upright.csv")
    assert raw_of("upright.csv", labels=TURNED["labels"], groups="sample").features.n_rows == 24
    pd.concat([LABELS, LABELS[:1]]).to_csv("labels.csv", index=False)
    with pytest.raises(DataError, match=r"labels\.csv has 'S11' in more than one row of 'sample'"):
        raw_of("upright.csv", labels=TURNED["labels"])


def test_ids_are_texts_and_labels_are_written_in_their_own_way():
    upright = X.set_axis([f"{i:03d}" for i in range(12)]).rename_axis("number")
    upright.to_csv("upright.csv")
    labels = LABELS.assign(sample=upright.index[::-1], age=LABELS["age"] + 0.5)
    labels.to_csv("labels.csv", index=False, sep=";", decimal=",")
    labels_of = {"path": "labels.csv", "by": ["number", "sample"], "target": "age"}
    raw = raw_of("upright.csv", labels=labels_of)
    assert raw.task.name == "regression" and raw.target.values.tolist() == labels["age"].tolist()[::-1]
    assert "decimal commas in age in labels.csv" in found_line(raw.found)
    assert "set decimal of labels" in found_line(raw.found)
    assert "decimal" not in found_line(raw_of("upright.csv", labels={**labels_of, "decimal": ","}).found)


def test_rows_of_texts_and_numbers_and_columns_that_are_no_samples():
    turned = X.T.rename_axis("gene").reset_index()
    turned.insert(1, "about", [f"what {j} does" for j in range(30)])
    turned.to_csv("genes.csv", index=False)
    raw = raw_of("genes.csv", **TURNED)
    assert np.array_equal(numbers(raw), X.to_numpy())
    assert "1 columns of text that are no samples, left out: about" in found_line(raw.found)
    dx = [["dx", *LABELS.set_index("sample").loc[X.index, "dx"]]]
    mixed = pd.concat([pd.DataFrame(dx, columns=["gene", *X.index]), X.T.rename_axis("gene").reset_index()])
    mixed.to_csv("genes.csv", index=False)
    raw = raw_of("genes.csv", orient="features-in-rows", target="dx")
    assert np.array_equal(numbers(raw), X.to_numpy()) and raw.target.levels == ("ill", "well")


def test_the_column_with_the_names_and_names_that_occur_twice():
    turned = X.T.rename_axis("gene").reset_index()
    turned.insert(0, "symbol", ["same", "same", *[f"s{j}" for j in range(28)]])
    turned.to_csv("genes.csv", index=False)
    assert raw_of("genes.csv", **TURNED, feature_names="gene").features.names == list(X)
    with pytest.raises(DataError, match="set duplicate_names: number"):
        raw_of("genes.csv", **TURNED)
    assert raw_of("genes.csv", **TURNED, duplicate_names="number").features.names[:3] == ["same", "same_2", "s0"]


def test_a_table_that_lies_on_its_side_is_said_and_never_turned_unasked():
    for path in ("genes.csv", "unnamed.tsv"):
        loaded = read_columns("t", {"path": path})
        told = found_line(loaded.found)
        assert loaded.columns[-1].name == "S11" and "features may stand in rows" in told
        assert "orient: features-in-rows" in told
        assert "stand in rows" not in (
            found_line(read_columns("t", {"path": path, "orient": "samples-in-rows"}).found) or ""
        )
    assert "stand in rows" not in (found_line(read_columns("t", {"path": "upright.csv"}).found) or "")


def test_a_target_that_is_not_there_names_the_key_that_turns_the_table():
    spec = checked_dataset("t", {"path": "genes.csv", "target": "dx"})
    for look in (read_source, peek):
        with pytest.raises(
            DataError, match=r"'dx', which is not there.* Features may stand in rows.*orient: features-in"
        ):
            look("t", spec, 0)
    assert "stand in rows" in peek("t", checked_dataset("t", {"path": "genes.csv", "target": "S03"})).found


def test_a_wide_table_stays_one_matrix():
    wide = pd.DataFrame(RNG.normal(size=(3000, 40)), columns=[f"S{i:02d}" for i in range(40)]).rename_axis("probe")
    wide.to_csv("wide.csv")
    columns = read_columns("t", {"path": "wide.csv", "orient": "features-in-rows"}).columns
    assert isinstance(columns, MatrixColumns) and columns.matrix.shape == (40, 3000)
    assert np.array_equal(columns.matrix, wide.to_numpy().T)


def test_the_file_of_labels_is_an_input():
    assert [path.rpartition("/")[2] for path in source_files("t", {"path": "genes.csv", **TURNED})] == [
        "genes.csv",
        "labels.csv",
    ]


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ("labels.csv", "must name a file and a column"),
        ({"path": "labels.csv", "by": 3}, "has by: 3"),
        ({"path": "labels.csv", "by": "sample", "targt": "dx"}, "Did you mean 'target'"),
        ({"path": "labels.csv", "by": "sampl", "target": "dx"}, "Did you mean 'sample'"),
        ({"path": "labels.csv", "by": "sample", "target": "dxx"}, "Did you mean 'dx'"),
        ({"path": "label.csv", "by": "sample", "target": "dx"}, r"no file label\.csv"),
        ({"path": "labels.csv", "by": "age", "target": "dx"}, "Name the columns of the ids under by"),
        ({"path": "labels.csv", "by": "sample", "columns": 3}, "must be a list of names, or all"),
    ],
)
def test_what_is_wrong_is_said(labels, told):
    with pytest.raises((ConfigError, DataError), match=told):
        read_columns("t", checked_dataset("t", {"path": "genes.csv", **TURNED, "labels": labels}))
    with pytest.raises(ConfigError, match="Set orient: features-in-rows"):
        read_columns("t", {"path": "genes.csv", "feature_names": "gene"})


SERIES = """\
!Series_title\t"Biopsies of two kinds"
!Series_sample_id\t"GSM1 GSM2 GSM3 GSM4 "

!Sample_title\t"biopsy 1"\t"biopsy 2"\t"biopsy 3"\t"biopsy 4"
!Sample_geo_accession\t"GSM1"\t"GSM2"\t"GSM3"\t"GSM4"
!Sample_status\t"Public on Jan 01 2020"\t"Public on Jan 01 2020"\t"Public on Jan 01 2020"\t"Public on Jan 01 2020"
!Sample_characteristics_ch1\t"disease state: ill"\t"disease state: well"\t"disease state: ill"\t"disease state: well"
!Sample_characteristics_ch1\t"age: 61"\t"age: NA"\t"Sex: f"\t"age: 48"
!Sample_characteristics_ch1\t"Sex: m"\t"Sex: f"\t""\t"Sex: m"
!Sample_description\t"rapid: frozen"\t"slow"\t"slow"\t"slow"
!series_matrix_table_begin
"ID_REF"\t"GSM2"\t"GSM1"\t"GSM3"\t"GSM4"
"p1_at"\t8.5\t6.25\t7\t6
"p2_at"\t1.5\t2.25\t3\t4
"p3_at"\t0.5\t0.25\t\t1
!series_matrix_table_end
"""


def series(**keys):
    with open("series.txt", "w", encoding="utf-8") as file:
        file.write(SERIES)
    return raw_of("series.txt", orient="features-in-rows", **keys)


@pytest.mark.parametrize("keys", [{}, {"comment": "!"}])
def test_what_a_series_matrix_says_of_its_samples_is_the_target(keys):
    raw = series(target="disease state", groups="Sex", **keys)
    assert raw.features.names == ["p1_at", "p2_at", "p3_at"]
    assert numbers(raw)[:, :2].tolist() == [[8.5, 1.5], [6.25, 2.25], [7, 3], [6, 4]]
    assert [raw.target.levels[code] for code in raw.target.values] == ["well", "ill", "ill", "well"]
    assert raw.groups.tolist()[0] == raw.groups.tolist()[2] != raw.groups.tolist()[1]


def test_a_series_matrix_names_what_it_says_of_its_samples():
    with pytest.raises(
        DataError, match=r"'state', which is not there.*!Sample_ .*title, disease state, age, Sex.*target"
    ):
        series(target="state")
    loaded = read_columns("t", {"path": "series.txt", "orient": "features-in-rows"})
    of = {column.name: column for column in loaded.columns}
    assert list(of) == ["p1_at", "p2_at", "p3_at", "sample", "title", "disease state", "age", "Sex", "description"]
    assert loaded.aside == {*of} - {"p1_at", "p2_at", "p3_at"}
    assert of["age"].kind == "integer" and np.array_equal(of["age"].values, [np.nan, 61, np.nan, 48], equal_nan=True)
    assert of["description"].levels == ("rapid: frozen", "slow")
    assert "target" in found_line(loaded.found)


def test_a_series_matrix_with_labels_in_another_file_takes_those():
    pd.DataFrame({"id": ["GSM1", "GSM2", "GSM3", "GSM4"], "age": [1.5, 2.5, 3.5, 4.25]}).to_csv("of.csv", index=False)
    raw = series(labels={"path": "of.csv", "by": "id", "target": "age"})
    assert raw.target.values.tolist() == [2.5, 1.5, 3.5, 4.25]


def test_a_series_matrix_that_is_not_turned_says_where_its_labels_are():
    turned = SERIES.replace('"\n"p', '"\n' + "".join(f'"q{i}_at"\t1.5\t{i}\t3\t4\n' for i in range(9)) + '"p', 1)
    wide = [line if line[:1] != '"' else line + "\t1\t2\t3" for line in turned.splitlines()]
    wide = [line.replace('GSM4"\t1\t2\t3', 'GSM4"\t"GSM5"\t"GSM6"\t"GSM7"') for line in wide]
    with open("series.txt", "w", encoding="utf-8") as file:
        file.write("\n".join(wide) + "\n")
    told = found_line(read_columns("t", {"path": "series.txt"}).found)
    assert "features-in-rows, and target to what its lines !Sample_ say of samples: title, disease state, age" in told
    with pytest.raises(DataError, match="target to what its lines !Sample_ say of samples: title, disease state, age"):
        peek("t", {"path": "series.txt", "target": "age"})


def test_labels_in_object_storage_are_inputs_by_the_rules_of_the_table(monkeypatch):
    labels = {**TURNED, "labels": {**TURNED["labels"], "path": "s3://lab/labels.csv"}}
    for path in ("genes.csv", "s3://lab/genes.csv"):
        spec = {"path": path, **labels}
        files = source_files("t", spec)
        assert [file.rpartition("/")[2] for file in files] == ["genes.csv", "labels.csv"] and files[
            1
        ] == "s3://lab/labels.csv"
        copied = with_copies(spec, lambda url: url.removeprefix("s3://lab/"))
        assert raw_of(copied.pop("path"), **{**copied, "target": None}).features.n_rows == 12
        raw = read_source("t", checked_dataset("t", spec), 0, ["genes.csv", "labels.csv"])
        assert raw.target.levels == ("ill", "well")
    with pytest.raises(DataError, match="only the workflow reads"):
        read_source("t", checked_dataset("t", {"path": "genes.csv", **labels}), 0)


def test_labels_that_are_no_mapping_are_refused_before_a_run():
    with pytest.raises(ConfigError, match=r"labels is 'labels\.csv', but must name a file and a column"):
        make_plan(
            {"datasets": {"t": {"path": "genes.csv", "labels": "labels.csv"}}, "selectors": {"a": {"method": "mim"}}},
            Path,
        )
