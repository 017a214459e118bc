"""The plan: which pairs run, which are skipped and why, and what is known before any job starts."""

from pathlib import Path

import pytest

from blanketflow.plan import make_plan

SCRIPTS = Path(__file__).parents[2] / "scripts"


def table(folder, levels):
    rows = [f"{levels[i % len(levels)]},{i % 7},{'yn'[i % 2]}" for i in range(40)]
    path = folder / "study.csv"
    path.write_text("site,age,y\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return {"path": str(path), "target": "y"}


def plan_of(dataset, **selectors):
    raw = {"datasets": {"study": dataset}, "selectors": selectors, "folds": 2, "splits": {"evaluation": 2}}
    return make_plan(raw, SCRIPTS)


@pytest.mark.parametrize(
    ("levels", "reasons"),
    [(("a", "b"), []), (("a", "b", "c"), ["fisher-z takes no categorical features of more than 2 levels"])],
)
def test_a_test_that_cannot_take_the_features_is_skipped_with_its_reason(tmp_path, levels, reasons):
    plan = plan_of(table(tmp_path, levels), z={"method": "gs", "ci_test": "fisher-z"}, g={"method": "gs"})
    assert [skip.reason for skip in plan.skipped] == reasons
    assert ("study", "g") in plan.pairs


def test_the_true_blanket_is_skipped_where_it_is_not_known(tmp_path):
    plan = plan_of(table(tmp_path, "ab"), t={"method": "true-blanket"}, g={"method": "gs"})
    assert [(skip.selector, skip.reason) for skip in plan.skipped] == [("t", "the true Markov blanket is not known")]


def test_a_baseline_of_all_features_is_added_to_every_evaluation(tmp_path):
    assert ("study", "all") in plan_of(table(tmp_path, "ab"), g={"method": "gs"}).pairs


def test_grain_follows_the_size_of_the_table():
    wide = {"datasets": {"big": {"source": "simulate:clinic", "rows": 40_000}}, "selectors": {"p": {"method": "ppfs"}}}
    small = {"datasets": {"big": {"source": "simulate:clinic", "rows": 400}}, "selectors": {"p": {"method": "ppfs"}}}
    assert make_plan(wide, SCRIPTS).grain("big", "p") == "fold"
    assert make_plan(small, SCRIPTS).grain("big", "p") == "split"
    for grain in ("fold", "split"):
        assert make_plan({**small, "grain": grain}, SCRIPTS).grain("big", "p") == grain


def test_equal_configs_give_equal_specs_and_an_alpha_changes_one_selector_only():
    def specs(alpha):
        raw = {
            "datasets": {"c": {"source": "simulate:clinic"}},
            "selectors": {"p": {"method": "ppfs", "alpha": alpha}, "g": {"method": "gs"}},
        }
        plan = make_plan(raw, SCRIPTS)
        return plan.method_spec("c", "p"), plan.method_spec("c", "g"), plan.test_spec("c", "ppi")

    assert specs(0.05) == specs(0.05)
    (p, g, test), (p_changed, g_changed, test_changed) = specs(0.05), specs(0.01)
    assert p != p_changed and (g, test) == (g_changed, test_changed)


def test_tests_that_know_the_truth_are_given_the_network_behind_the_data():
    raw = {
        "datasets": {"c": {"source": "simulate:clinic"}, "wine": {"source": "sklearn:wine"}},
        "ci_tests": {"oracle": {"type": "oracle"}, "mine": {"type": "oracle", "arcs": [["a", "b"]]}},
        "selectors": {"o": {"method": "gs", "ci_test": "oracle"}, "m": {"method": "gs", "ci_test": "mine"}},
    }
    plan = make_plan(raw, SCRIPTS)
    assert '"network":"simulate:clinic"' in plan.test_spec("c", "oracle")
    assert '"network":null' in plan.test_spec("c", "mine")
    assert ("wine", "m") in plan.pairs
    assert [(s.dataset, s.selector) for s in plan.skipped] == [("wine", "o")]
    assert "known for simulated data only" in plan.skipped[0].reason
