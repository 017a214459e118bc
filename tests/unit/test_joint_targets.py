"""Joint labels: one blanket of several columns of labels, whose combinations are the classes of one target."""

import json

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.api.compare import compare_config
from blanketflow.ci import get_ci_test
from blanketflow.ci.oracle import Oracle
from blanketflow.cli import main
from blanketflow.config.reading import read_config
from blanketflow.core.convert import as_table
from blanketflow.core.errors import ConfigError, DataError, ParameterError, RowOrderWarning
from blanketflow.data.sources import read_source
from blanketflow.targets.forms import as_target, as_written, with_own_column
from blanketflow.targets.joint import joined
from blanketflow.workflow.peek import peek
from random_networks import random_dag

ASKED = {"joint": ["a", "b"]}


def table(n=1000, seed=0):
    """Return x, which says whether a and b are equal and nothing of either; y, which says something of a; and noise."""
    rng = np.random.default_rng(seed)
    a, x, noise = rng.integers(0, 2, (3, n))
    b = np.where(rng.random(n) < 0.9, a ^ x, rng.integers(0, 2, n))
    y = np.where(rng.random(n) < 0.7, a, rng.integers(0, 2, n))
    words = np.array(["no", "yes"])
    codes = {"a": words[a], "b": words[b], "x": words[x], "y": words[y], "noise": words[noise]}
    return pd.DataFrame(codes)


TABLE = table()
X, Y = TABLE[["x", "y", "noise"]], TABLE[["a", "b"]]


@pytest.fixture
def path(tmp_path):
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    return str(tmp_path / "t.csv")


def test_what_tells_only_of_the_combination_is_found_by_the_joint_target_alone():
    each = bf.blankets(TABLE, "iamb", "g2", targets=["a", "b"], exclude_targets=True, alpha=0.001)
    assert each.union() == ["y"]
    found = bf.IAMB(ci_test="g2", alpha=0.001).fit(X, {"joint": Y})
    assert set(found.selected_features_) == {"x", "y"} and found.task_ == "classification"


def test_the_statistic_of_the_combinations_is_the_sum_of_those_of_the_labels():
    bound = get_ci_test("g2").bind(as_table(TABLE).with_column(joined("demo", as_table(Y).columns)))
    for given in ([], ["y"], ["y", "noise"]):
        of_a, of_b = bound.test("x", "a", given=given), bound.test("x", "b", given=[*given, "a"])
        both = bound.test("x", "a & b", given=given)
        assert both.statistic == pytest.approx(of_a.statistic + of_b.statistic) and both.dof == of_a.dof + of_b.dof


@pytest.mark.parametrize("seed", range(20))
def test_on_a_perfect_map_it_is_the_union_of_the_blankets_without_the_labels(seed):
    dag = random_dag(9, seed, degree=2.5)
    a, b, *others = dag.nodes
    of_both = {name for label in (a, b) for names in dag.markov_blanket(label).values() for name in names} - {a, b}
    rows = pd.DataFrame(np.zeros((2, 9)), columns=list(dag.nodes))
    asked = {"method": "iamb", "ci_test": Oracle(arcs=dag.arcs), "targets": [a, b]}
    # whether the other label is a candidate or left out
    assert set(bf.blankets(rows, **asked).union()) - {a, b} == of_both <= set(others)
    assert set(bf.blankets(rows, **asked, exclude_targets=True).union()) == of_both


@pytest.mark.parametrize("method", ["hiton-mb", "mrmr", "ppfs"])
def test_every_way_in_finds_the_same(method, path, capsys):
    fitted = bf.get_selector(method, random_state=0).fit(X, {"joint": Y}).selected_features_
    assert fitted == bf.get_selector(method, random_state=0).fit(X, Y["a"] + " & " + Y["b"]).selected_features_
    asked = {"selectors": [method], "folds": 0, "evaluation": 0, "random_state": 0}
    assert bf.compare(TABLE, ASKED, **asked).blanket(method) == fitted
    assert bf.compare(X, {"joint": Y}, **asked).blanket(method) == fitted
    arguments = ["select", path, "--data-set", "target={joint: [a, b]}", "--method", method, "--seed", "0", "--json"]
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["target"] == "a & b" and [row["feature"] for row in found["blanket"]] == fitted


def test_a_config_gives_what_python_gives(path):
    raw = {
        "datasets": {"table": {"path": path, "target": ASKED}},
        "selectors": {"iamb": {"method": "iamb", "ci_test": "g2"}},
        "splits": {"evaluation": 2},
        "models": ["tree"],
        "folds": 0,
    }
    run = compare_config(raw)
    beside = bf.compare(X, {"joint": Y}, {"iamb": raw["selectors"]["iamb"]}, evaluation=2, models=["tree"], folds=0)
    pd.testing.assert_frame_equal(run.scores, beside.scores)
    assert run.run.cards["table"]["target"]["name"] == "a & b"
    assert list(run.run.cards["table"]["target"]["classes"]) == ["no & no", "no & yes", "yes & no", "yes & yes"]


def test_select_fits_a_model_that_predicts_the_combination():
    found = bf.select(X, {"joint": Y})
    assert set(found.features) == {"x", "y"}
    assert set(found.estimator.predict(X)) <= {"no & no", "no & yes", "yes & no", "yes & yes"}
    assert (found.estimator.predict(X) == Y["a"] + " & " + Y["b"]).mean() > 0.5


def test_every_form_of_labels_is_one_target():
    wanted = as_target("demo", "y", {"joint": Y}, "auto")
    codes = pd.DataFrame({"a": Y["a"].astype("category"), "b": Y["b"] == "yes"})
    for given in (Y, {"a": Y["a"].to_numpy(), "b": list(Y["b"])}, Y.to_numpy(), codes):
        found = as_target("demo", "y", {"joint": given}, "classification")
        assert found.values.tolist() == wanted.values.tolist()
    assert wanted.name == "a & b"


def test_labels_that_would_read_the_same_are_quoted():
    y = {"joint": {"a": ["u & v", "u"], "b": ["w", "v & w"]}}
    assert as_target("demo", "y", y, "auto").levels == ("'u' & 'v & w'", "'u & v' & 'w'")


def test_peek_and_reading_agree_and_rows_without_a_label_are_left_out(path, tmp_path):
    holes = TABLE.copy()
    holes.loc[[0, 1], "a"], holes.loc[[1, 2], "b"] = None, None
    holes.to_csv(tmp_path / "holes.csv", index=False)
    spec = with_own_column("study", {"path": str(tmp_path / "holes.csv"), "target": ASKED})
    raw, seen = read_source("study", spec, seed=0), peek("study", spec)
    assert raw.target.name == "a & b" and raw.features.names == ["x", "y", "noise"] and raw.features.n_rows == 997
    assert seen.class_counts == dict(zip(raw.target.levels, np.bincount(raw.target.values).tolist(), strict=True))
    assert any("3 rows have no target 'a', 'b' and were dropped" in note for note in raw.notes)
    with pytest.raises(DataError, match=r"demo: column 'a' is missing in 2 rows. Fill or drop these rows"):
        as_target("demo", "y", {"joint": holes[["a", "b"]]}, "auto")


def test_tiers_name_its_columns_or_itself(path):
    datasets = {"t": {"path": path, "target": ASKED, "tiers": [["x"], ["y", "a"], ["b", "noise"]]}}
    config = read_config({"datasets": datasets, "selectors": {"iamb": {"method": "iamb"}}})
    assert config.datasets["t"]["tiers"] == [["x"], ["y"], ["noise", "a & b"]]
    of_fit = bf.IAMB(ci_test="g2", tiers=[["x"], ["y"], ["noise", "a & b"]]).fit(X, {"joint": Y})
    found = bf.compare(TABLE, ASKED, [bf.IAMB(ci_test="g2")], tiers=datasets["t"]["tiers"], folds=0, evaluation=0)
    assert found.blanket("iamb") == of_fit.selected_features_


def test_a_written_target_is_read_back():
    spec = {"path": "t.csv", "target": {"joint": ["a", "b", "c"]}}
    assert as_written(with_own_column("study", spec)) == spec


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"target": {"joint": ["a"]}}, r"joint of the target is \['a'\], but must name two or more columns, each once"),
        ({"target": {"joint": ["a", "a"]}}, "must name two or more columns, each once"),
        ({"target": {"joint": "a"}}, "must name two or more columns"),
        ({"target": {"joint": ["a", 3]}}, "must name two or more columns"),
        ({"target": {"joint": ["a", "b"], "event": "e"}}, "does not go with the key 'event'. Remove it"),
        ({"target": ASKED, "target_kind": "count"}, "does not go with target_kind count. Remove it"),
        ({"target": {"days": "a"}}, r"joint labels as {joint: \[COLUMN, COLUMN\]}"),
    ],
)
def test_a_wrong_declaration_is_refused(spec, told):
    with pytest.raises(ConfigError, match=told):
        with_own_column("study", spec)


def test_numbers_are_refused_with_the_way_out(tmp_path, path):
    numbers = TABLE.assign(b=np.random.default_rng(0).normal(size=len(TABLE)))
    told = r"column 'b' has numbers .* search each column by itself, with target: \[a, b\]"
    with pytest.raises(DataError, match=told):
        bf.IAMB().fit(X, {"joint": numbers[["a", "b"]]})
    numbers.to_csv(tmp_path / "n.csv", index=False)
    spec = {"path": str(tmp_path / "n.csv"), "target": ASKED}
    for read in (peek, lambda name, asked: read_source(name, asked, seed=0)):
        with pytest.raises(DataError, match=told):
            read("study", with_own_column("study", spec))
    found = bf.compare(numbers, ["a", "b"], ["mim"], folds=0, evaluation=0)  # as the message says
    assert {*found.run.cards} == {"table-a", "table-b"}


def test_what_is_no_table_of_labels_is_refused():
    for given in (["a", "b"], Y["a"], Y[["a"]], {"a": [1, 2], "b": [1]}):
        with pytest.raises(DataError, match=r"a joint target is {'joint': table}"):
            bf.IAMB().fit(X, {"joint": given})
    with pytest.raises(ParameterError, match=r"a joint target has classes, but target_kind is count"):
        bf.IAMB(target_kind="count").fit(X, {"joint": Y})
    with pytest.raises(DataError, match=r"For joint labels give {'joint': y}"):
        bf.IAMB().fit(X, Y)


def test_its_columns_are_no_features(path):
    with pytest.raises(DataError, match=r"X has the column 'a', which is part of the joint target. Drop it from X"):
        bf.IAMB().fit(TABLE, {"joint": Y})
    with pytest.raises(DataError, match=r"X has the column 'b'"):
        bf.IAMB().search().run(TABLE.drop(columns="a"), {"joint": Y})
    spec = with_own_column("study", {"path": path, "target": ASKED, "drop": ["b"]})
    with pytest.raises(DataError, match=r"column 'b' is the target's label 2 and cannot also be"):
        read_source("study", spec, seed=0)
    with pytest.raises(DataError, match=r"column 'a & b' has the name of the joint target. Rename the column"):
        bf.compare(TABLE.assign(**{"a & b": 1}), ASKED, ["mim"], folds=0, evaluation=0)


def test_rows_in_another_order_are_told():
    with pytest.warns(RowOrderWarning, match=r"indexes of X and y hold the same labels in different orders"):
        bf.MIM(n_features=1).fit(X, {"joint": Y.sample(frac=1, random_state=0)})


def test_many_combinations_are_told():
    rng = np.random.default_rng(0)
    columns = pd.DataFrame(rng.integers(0, 3, (300, 3)).astype(str), columns=list("uvw"))
    labels = pd.DataFrame({"a": rng.integers(0, 6, 300).astype(str), "b": rng.integers(0, 5, 300).astype(str)})
    with pytest.warns(match=r"3 of 3 features could not be tested: there are too few rows"):
        assert bf.IAMB(ci_test="g2").fit(columns, {"joint": labels}).status_ == "unreliable"
    found = bf.compare(columns, {"joint": labels}, ["mim"], folds=0, evaluation=0)
    few = [one["message"] for one in found.run.cards["table"]["findings"] if "few rows of class" in one["message"]]
    assert few and "5 & 5" not in few[0]
