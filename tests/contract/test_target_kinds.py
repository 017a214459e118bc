"""Each kind of target with each method, CI test, model and metric, as the tables of docs/target-kinds.md say."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.ci.choice import OF_FURTHER_KINDS
from blanketflow.cli import main
from blanketflow.core.cards import CLASSIFICATION, FURTHER_KINDS, REGRESSION, TARGET_KINDS, TASKS
from blanketflow.core.convert import as_table, column_of_objects
from blanketflow.core.errors import ConfigError, DependentRowsWarning, ParameterError, UnsupportedError
from blanketflow.core.metrics import METRICS
from blanketflow.core.registry import discover
from blanketflow.core.task import target_column
from blanketflow.models.evaluation import evaluate_split
from blanketflow.targets.forms import as_target
from blanketflow.workflow.plan import make_plan
from generate.target_kinds import READ, REFUSED, TESTED, what_is_done

METHODS = {name: found for name, found in discover("blanketflow.selectors").items() if found.card.family != "reference"}
#: What keeps a method cheap, or what it cannot do without; and methods that do not choose a test themselves.
OPTIONS = {
    "auto": {"max_candidates": 2, "n_parts": 2},
    "koller-sahami": {"n_features": 2},
    "ipss": {"pairs": 5},
    "kiamb": {"n_runs": 3},
    "mrmr": {"n_features": 2},
    "permutation-importance": {"model": "tree", "n_permutations": 19},
    "ppfs": {"ci_test": "auto"},
    "srs": {"lambda_step": 0.1},
    "stability-selection": {"n_features": 2, "pairs": 5},
    "stepwise": {"model": "tree", "n_splits": 2, "max_features": 2},
}
#: Methods that the tests of every run try on each kind: one of each behaviour.
SOME = ("hiton-mb", "mrmr", "dcrt", "srs")
#: Methods that divide or draw rows at random; in `bf.compare` seeds come from the names of data set and selector, too.
DRAWING = {name for name, found in METHODS.items() if found.draws_rows} | {"auto", "stepwise"}


def features(n=160, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=["a", "b", "n0", "n1"])
    return X, (1.2 * X["a"] - X["b"]).to_numpy(), rng


def targets(n=160):
    """Return, by kind, the columns of a target and the key `target` of a config."""
    _, score, rng = features(n)
    time, end = rng.exponential(np.exp(-score)), rng.exponential(3.0, n)
    years = rng.uniform(0.5, 2.0, n)
    return {
        "classification": ({"y": np.where(score + rng.logistic(size=n) > 0, "yes", "no")}, "y"),
        "regression": ({"y": score + rng.normal(size=n)}, "y"),
        "survival": (
            {"days": np.minimum(time, end), "died": (time <= end).astype(int)},
            {"time": "days", "event": "died"},
        ),
        "count": (
            {"visits": rng.poisson(years * np.exp(1 + score)), "years": years},
            {"count": "visits", "exposure": "years"},
        ),
        "ordered": ({"y": np.digitize(score + rng.logistic(size=n), [-1.0, 1.0])}, "y"),
        "share": ({"y": 1 / (1 + np.exp(-score - rng.normal(size=n)))}, "y"),
        "positive": ({"y": np.exp(score) * rng.gamma(3.0, 1.0, n)}, "y"),
        "joint": (
            {"u": np.where(score + rng.logistic(size=n) > 0, "yes", "no"), "v": rng.choice(["x", "z"], n)},
            {"joint": ["u", "v"]},
        ),
    }


X, TARGETS = features()[0], targets()
KIND_OF = {kind: "classification" if kind == "joint" else kind for kind in TARGETS}
every_kind = pytest.mark.parametrize("kind", TARGETS)


def of_fit(kind):
    """Return `y` and `target_kind` as `fit` takes them."""
    columns, key = TARGETS[kind]
    if kind == "joint":
        return {"joint": pd.DataFrame(columns)}, "auto"
    y = {role: columns[name] for role, name in key.items()} if isinstance(key, dict) else columns[key]
    return y, "auto" if kind in TASKS else kind


def fitted(name, kind):
    y, target_kind = of_fit(kind)
    task = kind if kind in TASKS else "auto"
    return bf.get_selector(name, target_kind=target_kind, task=task, random_state=0, **OPTIONS.get(name, {})).fit(X, y)


def told(kind):
    """Return the keys of a data set."""
    key = {} if kind == "joint" else {"task": kind} if kind in TASKS else {"target_kind": kind}
    return {"target": TARGETS[kind][1], **key}


def by_compare(name, kind):
    keys = told(kind)
    options = {"method": name, **OPTIONS.get(name, {})}
    table = X.assign(**TARGETS[kind][0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        asked = {"evaluation": 0, "folds": 0, "random_state": 0}
        return bf.compare(table, keys.pop("target"), {"asked": options}, **keys, **asked)


def by_command(name, kind, folder, capsys):
    """Return the features that ``blanketflow select`` finds."""
    path = folder / f"{kind}.csv"
    if not path.exists():
        X.assign(**TARGETS[kind][0]).to_csv(path, index=False)
    options = dict(OPTIONS.get(name, {}))
    arguments = ["select", str(path), "--method", name, "--seed", "0", "--json"]
    arguments += [part for key, value in told(kind).items() for part in ("--data-set", f"{key}={_yaml(value)}")]
    arguments += ["--ci-test", options.pop("ci_test")] if "ci_test" in options else []
    arguments += ["--set", *(f"{key}={value}" for key, value in options.items())] if options else []
    code = main(arguments)
    said = capsys.readouterr()
    return [row["feature"] for row in json.loads(said.out)["blanket"]] if code == 0 else said.err


def _yaml(value):
    return json.dumps(value).replace('"', "") if not isinstance(value, str) else value


def check_a_cell(name, kind, folder, capsys):
    """Check what a method does with a kind by `fit`, and that other ways in give the same features or refusal."""
    done = what_is_done(METHODS[name], KIND_OF[kind])
    if done == REFUSED:
        for way in (fitted, by_compare):
            with pytest.raises((UnsupportedError, ConfigError, ParameterError), match=f"does not (do|test) {kind}"):
                way(name, kind)
        assert f"does not do {kind}" in by_command(name, kind, folder, capsys)
        return
    found = fitted(name, kind)
    assert found.task_ == KIND_OF[kind]
    notes = [note for note in found.notes_ if note.startswith(f"{name} reads the {kind} target as a number")]
    assert bool(notes) == (done == READ and name != "auto")  # which says so in its verdict
    if done == TESTED and kind in FURTHER_KINDS:
        assert found.ci_test_.card.id in OF_FURTHER_KINDS
    assert by_command(name, kind, folder, capsys) == found.selected_features_
    compared = by_compare(name, kind).blanket("asked")
    assert compared == found.selected_features_ if name not in DRAWING else set(compared) <= set(X)


@every_kind
@pytest.mark.parametrize("name", SOME)
def test_a_method_does_with_a_kind_what_the_page_says(name, kind, tmp_path, capsys):
    check_a_cell(name, kind, tmp_path, capsys)


@pytest.mark.extended
@every_kind
def test_every_method_does_with_a_kind_what_the_page_says(kind, tmp_path, capsys):
    for name in METHODS:
        check_a_cell(name, kind, tmp_path, capsys)


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=() if kind == "survival" else pytest.mark.extended) for kind in TARGETS]
)
def test_select_and_its_class_find_the_same(kind):
    y, target_kind = of_fit(kind)
    asked = {"target_kind": target_kind, "task": kind if kind in TASKS else "auto", "random_state": 0}
    found = bf.select(X, y, time_limit=None, **asked)
    assert found.features == bf.Auto(**asked).fit(X, y).selected_features_
    assert {"a", "b"} <= set(found.features) and len(found.estimator.predict(X)) == len(X)


@pytest.mark.parametrize("kind", FURTHER_KINDS)
def test_groups_are_clusters_by_every_way_in(kind, tmp_path, capsys):
    """Copies of a row are one group, so that they do not count as more rows."""
    copies = np.repeat(np.arange(len(X)), 3)
    y, target_kind = of_fit(kind)
    own = {role: np.asarray(cells)[copies] for role, cells in y.items()} if isinstance(y, dict) else y[copies]
    with warnings.catch_warnings():
        warnings.simplefilter("error", DependentRowsWarning)
        found = bf.HITONMB(target_kind=target_kind).fit(X.iloc[copies], own, groups=copies)
    assert found.ci_test_.card.id == "lr-mixed" and {"a", "b"} <= set(found.selected_features_)
    assert not any("group" in note for note in found.notes_)
    plain = bf.HITONMB(target_kind=target_kind, ci_test="lr-mixed").fit(X.iloc[copies], own)
    p = [one.trace_["p_value"].min() for one in (found, plain)]
    assert np.log(p[0]) > 0.6 * np.log(p[1])  # a third of the rows, in effect
    table = X.assign(**TARGETS[kind][0]).iloc[copies].assign(site=[f"s{at}" for at in copies])
    table.to_csv(tmp_path / "table.csv", index=False)
    keys = {**told(kind), "groups": "site"}
    arguments = ["select", str(tmp_path / "table.csv"), "--method", "hiton-mb", "--seed", "0", "--json"]
    arguments += [part for key, value in keys.items() for part in ("--data-set", f"{key}={_yaml(value)}")]
    assert main(arguments) == 0
    said = capsys.readouterr()
    assert [row["feature"] for row in json.loads(said.out)["blanket"]] == found.selected_features_
    assert "independent" not in said.out + said.err
    datasets = {"study": {"path": str(tmp_path / "table.csv"), **keys}}
    selectors = {test: {"method": "hiton-mb", "ci_test": test} for test in ("lr-mixed", "spline")}
    plan = make_plan({"datasets": datasets, "splits": {"evaluation": 0}, "selectors": selectors}, str)
    (note,) = [note for note in plan.notes() if "group" in note]
    assert "p-values of spline take all rows as independent" in note and note.endswith("lr-mixed knows groups")
    run = bf.compare(table, keys.pop("target"), {"asked": {"method": "hiton-mb"}}, **keys, evaluation=0, folds=0)
    assert run.blanket("asked") == found.selected_features_


def test_blankets_of_columns_refuses_further_kinds():
    for asked in (
        {"target_kind": "count"},
        {"targets": {"time": "a", "event": "b"}},
        {"targets": {"joint": ["a", "b"]}},
    ):
        with pytest.raises(ParameterError, match=r"use fit, such as bf\.HITONMB\(\)\.fit, or bf\.compare"):
            bf.blankets(X, "iamb", **asked)


# --- tests, models, metrics -------------------------------------------------------------------------------------------


def target_of(kind):
    y, target_kind = of_fit(kind)
    target = as_target("demo", "y", y, target_kind)
    column = column_of_objects("y", np.asarray(y)) if target is None else target
    return target_column(column, KIND_OF[kind])


@every_kind
def test_a_ci_test_takes_a_kind_or_refuses_it_in_words(kind):
    target = target_of(kind)
    for name, found in discover("blanketflow.ci").items():
        if name in ("oracle", "population") or len(target.levels) > (found.card.max_classes or len(target.levels)):
            continue  # they know the network, or take no label of so many levels, whatever the kind
        test = bf.get_ci_test(name, **({"n_neighbors": 25} if name == "codec" else {}))  # for power with labels
        accepts = kind not in FURTHER_KINDS or kind in found.card.tasks
        if not accepts:
            with pytest.raises(UnsupportedError, match=f"is a {kind} target. Set ci_test to auto"):
                test.bind(as_table(X).with_column(target))
            continue
        bound = test.bind(as_table(X).with_column(target))
        assert bound.test("a", target.name).p_value < 0.1, name
        assert 0 <= bound.test("n0", target.name, given=["a"]).p_value <= 1
        assert 0 <= bound.test("n0", "n1", given=[target.name]).p_value <= 1


@every_kind
def test_every_model_of_a_kind_has_a_value_of_every_metric(kind):
    target, table, task = target_of(kind), as_table(X), KIND_OF[kind]
    rows = np.arange(target.n_rows)
    train, test = rows % 4 != 0, rows % 4 == 0
    parts = [part.take(np.flatnonzero(at)) for at in (train, test) for part in (table, target)]
    models = [*discover("blanketflow.models")]
    found = evaluate_split(*parts, models, "auto", task, (0,))
    does = {name for name in models if task in discover("blanketflow.models")[name].card.tasks}
    metrics = {metric.id for metric in METRICS.values() if task in metric.tasks}
    assert {(row["model"], row["metric"]) for row in found} == {(model, metric) for model in does for metric in metrics}
    wrong = [row for row in found if row["status"] == "error"]
    assert not wrong and all(row["value"] is not None for row in found if row["status"] == "ok")


def test_the_kinds_are_those_of_the_page():
    assert [kind for kind in TARGETS if kind != "joint"] == list(TARGET_KINDS)
    assert (TARGET_KINDS[:2], TASKS) == ((CLASSIFICATION, REGRESSION), (CLASSIFICATION, REGRESSION))
