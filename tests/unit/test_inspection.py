"""What `inspect` sees in tables whose flaws are known, because they were put there."""

import csv
import dataclasses
import itertools

import numpy as np
import pytest

from blanketflow.api.inspection import ColumnSummary, inspect_columns, inspect_table, likely_targets
from blanketflow.core.table import Column
from blanketflow.data.findings.leakage import told_by
from blanketflow.workflow.plan import make_plan

RNG = np.random.default_rng(5)
N = 120


def write(path, **columns):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(columns)
        out.writerows(zip(*columns.values(), strict=True))
    return {"path": str(path), "target": "outcome"}


@pytest.fixture
def spec(tmp_path):
    """A study with one flaw of each kind, and three sound columns."""
    outcome = RNG.permutation(["ill"] * 100 + ["well"] * 20)
    days = [f"2024-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(N)]
    return write(
        tmp_path / "study.csv",
        row=range(1, N + 1),
        sample_id=RNG.permutation(10_000)[:N],
        patient=[f"p{i // 3}" for i in range(N)],
        visit=days,
        remark=[f"seen on ward {i} by nurse and doctor" for i in range(N)],
        code=np.where(outcome == "ill", "A", "B"),
        outcome_date=RNG.normal(size=N),
        dose=np.where(outcome == "ill", 1.0, 9.0) + RNG.normal(size=N) / 10,
        stage=RNG.integers(1, 5, N),
        age=RNG.normal(50, 10, N).round(1),
        weight=["" if i % 3 else f"{RNG.normal(70, 9):.1f}" for i in range(N)],
        empty=[7] * N,
        sex=RNG.choice(["f", "m"], N),
        outcome=outcome,
    )


def test_every_flaw_is_found_and_sound_columns_are_not_blamed(spec):
    seen = inspect_table(spec)
    assert set(seen.columns_found("leakage")) == {"code", "dose", "outcome_date"}
    assert seen.columns_found("identifier") == ["row", "sample_id"]
    assert seen.columns_found("date") == ["visit"] and seen.columns_found("text") == ["remark"]
    assert seen.columns_found("group") == ["patient"] and seen.columns_found("code") == ["stage"]
    assert seen.columns_found("constant") == ["empty"] and seen.columns_found("missing") == ["weight"]
    assert not {"age", "sex"} & {name for finding in seen.findings for name in finding.columns}
    assert seen.classes == {"ill": 100, "well": 20} and seen.suggested_test == "spline"


def test_few_rows_of_a_class_imbalance_and_width(tmp_path):
    columns = {f"x{i}": RNG.normal(size=40) for i in range(50)}
    seen = inspect_table(write(tmp_path / "a.csv", **columns, outcome=["a"] * 37 + ["b"] * 3))
    assert {"few-rows", "imbalance", "wide"} <= {finding.kind for finding in seen.findings}
    assert "class b (3)" in next(finding.message for finding in seen.findings if finding.kind == "few-rows")


def literal_accuracy(values, classes):
    """Leave one row out: the majority among equal values, else the class of the nearest value, lower on a tie."""
    right = 0
    for i, (value, own) in enumerate(zip(values, classes, strict=True)):
        others = [(v, c) for j, (v, c) in enumerate(zip(values, classes, strict=True)) if j != i]
        same = [c for v, c in others if v == value]
        if not same:
            near = min(abs(v - value) for v, _ in others)
            nearest = min(v for v, _ in others if abs(v - value) == near)
            same = [c for v, c in others if v == nearest]
            counts = [same.count(c) for c in range(3)]
            right += counts.index(max(counts)) == own
            continue
        counts = [same.count(c) for c in range(3)]
        right += counts[own] > max(counts[:own] + counts[own + 1 :])
    largest = max(classes.count(c) for c in range(3)) / len(classes)
    return (right / len(classes) - largest) / (1 - largest)


@pytest.mark.parametrize("seed", range(5))
def test_what_a_column_tells_is_what_a_literal_rendering_says(seed):
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, 3, 40).tolist()
    values = (np.array(classes) * 2 + rng.integers(-3, 4, 40)).tolist()
    found = told_by(
        Column("x", "numeric", np.array(values, dtype=float)),
        Column("y", "categorical", np.array(classes), tuple("abc")),
    )
    assert found == pytest.approx(literal_accuracy(values, classes))


def test_missing_cells_can_tell_the_target_and_noise_cannot():
    y = Column("y", "categorical", np.arange(60) % 2, ("no", "yes"))
    told = np.where(np.arange(60) % 2, np.nan, RNG.normal(size=60))
    assert told_by(Column("x", "numeric", told), y) == 1
    assert told_by(Column("x", "numeric", RNG.normal(size=60)), y) < 0.5
    numbers = Column("y", "numeric", np.linspace(0, 5, 60))
    assert told_by(Column("x", "numeric", np.exp(np.linspace(0, 5, 60))), numbers) > 0.99
    assert told_by(Column("x", "numeric", RNG.normal(size=60)), numbers) < 0.5


def test_what_suits_is_what_the_plan_runs(spec):
    seen = inspect_table(spec)
    tests = {suits.id: suits.reason for suits in seen.tests}
    assert tests["g2"] is None and "takes no categorical" in tests["fisher-z"]
    methods = {suits.id: suits for suits in seen.methods}
    assert all((suits.seconds is None) == (suits.reason is not None) for suits in methods.values())
    selectors = {f"{m}-{t}": {"method": m, "ci_test": t} for m, t in itertools.product(["gs"], ["g2", "fisher-z"])}
    plan = make_plan({"datasets": {"study": spec}, "selectors": selectors, "folds": 0}, lambda name: name)
    assert plan.pairs == [("study", "gs-g2"), ("study", "all")]
    assert [skip.reason for skip in plan.skipped] == [f"{tests['fisher-z']}; set ci_test to lr-mixed or g2"]


def test_very_unequal_weights_are_told_and_no_refused_method_is_advised(tmp_path):
    x, weight = RNG.normal(size=N), np.where(np.arange(N) < 10, 20.0, 1.0)
    study = write(tmp_path / "study.csv", x=x, z=RNG.normal(size=N), weight=weight, outcome=x + RNG.normal(size=N))
    seen = inspect_table({**study, "weights": "weight", "weights_are": "sampling"})
    (found,) = (finding for finding in seen.findings if finding.kind == "weights")
    assert found.message == "weights are very unequal: 120 rows tell about as much as 23 equal ones"  # 310^2 / 4,110
    assert [advice.method for advice in seen.advice] == ["iamb"]
    as_counts = inspect_table({**study, "weights": "weight", "weights_are": "counts"})
    assert not any(finding.kind == "weights" for finding in as_counts.findings)
    assert [advice.method for advice in as_counts.advice] == ["auto", "iamb"]


def test_targets_are_suggested(spec):
    n_rows, _, columns, known_target, *_ = inspect_columns({"path": spec["path"]})
    assert known_target is None
    first, *others = likely_targets(columns)
    assert n_rows == N and first.name == "outcome"
    assert first.reasons == ("its name is 'outcome'", "it is the last column", "it has two values")
    names = [other.name for other in others]
    assert names[0] == "outcome_date" and {"code", "sex"} < set(names)
    assert not {"row", "sample_id", "patient", "visit", "remark", "empty", "age"} & set(names)


def test_numbers_that_are_not_last_are_not_suggested():
    x, y = (ColumnSummary(name, "numeric", 0, 90, "0 .. 1") for name in ("a", "b"))
    assert [(one.name, one.reasons) for one in likely_targets([x, y])] == [("b", ("it is the last column",))]
    assert likely_targets([x, dataclasses.replace(y, looks_like="date")]) == []


def test_a_source_that_names_its_target_needs_no_suggestion():
    assert inspect_columns({"source": "sklearn:wine"}).target == "target"
