"""Several targets: the blanket of each without the other targets among the candidates, and their union."""

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.ci.oracle import Oracle
from blanketflow.config.schema import json_schema
from blanketflow.core.errors import ConfigError, ParameterError
from blanketflow.core.graph import DAG
from blanketflow.reporting.report.overview import unions
from blanketflow.workflow.plan import make_plan
from report_frames import report_run


def table(n=400, seed=0):
    """Return rows of a chain and a collider: dose -> relapse -> pain <- age, and relapse -> death."""
    rng = np.random.default_rng(seed)
    dose, age, noise = rng.normal(size=(3, n))
    relapse = dose + rng.normal(size=n)
    death, pain = relapse + rng.normal(size=n), relapse + age + rng.normal(size=n)
    return pd.DataFrame({"dose": dose, "relapse": relapse, "noise": noise, "death": death, "age": age, "pain": pain})


@pytest.mark.parametrize("method", ["hiton-mb", "pcmb", "iamb", "stmb", "iamb-npc", "sgai", "gs-m"])
def test_each_blanket_is_that_of_a_table_without_the_other_targets(method):
    X, targets = table(), ["relapse", "death"]
    both = bf.blankets(X, method, "fisher-z", targets=targets, exclude_targets=True)
    for target, other in (targets, targets[::-1]):
        alone = bf.blankets(X.drop(columns=other), method, "fisher-z", targets=[target])
        assert both.found[target] == alone.found[target]
    assert not set(targets) & set(both.union())
    assert set(both.union()) == set(both["relapse"]) | set(both["death"])


def test_tests_are_shared_between_targets():
    X, targets = table(), ["relapse", "death"]
    both = bf.blankets(X, "pcmb", "fisher-z", targets=targets, exclude_targets=True)
    alone = [bf.blankets(X.drop(columns=o), "pcmb", "fisher-z", targets=[t]) for t, o in (targets, targets[::-1])]
    assert both.n_tests < sum(found.n_tests for found in alone)


def test_a_latent_target_joins_what_it_separated():
    dag = DAG([("dose", "relapse"), ("relapse", "death")])
    X = pd.DataFrame(np.zeros((2, 3)), columns=["dose", "relapse", "death"])
    asked = {"method": "iamb", "ci_test": Oracle(arcs=dag.arcs), "targets": ["relapse", "death"]}
    assert bf.blankets(X, **asked).to_dict() == {"relapse": ["death", "dose"], "death": ["relapse"]}
    found = bf.blankets(X, **asked, exclude_targets=True)
    assert found.to_dict() == {"relapse": ["dose"], "death": ["dose"]} and found.union() == ["dose"]


@pytest.mark.parametrize(
    "prior", [{"include": ["age"]}, {"exclude": ["ag*"]}, {"feature_groups": {"g": ["dose", "age"]}}]
)
def test_what_is_known_of_features_holds_for_each_target(prior):
    X = table()
    found = bf.blankets(X, "hiton-mb", "fisher-z", **prior)
    in_groups = {"dose", "age"} if "feature_groups" in prior else set()
    assert set(found) == set(X.columns) - in_groups
    for target in found:
        own = {key: [n for n in names if n != target] for key, names in prior.items()} if not in_groups else prior
        own = {key: names for key, names in own.items() if names and not (target == "age" and key == "exclude")}
        alone = bf.HITONMB(ci_test="fisher-z", **own).fit(X.drop(columns=target), X[target])
        assert found[target] == alone.selected_features_
    with pytest.raises(ParameterError, match="the target 'dose' is in the feature group 'g'"):
        bf.blankets(X, "hiton-mb", "fisher-z", targets=["dose"], feature_groups={"g": ["dose", "age"]})


def test_tiers_name_columns_of_the_table():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 3)), columns=list("abc"))
    assert bf.blankets(frame, "mmpc", tiers=[["a"], ["b", "c"]]).found.keys() == {"a", "b", "c"}
    with pytest.raises(ParameterError, match=r"tiers names 'd', which is not a feature\. Known: a, b, c\."):
        bf.blankets(frame, "mmpc", tiers=[["a"], ["d"]])


def test_targets_leave_something_to_search_among():
    with pytest.raises(ParameterError, match="exclude_targets leave no column"):
        bf.blankets(table(), "iamb", "fisher-z", exclude_targets=True)
    asked = {"targets": ["relapse", "death"], "exclude_targets": True, "include": ["death"]}
    with pytest.raises(ParameterError, match="include names the target 'death', which exclude_targets leaves out"):
        bf.blankets(table(), "iamb", "fisher-z", **asked)


def config(**dataset):
    study = {"source": "simulate:clinic", "target": ["pneumonia", "smoking"], **dataset}
    selectors = {"gs": {"method": "gs", "datasets": ["study"]}, "iamb": {"method": "iamb"}}
    return {"datasets": {"study": study, "wine": {"source": "sklearn:wine"}}, "selectors": selectors}


def test_a_config_has_one_data_set_for_each_target():
    plan = make_plan(config(drop=["cough"], tiers=[["smoking"], ["pneumonia", "fever"]]), str)
    assert list(plan.config.datasets) == ["study-pneumonia", "study-smoking", "wine"]
    first, second = (plan.config.datasets[f"study-{name}"] for name in ("pneumonia", "smoking"))
    assert (first["target"], first["drop"], first["tiers"]) == (
        "pneumonia",
        ["cough", "smoking"],
        [["pneumonia", "fever"]],
    )
    assert (second["target"], second["drop"], second["tiers"]) == (
        "smoking",
        ["cough", "pneumonia"],
        [["smoking"], ["fever"]],
    )
    assert [pair for pair in plan.pairs if pair[1] == "gs"] == [("study-pneumonia", "gs"), ("study-smoking", "gs")]
    assert plan.config.targets == {"study": {"pneumonia": "study-pneumonia", "smoking": "study-smoking"}}


def test_a_data_set_written_for_each_target_is_the_same():
    apart, spec = config(), config()["datasets"]["study"]
    apart["datasets"] = {
        "study-pneumonia": {**spec, "target": "pneumonia", "drop": ["smoking"]},
        "study-smoking": {**spec, "target": "smoking", "drop": ["pneumonia"]},
        "wine": apart["datasets"]["wine"],
    }
    apart["selectors"]["gs"]["datasets"] = ["study-pneumonia", "study-smoking"]
    together, apart = make_plan(config(), str), make_plan(apart, str)
    for name in together.config.datasets:
        assert together.table_spec(name) == apart.table_spec(name)
        assert together.method_spec(name, "iamb") == apart.method_spec(name, "iamb")
    assert '"targets":' not in apart.report_spec() and '"targets":' in together.report_spec()


@pytest.mark.parametrize(
    ("datasets", "said"),
    [
        ({"study": {"target": ["a", "a"]}}, r"data set 'study' has the targets \['a', 'a'\]. Name each once."),
        ({"study": {"target": []}}, "Name each once."),
        ({"study": {"target": ["a", "A"]}}, "two data sets would be called 'study-a'"),
        ({"study": {"target": ["a", "b"]}, "study-b": {"target": "y"}}, "two data sets would be called 'study-b'"),
        ({"study": {"target": ["a", "b" * 100]}}, "which has more than 100 characters"),
        ({"study": {"target": ["a", "b"], "drop": "cough"}}, "drop is 'cough', but must be a list of names"),
        ({"study": {"target": ["a", "b"], "drop": 5}}, "drop is 5, but must be a list of names"),
        ({"study": {"target": [1, 2]}}, r"target is \[1, 2\], but must be a text, a list of names, or a mapping"),
    ],
)
def test_targets_that_cannot_be_told_apart_are_refused(datasets, said):
    asked = {name: {"source": "simulate:clinic", **spec} for name, spec in datasets.items()}
    with pytest.raises(ConfigError, match=said):
        make_plan({**config(), "datasets": asked}, str)


def test_the_schema_takes_one_and_several():
    keys = json_schema()["properties"]["datasets"]["additionalProperties"]["properties"]
    assert keys["target"]["type"] == ["string", "array", "object", "null"]


def test_the_report_shows_the_union_of_each_search():
    asked = {"datasets": ("one-a", "one-b"), "models": ("svm",)}
    plain = report_run(**asked)
    assert unions(plain).rows == [] and not len(plain.tables["unions"])
    told = report_run(**asked, targets={"one": {"a": "one-a", "b": "one-b"}})
    found, listed = unions(told), told.tables["unions"]
    assert set(listed["selector"]) == {"ppfs", "hiton-mb"}  # and not the reference
    for row, selector in zip(found.rows, ["ppfs", "hiton-mb"], strict=True):
        sets = [set(plain.blanket(part, selector)["feature"]) for part in ("one-a", "one-b")]
        assert [cell.text for cell in row[:3]] == ["one", selector, "a, b"]
        assert [cell.value for cell in row[3:5]] == [len(sets[0] | sets[1]), len(sets[0] & sets[1])]
        assert set(row[5].text.split(", ")) == sets[0] | sets[1]
        own = listed[listed["selector"] == selector].set_index("feature")
        assert set(own.index) == sets[0] | sets[1]
        assert (
            {f for f in own.index if own["targets"][f] == "a, b"}
            == sets[0] & sets[1]
            == set(own.query("n_targets > 1").index)
        )
