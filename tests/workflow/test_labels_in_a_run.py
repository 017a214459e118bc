"""A table whose features stand in rows, and its labels in another file, in a run; and what runs when these change."""

import numpy as np
import pandas as pd
import pytest

from workflow_runs import WITHOUT_TABLES, chosen, configure, counts, planned, snakemake

pytestmark = [pytest.mark.workflow, pytest.mark.extended]


def test_other_labels_make_the_table_and_what_follows_again_and_the_same_make_nothing(tmp_path):
    rng = np.random.default_rng(8)
    samples = [f"GSM{i}" for i in range(60)]
    X = pd.DataFrame(rng.normal(size=(25, 60)), index=[f"p{j}_at" for j in range(25)], columns=samples)
    lines = X.to_csv(sep="\t", index_label="ID_REF").splitlines()
    text = ['!Series_title\t"made"', "!series_matrix_table_begin", *lines, "!series_matrix_table_end", ""]
    (tmp_path / "series.txt").write_text("\n".join(text), encoding="utf-8")

    def label(probe):
        classes = np.where(X.loc[probe] > 0, "ill", "well")
        pd.DataFrame({"geo": samples, "dx": classes}).to_csv(tmp_path / "labels.csv", index=False)

    label("p3_at")
    labels = {"path": "labels.csv", "by": "geo", "target": "dx"}
    asked = {"path": "series.txt", "orient": "features-in-rows", "labels": labels}
    selectors = {"mrmr": {"method": "mrmr", "n_features": 1}}
    configure(tmp_path, {"datasets": {"geo": asked}, "splits": {"evaluation": 0}, "folds": 0, "selectors": selectors})
    snakemake(tmp_path, "--cores", "1", *WITHOUT_TABLES)
    assert chosen(tmp_path / "results", "geo", "full", "mrmr") == ["p3_at"]
    label("p3_at")  # the same again, at another time
    assert planned(tmp_path, *WITHOUT_TABLES) == []
    label("p7_at")
    assert counts(planned(tmp_path, *WITHOUT_TABLES), "dataset")["table", "geo"] == 1
    snakemake(tmp_path, "--cores", "1", *WITHOUT_TABLES)
    assert chosen(tmp_path / "results", "geo", "full", "mrmr") == ["p7_at"]
