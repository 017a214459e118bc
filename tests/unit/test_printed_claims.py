"""Claims of papers judged by a run, against counts and exact tests done by hand."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from statsmodels.stats.multitest import multipletests

from blanketflow.ci.multiple_testing import holm
from blanketflow.core.errors import ConfigError
from blanketflow.workflow.collect import HONEST
from studies.papers.claims import judge, read_claims

PUBLISHED = Path(__file__).parents[2] / "studies" / "papers" / "published"
ENTRY = {"figure": 5, "measure": "error", "model": "tree"}


def claims(tmp_path, claim, **keys):
    path = tmp_path / "paper.yaml"
    path.write_text(yaml.safe_dump([{**ENTRY, **keys, "claims": [{"claim": "as said", **claim}]}]), "utf-8")
    return read_claims(path)


def run(**accuracies):
    """Rows of one split of a tree on the data sets d0, d1, ...; None where it failed."""
    return pd.DataFrame(
        [
            {"dataset": f"d{dataset}", "selector": selector, "model": "tree", "metric": "accuracy", "n_features": 3}
            | {"value": math.nan if value is None else value, "split": "cv-1", "selected_on": HONEST}
            for selector, values in accuracies.items()
            for dataset, value in enumerate(values)
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
    five = ALL_BETTER[ALL_BETTER["dataset"] != "d5"]
    row = only(judge(claims(tmp_path, BETTER), five, {}))
    assert row["p_value"] == pytest.approx(2 / 32) and row["verdict"] == "undecided"


def test_holms_correction_is_that_of_statsmodels():
    p = np.random.default_rng(0).uniform(size=30) ** 3
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1].tolist())
    assert holm([]) == []


def test_p_values_of_one_measure_are_corrected_for_each_other(tmp_path):
    scores = run(srs=[0.9, 0.8, 0.95, 0.7, 0.99, 0.6], res=[0.8, 0.6, 0.65, 0.3, 0.49, 0.0], gs=[0.0] * 5 + [None])
    found = judge(claims(tmp_path, {"better": "srs", "than": ["res", "gs", "absent"]}), scores, {})
    assert found["p_value"].tolist() == pytest.approx([2 / 64, 2 / 32, math.nan], nan_ok=True)
    assert found["p_holm"].tolist() == pytest.approx([2 * 2 / 64, 2 / 32, math.nan], nan_ok=True)
    alone = judge(claims(tmp_path, {"better": "srs", "than": ["res"]}), scores, {})
    assert alone["p_holm"].tolist() == alone["p_value"].tolist()


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
    row = only(judge(claims(tmp_path, {**BETTER, "datasets": ["*1", "d3"]}), found, {}))
    assert (row["n_datasets"], row["ties"], row["p_value"]) == (1, 1, 1.0)
    row = only(judge(claims(tmp_path, {**BETTER, "than": ["iamb"]}), found, {}))
    assert row["verdict"] == "not comparable" and row["reason"] == "no data set was run with both"


def test_of_several_selectors_of_a_method_the_best_counts(tmp_path):
    found = run(mrmr2=[0.9, 0.2], mrmr4=[0.2, 0.9], res=[0.8, 0.8])
    claim = {"better": "mrmr", "than": ["res"]}
    row = only(judge(claims(tmp_path, claim, selectors={"mrmr": ["mrmr2", "mrmr4"]}), found, {}))
    assert row["wins"] == 2


def test_the_ranks_tell_which_is_the_better_not_the_count_of_wins(tmp_path):
    # 21 differences of ranks 1 to 21 below zero and 19 of ranks 22 to 40 above it: sums of 231 and 589.
    steps = [-0.001 * i for i in range(1, 22)] + [0.001 * i for i in range(22, 41)]
    found = run(srs=[0.5 + step for step in steps], res=[0.5] * 40)
    row = only(judge(claims(tmp_path, BETTER), found, {}))
    # The sum of ranks has a mean of 40 * 41 / 4 and a variance of 40 * 41 * 81 / 24.
    z = (589 - 410) / math.sqrt(40 * 41 * 81 / 24)
    assert row["p_value"] == pytest.approx(math.erfc(z / math.sqrt(2)), abs=1e-3) and row["p_value"] < 0.05
    assert (row["wins"], row["losses"], row["verdict"]) == (19, 21, "holds")
    row = only(judge(claims(tmp_path, {"better": "res", "than": ["srs"]}), found, {}))
    assert row["verdict"] == "the other way round"
    row = only(judge(claims(tmp_path, {"equivalent": [["res", "srs"]]}), found, {}))
    assert row["verdict"] == "srs is better"


def of_tables(**failed):
    pair = {"dataset": ["d0", "d0"], "selector": ["srs", "res"]}
    statuses = {**pair, "stage": ["select", "select"], "status": [failed.get(s, "ok") for s in pair["selector"]]}
    return {
        "runtime": pd.DataFrame({**pair, "selection_seconds": [1.0, 3.0]}),
        "truth": pd.DataFrame({**pair, "f1": [0.5, 0.75]}),
        "statuses": pd.DataFrame(statuses),
    }


def test_seconds_and_f1_come_from_the_tables_of_the_run(tmp_path):
    row = only(judge(claims(tmp_path, {**BETTER, "measure": "seconds"}), ALL_BETTER, of_tables()))
    assert (row["measure"], row["wins"], row["median_difference"]) == ("seconds", 1, -2.0)
    row = only(judge(claims(tmp_path, {**BETTER, "measure": "f1"}), ALL_BETTER, of_tables()))
    assert (row["losses"], row["median_difference"]) == (1, -0.25)


@pytest.mark.parametrize("measure", ["seconds", "f1"])
def test_a_search_that_failed_was_not_quick(tmp_path, measure):
    row = only(judge(claims(tmp_path, {**BETTER, "measure": measure}), ALL_BETTER, of_tables(srs="time_limit")))
    assert row["reason"] == "no data set was run with both"


def test_a_search_that_failed_has_no_number_of_features(tmp_path):
    found = run(srs=[None, 0.9], res=[0.8, 0.8])
    found.loc[found["value"].isna(), "n_features"] = 0
    found.loc[found["selector"] == "srs", "n_features"] -= 1
    row = only(judge(claims(tmp_path, {**BETTER, "measure": "n_features"}), found, {}))
    assert (row["n_datasets"], row["wins"]) == (1, 1)


def test_a_claim_needs_words(tmp_path):
    path = tmp_path / "paper.yaml"
    path.write_text(yaml.safe_dump([{**ENTRY, "claims": [BETTER]}]), "utf-8")
    with pytest.raises(ConfigError, match="has a claim without words"):
        read_claims(path)


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ({"better": "srs"}, "better needs one method, and than a list of others"),
        ({"better": "srs", "than": "res"}, "better needs one method, and than a list of others"),
        ({"better": ["srs"], "than": ["res"]}, "better needs one method, and than a list of others"),
        ({"competitive": "srs", "with": [["res"]]}, "competitive needs one method, and with a list of others"),
        ({"equivalent": ["srs", "res"]}, "equivalent must be a list of pairs of methods"),
        ({"equivalent": [["srs", "res", "iamb"]]}, "equivalent must be a list of pairs of methods"),
        ({"equivalent": "gs"}, "equivalent must be a list of pairs of methods"),
    ],
)
def test_claims_that_cannot_be_judged_are_refused(tmp_path, claim, message):
    with pytest.raises(ConfigError, match=f"paper.yaml, claim 'as said': {message}"):
        claims(tmp_path, claim)


@pytest.mark.parametrize("paper", ["srs", "gs_m"])
def test_the_claims_of_the_papers_can_be_read(paper):
    found = read_claims(PUBLISHED / f"{paper}.yaml")
    assert found and all(claim.method != claim.other for claim in found)
    assert {claim.said for claim in found} <= {"better", "competitive", "equivalent"}
