"""Claims of papers judged by a run, against counts and exact tests done by hand."""

import math
from pathlib import Path

import pandas as pd
import pytest
import yaml

from blanketflow.core.errors import ConfigError
from blanketflow.printed import judge, read_claims

PUBLISHED = Path(__file__).parents[1] / "published"
ENTRY = {"figure": 5, "measure": "error", "model": "tree"}


def claims(tmp_path, claim, **keys):
    path = tmp_path / "paper.yaml"
    path.write_text(yaml.safe_dump([{**ENTRY, **keys, "claims": [{"claim": "as said", **claim}]}]), "utf-8")
    return read_claims(path)


def run(**accuracies):
    """Rows of one split of a tree on the data sets a, b, c, ...; None where it failed."""
    return pd.DataFrame(
        [
            {"dataset": dataset, "selector": selector, "model": "tree", "metric": "accuracy", "n_features": 3}
            | {"value": math.nan if value is None else value, "split": "cv-1"}
            for selector, values in accuracies.items()
            for dataset, value in zip("abcdefghij", values, strict=False)
        ]
    )


def only(frame):
    assert len(frame) == 1
    return frame.iloc[0]


BETTER = {"better": "srs", "than": ["res"]}
ALL_BETTER = run(srs=[0.9, 0.8, 0.95, 0.7, 0.99, 0.6], res=[0.8, 0.6, 0.65, 0.3, 0.49, 0.0])


def test_six_of_six_is_enough_and_five_of_five_is_not(tmp_path):
    row = only(judge(claims(tmp_path, BETTER), ALL_BETTER, {}))
    # All six ranks on one side: 2 of the 2**6 ways to give signs.
    assert row["p_value"] == pytest.approx(2 / 64) and row["verdict"] == "holds"
    assert (row["wins"], row["ties"], row["losses"]) == (6, 0, 0) and row["reason"] == "6 better, 0 equal, 0 worse"
    assert row["median_difference"] == pytest.approx(-0.35)  # of the error
    five = ALL_BETTER[ALL_BETTER["dataset"] != "f"]
    row = only(judge(claims(tmp_path, BETTER), five, {}))
    assert row["p_value"] == pytest.approx(2 / 32) and row["verdict"] == "undecided"


def test_a_claim_can_be_the_other_way_round(tmp_path):
    row = only(judge(claims(tmp_path, {"better": "res", "than": ["srs"]}), ALL_BETTER, {}))
    assert row["verdict"] == "the other way round" and row["losses"] == 6


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ({"equivalent": [["srs", "res"]]}, "srs is better"),
        ({"competitive": "res", "with": ["srs"]}, "srs is better"),
        ({"equivalent": [["srs", "srs"]]}, "no difference seen"),
    ],
)
def test_methods_said_to_be_equal(tmp_path, claim, verdict):
    assert only(judge(claims(tmp_path, claim), ALL_BETTER, {}))["verdict"] == verdict


def test_only_data_sets_of_both_and_of_the_claim_count(tmp_path):
    found = run(srs=[0.9, 0.9, None, 0.9], res=[0.8, 0.9, 0.5])
    row = only(judge(claims(tmp_path, BETTER), found, {}))
    assert (row["n_datasets"], row["wins"], row["ties"]) == (2, 1, 1)
    row = only(judge(claims(tmp_path, {**BETTER, "datasets": ["b*", "d"]}), found, {}))
    assert (row["n_datasets"], row["ties"], row["p_value"]) == (1, 1, 1.0)
    row = only(judge(claims(tmp_path, {**BETTER, "than": ["iamb"]}), found, {}))
    assert row["verdict"] == "not comparable" and row["reason"] == "no data set was run with both"


def test_of_several_selectors_of_a_method_the_best_counts(tmp_path):
    found = run(mrmr2=[0.9, 0.2], mrmr4=[0.2, 0.9], res=[0.8, 0.8])
    claim = {"better": "mrmr", "than": ["res"]}
    row = only(judge(claims(tmp_path, claim, selectors={"mrmr": ["mrmr2", "mrmr4"]}), found, {}))
    assert row["wins"] == 2


def test_seconds_and_f1_come_from_the_tables_of_the_run(tmp_path):
    tables = {
        "runtime": pd.DataFrame({"dataset": ["a", "a"], "selector": ["srs", "res"], "selection_seconds": [1.0, 3.0]}),
        "truth": pd.DataFrame({"dataset": ["a", "a"], "selector": ["srs", "res"], "f1": [0.5, 0.75]}),
    }
    row = only(judge(claims(tmp_path, {**BETTER, "measure": "seconds"}), ALL_BETTER, tables))
    assert (row["measure"], row["wins"], row["median_difference"]) == ("seconds", 1, -2.0)
    row = only(judge(claims(tmp_path, {**BETTER, "measure": "f1"}), ALL_BETTER, tables))
    assert (row["losses"], row["median_difference"]) == (1, -0.25)


def test_a_claim_needs_words(tmp_path):
    path = tmp_path / "paper.yaml"
    path.write_text(yaml.safe_dump([{**ENTRY, "claims": [BETTER]}]), "utf-8")
    with pytest.raises(ConfigError, match="has a claim without words"):
        read_claims(path)


@pytest.mark.parametrize("paper", ["srs", "gs_m"])
def test_the_claims_of_the_papers_can_be_read(paper):
    found = read_claims(PUBLISHED / f"{paper}.yaml")
    assert found and all(claim.method != claim.other for claim in found)
    assert {claim.said for claim in found} <= {"better", "competitive", "equivalent"}
