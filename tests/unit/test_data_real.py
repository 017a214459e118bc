"""Real data sets, where they are at hand: reading, peeking and storing agree with what is published of them."""

import json
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from blanketflow.data.card import make_card
from blanketflow.data.provenance import Provenance
from blanketflow.data.sources import read_source
from blanketflow.data.storage import read_table, write_table
from blanketflow.workflow.peek import peek

BESIDE = Path(__file__).resolve().parents[2].parent / "shared" / "data"
ROOT = Path(os.environ.get("BLANKETFLOW_DATA", BESIDE))
CSV_SETS = sorted(p.stem for p in ROOT.glob("*/*.csv") if p.stem == p.parent.name)
LARGE = {"connect_4"}  # read by the head only, to keep the tests quick

pytestmark = pytest.mark.skipif(not ROOT.is_dir(), reason="no real data: set BLANKETFLOW_DATA to a folder of data sets")


def spec_of(name, suffix):
    return {"path": str(ROOT / name / f"{name}.{suffix}"), "target": "target"}


@cache
def read_once(name):
    return read_source(name, spec_of(name, "csv"), 0)


@pytest.mark.parametrize("name", CSV_SETS)
def test_peek_agrees_with_reading(name):
    spec = spec_of(name, "csv")
    facts = peek(name, spec)
    if name in LARGE:
        assert facts.n_rows == pytest.approx(67_557, rel=0.01) and not facts.exact
        return
    raw = read_once(name)
    assert facts.kinds == tuple(sorted({c.kind for c in raw.features.columns}))
    assert facts.task == raw.task.name and tuple(facts.feature_names) == tuple(raw.features.names)
    if facts.exact:
        assert facts.n_rows == raw.features.n_rows and facts.task_reason == raw.task.reason
        assert facts.n_missing == sum(c.n_missing() for c in raw.features.columns)
    else:
        assert facts.n_rows == pytest.approx(raw.features.n_rows, rel=0.05)


@pytest.mark.parametrize("name", CSV_SETS)
def test_types_equal_an_independent_reader(name):
    if name in LARGE:
        pytest.skip("large")
    import pandas as pd

    frame = pd.read_csv(spec_of(name, "csv")["path"], keep_default_na=False, na_values=["", "NA", "?"])
    raw = read_once(name)
    for column in raw.features.columns:
        theirs = frame[column.name]
        if column.kind == "categorical":
            ours = [column.levels[c] if c >= 0 else None for c in column.values]
            assert ours == [None if pd.isna(v) else str(v) for v in theirs]
        else:
            assert np.array_equal(column.numbers(), theirs.to_numpy(dtype=float), equal_nan=True)


def stored(tmp_path, raw):
    write_table(tmp_path / "t.parquet", raw, Provenance())
    return read_table(tmp_path / "t.parquet")


def need(name):
    if not (ROOT / name).is_dir():
        pytest.skip(f"no {name} in {ROOT}")


def test_credit_approval_mixed_and_missing(tmp_path):
    need("credit_approval")
    raw = read_source("credit", spec_of("credit_approval", "csv"), 0)
    card = make_card("credit", raw, spec_of("credit_approval", "csv"))
    assert (card["n_rows"], card["n_features"], card["missing"]["cells"]) == (690, 15, 67)
    assert card["target"]["classes"] == {"+": 307, "-": 383} and card["kinds"]["categorical"] == 9
    complete = read_source("credit", spec_of("credit_approval", "csv") | {"missing": "drop"}, 0)
    assert complete.features.n_rows == 653
    back = stored(tmp_path, raw)
    for a, b in zip(back.features.columns, raw.features.columns, strict=True):
        assert (a.name, a.kind, a.levels) == (b.name, b.kind, b.levels)
        assert np.array_equal(a.numbers(), b.numbers(), equal_nan=True)


def test_arcene_wide_and_dense(tmp_path):
    need("arcene")
    spec = spec_of("arcene", "npz")
    facts, raw = peek("arcene", spec), read_source("arcene", spec, 0)
    assert (facts.n_rows, facts.n_features, facts.kinds) == (200, 10_000, ("integer",))
    assert facts.class_counts == {"-1": 112, "1": 88} and raw.features.n_rows == 200
    total = sum(int(c.values.sum(dtype=np.int64)) for c in raw.features.columns)
    assert total == 70_726_744 + 71_410_108  # the challenge's check sums
    assert np.array_equal(stored(tmp_path, raw).features.matrix(), raw.features.matrix())


def test_dexter_sparse(tmp_path):
    need("dexter")
    spec = spec_of("dexter", "npz")
    facts, raw = peek("dexter", spec), read_source("dexter", spec, 0)
    assert (facts.n_rows, facts.n_features, facts.n_missing) == (600, 20_000, 0)
    assert facts.class_counts == {"-1": 300, "1": 300}
    total = sum(int(c.values.values.sum(dtype=np.int64)) for c in raw.features.columns)
    assert total == 2_816_528 + 2_820_952
    assert json.dumps(make_card("dexter", raw, spec))
    names = raw.features.names[5:300:7]
    write_table(tmp_path / "t.parquet", raw, Provenance())
    back = read_table(tmp_path / "t.parquet", names).features
    assert np.array_equal(back.matrix(), raw.features.matrix(names))
