"""Configs of studies run in parts: which selectors a data set has, and how the papers' page takes up what was run."""

import pandas as pd
import pytest

SPECS = {"a": {"method": "all"}, "b": {"method": "bahsic", "datasets": ["one", "two"]}, "c": {"datasets": ["two"]}}


@pytest.mark.parametrize(
    ("dataset", "names", "wanted"),
    [
        ("one", None, {"a": {"method": "all"}, "b": {"method": "bahsic", "datasets": ["one"]}}),
        ("three", None, {"a": {"method": "all"}}),
        ("two", ["c"], {"c": {"datasets": ["two"]}}),
    ],
)
def test_a_data_set_has_its_own_selectors(dataset, names, wanted):
    from studies.shared.in_parts import selectors_of

    assert selectors_of(dataset, SPECS, names) == wanted


def test_the_page_takes_up_a_run_in_parts(tmp_path):
    from studies.papers.page import KEPT, renewed

    def cells(*datasets, selected_on="training rows"):
        rows = [dict.fromkeys(KEPT, "") | {"dataset": name, "selected_on": selected_on} for name in datasets]
        return pd.DataFrame(rows)

    for name, found in {"two": cells("two"), "one": cells("one"), "none": cells("none", selected_on="")}.items():
        (tmp_path / name).mkdir()
        found.to_parquet(tmp_path / name / "paper-p.parquet")
        cells("claims").to_parquet(tmp_path / name / "paper-p-claims.parquet")
    kept = pd.concat([cells("one").assign(run="other"), cells("one", "old").assign(run="mine")]).assign(ours="before")
    found = renewed(kept, "mine", [tmp_path / name for name in ("two", "one", "none", "absent")])
    assert found[["run", "dataset", "ours"]].to_numpy().tolist() == [
        ["other", "one", "before"],
        ["mine", "one", ""],
        ["mine", "old", "before"],
        ["mine", "two", ""],
    ]
    assert renewed(kept, "mine", [tmp_path / "none"]) is kept
    assert renewed(kept, "mine", [tmp_path / "two"], is_whole=True)["dataset"].tolist() == ["one", "two"]
