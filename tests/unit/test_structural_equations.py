"""Tables of structural equations: their blankets are those of their graphs, and separate the target."""

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from studies.scm import __main__ as runner
from studies.scm.equations import FAMILIES, N_TASKS, Task, blanket_of, draw, tasks


def test_tasks_are_240_of_every_family_and_a_third_is_held_back():
    found = tasks()
    assert len({task.id for task in found}) == len(found) == N_TASKS
    assert {task.family for task in found} == set(FAMILIES)
    assert 0.25 < np.mean([task.is_held_back for task in found]) < 0.42


def test_a_blanket_is_parents_children_and_the_childrens_other_parents():
    """0 -> 2 <- 1, 2 -> 4 <- 3, 4 -> 5: worked by hand."""
    parents = [np.array(each, dtype=int) for each in ([], [], [0, 1], [], [2, 3], [4])]
    assert [blanket_of(parents, node) for node in range(6)] == [
        {1, 2},
        {0, 2},
        {0, 1, 3, 4},
        {2, 4},
        {2, 3, 5},
        {4},
    ]


@pytest.mark.parametrize("graph", ["2", "hubs"])
def test_given_the_blanket_the_target_is_independent_of_all_other_columns(graph):
    drawn = draw(Task("linear", "gaussian", graph, 40, 300))
    X, y = pd.concat([drawn.X, drawn.fresh_X]), np.concatenate([drawn.y, drawn.fresh_y])
    bound = bf.get_ci_test("fisher-z").bind(X.assign(y=y))
    others = [name for name in X if name not in drawn.blanket]
    p_values = [bound.test(name, "y", given=list(drawn.blanket)).p_value for name in others]
    assert min(p_values) > 0.001 / len(others) and np.mean(np.array(p_values) < 0.5) == pytest.approx(0.5, abs=0.3)
    for member in drawn.blanket:  # 5,300 rows show each member given the others
        rest = [name for name in drawn.blanket if name != member]
        assert bound.test(member, "y", given=rest).p_value < 0.01


def test_a_table_depends_on_the_id_of_its_task_only():
    task = Task("mixed", "heavy", "4", 40, 300)
    first, again = draw(task), draw(task)
    pd.testing.assert_frame_equal(first.X, again.X)
    assert first.blanket == again.blanket and first.y.equals(again.y)
    assert not first.y.equals(draw(Task("mixed", "gaussian", "4", 40, 300)).y)
    assert any(isinstance(dtype, pd.CategoricalDtype) for dtype in first.X.dtypes)


def test_a_method_that_fails_or_has_no_time_is_recorded(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    monkeypatch.setattr(runner, "RAW", tmp_path / "none.parquet")
    monkeypatch.setattr(runner, "GRACE", 1)
    task = Task("linear", "gaussian", "2", 40, 300)

    def selected(method, drawn, task, seconds):
        if method == "iamb":
            raise ValueError("no answer")
        while method == "auto":
            pass
        return list(drawn.blanket), "ok", 3

    monkeypatch.setattr(runner, "selected", selected)
    runner.run(task, ["true blanket", "iamb", "auto"], 0.5)
    found = runner.collected().set_index("method")
    assert found.loc["true blanket", ["precision", "recall"]].tolist() == [1.0, 1.0]
    assert found.loc["true blanket", "ridge"] > 0.2
    assert found.loc["iamb", "status"] == "ValueError: no answer"
    assert found.loc["auto", "status"] == "no answer in time" and found["ridge"].isna().sum() == 2
