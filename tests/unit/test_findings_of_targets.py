"""Targets that are made of features, and follow-up times beside events; and tables that only look alike."""

import numpy as np
import pytest

from blanketflow.core.in_yaml import in_yaml
from blanketflow.core.table import Column, Table
from blanketflow.core.task import Task
from blanketflow.data.card import with_findings
from blanketflow.data.column_roles import RawTable
from blanketflow.data.findings import findings, in_lines

N = 300


def raw(columns, name, y):
    """Return a table of named arrays with a target: labels where `y` holds texts, else numbers."""
    table = Table([Column(key, "numeric", np.asarray(values, dtype=float)) for key, values in columns.items()])
    y = np.asarray(y)
    if y.dtype.kind == "U":
        levels, codes = np.unique(y, return_inverse=True)
        target, task = Column(name, "categorical", codes, tuple(levels.tolist())), "classification"
    else:
        target, task = Column(name, "numeric", y.astype(float)), "regression"
    return with_findings(RawTable(table, target, Task(task, "made up")))


def told(table, kind):
    return [finding for finding in findings(table) if finding.kind == kind]


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def items(rng, n_items=5):
    return {f"item{j}": rng.integers(1, 8, N) for j in range(1, n_items + 1)} | {"age": rng.integers(18, 80, N)}


@pytest.mark.parametrize("n_items", [2, 5, 20])
def test_a_sum_of_items_is_told_with_its_items_alone(rng, n_items):
    columns = items(rng, n_items)
    own = [name for name in columns if name != "age"]
    (found,) = told(raw(columns, "total", np.sum([columns[name] for name in own], axis=0)), "leakage")
    assert found.columns == tuple(own)
    assert found.message.startswith("total is the sum item1 + item2")


def test_a_rounded_mean_a_difference_and_a_weighted_sum_are_told(rng):
    columns = items(rng)
    a, b, c = (columns[f"item{j}"] for j in (1, 2, 3))
    (mean,) = told(raw(columns, "mean", np.round((a + b + c) / 3, 2)), "leakage")
    assert mean.message == "mean is a multiple of the sum item1 + item2 + item3"
    (change,) = told(raw(columns, "change", a - b), "leakage")
    assert change.message == "change is item1 - item2"
    (score,) = told(raw(columns, "score", 2 * a + 5 * b), "leakage")
    assert score.message == "score is a linear combination of item1, item2"


def test_products_and_ratios_are_told_with_their_powers(rng):
    columns = {"weight": rng.normal(75, 12, N).round(1), "height": rng.normal(1.7, 0.1, N).round(2)}
    columns["age"] = rng.integers(18, 80, N)
    bmi = (columns["weight"] / columns["height"] ** 2).round(2)
    (found,) = told(raw(columns, "bmi", bmi), "leakage")
    assert found.message == "bmi is in proportion to weight / height^2"
    (found,) = told(raw(columns, "dose", (0.1 * columns["weight"] * columns["age"]).round(2)), "leakage")
    assert found.message == "dose is in proportion to weight x age"


def test_a_ratio_is_told_beside_columns_that_nearly_give_it(rng):
    """The share of votes, of those cast: the share of those on the list is nearly the same."""
    listed, cast = rng.integers(50_000, 90_000, N), rng.integers(20_000, 45_000, N)
    votes = (cast * rng.beta(1, 6, N)).round() + 1
    columns = {"of_listed": (100 * votes / listed).round(2), "turnout": (100 * cast / listed).round(2)}
    columns |= {"votes": votes, "cast": cast, "listed": listed}
    (found,) = told(raw(columns, "share", (100 * votes / cast).round(2)), "leakage")
    assert found.message == "share is in proportion to votes / cast"


def test_numbers_that_were_held_in_32_bits_are_told_with_their_decimals(rng):
    columns = {name: rng.normal(650, 20, N).round(1) for name in ("reading", "maths")}
    mean = ((columns["reading"] + columns["maths"]) / 2).astype(np.float32)
    in_32_bits = {name: values.astype(np.float32) for name, values in columns.items()}
    (found,) = told(raw(in_32_bits, "score", mean), "leakage")
    assert found.message == "score is a multiple of the sum reading + maths"


def test_the_largest_and_the_smallest_of_columns_are_told(rng):
    columns = {name: rng.normal(size=N) for name in "abcd"}
    (found,) = told(raw(columns, "worst", np.maximum(columns["b"], columns["d"])), "leakage")
    assert found.message == "worst is the largest of b, d"
    (found,) = told(raw(columns, "best", np.min([columns[name] for name in "abc"], axis=0)), "leakage")
    assert found.message == "best is the smallest of a, b, c"


def test_any_of_some_flags_is_told_by_whatever_name_the_classes_have(rng):
    flags = {name: rng.random(N) < 0.15 for name in ("fever", "bleeding", "sepsis")} | {"age": rng.normal(size=N)}
    is_any = flags["fever"] | flags["bleeding"] | flags["sepsis"]
    for names in (["no", "yes"], ["complication", "absent"]):
        y = np.where(is_any, names[1], names[0])
        (found,) = told(raw(flags, "outcome", y), "leakage")
        assert set(found.columns) == {"fever", "bleeding", "sepsis"}


def test_what_features_only_predict_well_is_no_finding(rng):
    X = rng.normal(size=(N, 6))
    columns = {f"x{j}": X[:, j] for j in range(6)}
    clean = X[:, 0] + X[:, 1]
    assert told(raw(columns, "y", clean + 0.05 * X[:, 5] * X[:, 4]), "leakage") == []  # 99.8 % explained
    counts = {f"x{j}": rng.integers(0, 3, N) for j in range(6)}
    noisy = counts["x0"] + counts["x1"] + (rng.random(N) < 0.1)
    assert told(raw(counts, "y", noisy), "leakage") == []  # of a few whole numbers, each within one
    assert told(raw(columns, "y", np.where(X[:, 0] > X[:, 1], "yes", "no")), "leakage") == []
    wide = {f"x{j}": rng.normal(size=30) for j in range(200)}  # enough columns to fit any target
    assert told(raw(wide, "y", rng.normal(size=30)), "leakage") == []


def survival(rng, time="followup_days", **more):
    age, size = rng.normal(60, 9, N), rng.gamma(2, 12, N)
    until, end = rng.exponential(900 * np.exp(-0.01 * size)), rng.uniform(200, 2_000, N)
    died = np.where(until < end, "1", "0")
    return {"age": age, "size": size, time: np.minimum(until, end).round(), **more}, died


@pytest.mark.parametrize(
    ("time", "event"),
    [
        ("followup_days", "died"),
        ("Follow.up..months.", "status"),
        ("time", "cens"),
        ("days", "DEATH_EVENT"),
        ("futime", "fustat"),
        ("survival_months", "outcome"),
        ("daysToDeath", "y"),
        ("rfstime", "status"),
        ("rectime", "censdead"),
        ("duration", "observed"),
        ("diff_days", "observed"),
        ("week", "arrest"),
        ("stop", "event"),
        ("lenfol", "fstat"),
        ("TIMEDTH", "DEATH"),
        ("T", "E"),
    ],
)
def test_a_follow_up_time_is_told_beside_its_event(rng, time, event):
    columns, died = survival(rng, time)
    table = raw(columns, event, died)
    (found,) = told(table, "follow-up")
    assert found.columns == (time,)
    (line,) = in_lines([found.as_dict()])
    key = f"target: {in_yaml({'time': time, 'event': event})}"
    start = f"look at the table first: follow-up times ({time}): set {key} in place of target, or set drop: ["
    assert line.startswith(start)


def test_an_event_is_told_beside_a_target_time(rng):
    columns, died = survival(rng)
    columns["died"] = (died == "1").astype(float)
    time = columns.pop("followup_days")
    (found,) = told(raw(columns, "followup_days", time), "follow-up")
    assert found.columns == ("died",)


@pytest.mark.parametrize(
    ("time", "event"),
    [("schooling_years", "status"), ("time_in_hospital", "died"), ("time", "fraud"), ("age", "died"), ("os", "class")],
)
def test_other_times_and_targets_are_none(rng, time, event):
    """Years of schooling, a time that says what of, a target that is no event; and flags that only sound so."""
    columns, died = survival(rng)
    columns = {"size": columns["size"], time: columns["age"].round() if time != "os" else rng.integers(0, 2, N)}
    assert told(raw(columns, event, died), "follow-up") == []


def test_a_time_that_does_not_depend_on_the_event_is_none_unless_its_name_says_so(rng):
    columns, died = survival(rng)
    shuffled = rng.permutation(columns.pop("followup_days"))
    assert told(raw(columns | {"days": shuffled}, "status", died), "follow-up") == []
    assert told(raw(columns | {"followup_days": shuffled}, "status", died), "follow-up")


@pytest.mark.parametrize(("kind", "name"), [("count", "visits"), ("ordered", "grade")])
def test_small_classes_of_what_looks_like_counts_or_orders_do_not_contradict_the_kind(rng, kind, name):
    """Whole numbers of few values are read as classes, of which some are rare."""
    y = rng.poisson(1.2, N) if kind == "count" else np.digitize(rng.normal(size=N), [-1.0, 1.0, 2.1])
    table = raw({"a": rng.normal(size=N)}, name, y.astype(str))
    assert told(table, "few-rows") == told(table, "imbalance") == []
    (found,) = told(table, "count-as-classes" if kind == "count" else "target-kind")
    assert found.advice.endswith(f"set target_kind: {kind}.") and "would have fewer than 10 rows" in found.message
    other = raw({"a": rng.normal(size=N)}, "ward", np.where(y == y.max(), "east", "west"))
    assert told(other, "few-rows")
