"""The configuration: any value at any place is planned or refused in words, and what is accepted stays what it is."""

import copy
import datetime
import json

import pytest
import yaml
from fuzz_config import AS_JSON, BASIC, plan_or_refuse
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import bounded

from blanketflow.config.keys import DATASET, SELECTOR, SPLITS, TOP
from blanketflow.config.reading import read_config
from blanketflow.core.errors import ConfigError
from blanketflow.core.registry import discover
from blanketflow.workflow.specs import canonical_json

GOOD = [yaml.safe_load(BASIC), json.loads(AS_JSON)]
#: What YAML makes of a file, tuples and sets included.
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([0, 1, 2, -1, 10**30, 10**9]),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        ["auto", "frequency", "union", "g2", "ppfs", "sklearn:wine", "simulate:clinic", "a.b:C", ":", ".:x"]
    ),
    st.dates(),
    st.just(datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)),
    st.binary(max_size=4),
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(SCALARS.filter(lambda key: key == key), inner, max_size=3)
    ),
    max_leaves=5,
)
KEYS = sorted(
    {*TOP, *DATASET, *SPLITS, *SELECTOR, "type", "n_repeats", "alpha", "max_k", "n_features", "bins", "model"}
)


def places(raw, at=()):
    """Yield the path of every key, of all depths."""
    for key, value in raw.items():
        yield (*at, key)
        if isinstance(value, dict):
            yield from places(value, (*at, key))


@given(st.data())
@settings(deadline=None, max_examples=300)
@pytest.mark.extended
def test_any_value_at_any_place_is_planned_or_refused(data):
    raw = copy.deepcopy(data.draw(st.sampled_from(GOOD)))
    for _ in range(data.draw(st.integers(1, 3))):
        *above, key = data.draw(st.sampled_from(list(places(raw))))
        section = raw
        for step in above:
            section = section[step]
        what = data.draw(st.sampled_from(["value", "key", "removed"]))
        if what == "value":
            section[key] = data.draw(ANYTHING)
        elif what == "key":
            section[data.draw(st.sampled_from(KEYS) | SCALARS.filter(lambda key: key == key))] = data.draw(ANYTHING)
        else:
            del section[key]
        if not raw:
            break
    plan_or_refuse(raw)


def laughs(depth):
    """Return lists of nine lists of nine lists ...: some lines of YAML, nine to the power of `depth` values."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, depth)]
    return yaml.safe_load("\n".join(lines))[f"a{depth - 1}"]


CYCLE = yaml.safe_load("&a [*a]")
DEEP = yaml.safe_load("a0: &a0 []\n" + "\n".join(f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 3000)))["a2999"]


@pytest.mark.extended
@pytest.mark.parametrize("value", [laughs(9), CYCLE, DEEP], ids=["laughs", "cycle", "deep"])
@pytest.mark.parametrize("at", [("models",), ("output",), ("aggregate",), ("selectors", "jmi", "n_features")])
def test_what_anchors_repeat_without_end_is_refused(at, value):
    raw = copy.deepcopy(GOOD[0])
    _at(raw, at[:-1])[at[-1]] = value
    with (
        bounded(cpu_seconds=20, memory_bytes=2**29),
        pytest.raises(ConfigError, match=r"An anchor \(&name, \*name\) may"),
    ):
        read_config(raw)


@pytest.mark.parametrize(
    ("at", "value", "message"),
    [
        (("splits", "repeats"), 10**9, "repeats is 1000000000, but must be .* at most 1000"),
        (("splits", "evaluation"), 10**9, "at most 10000"),
        (("splits",), {"evaluation": 200, "repeats": 200}, "evaluation times splits.repeats is more than 10,000"),
        (("folds",), 10**9, "at most 10000"),
        (("selectors", "jmi", "folds"), 10**30, "at most 10000"),
        (("metrics",), [{}], "unknown metric {}"),
        (("datasets", "wine", "drop"), [1], "drop is .* a list of names"),
        (("datasets", "wine", "categorical"), [["a"]], "categorical is .* a list of names"),
        (("ci_tests", "quick"), {"type": "ppi", True: 1}, "no option 'True'"),
    ],
)
def test_values_that_planning_once_broke_on_are_refused(at, value, message):
    raw = copy.deepcopy(GOOD[0])
    _at(raw, at[:-1])[at[-1]] = value
    with pytest.raises(ConfigError, match=message):
        read_config(raw)


@pytest.mark.parametrize("section", ["method", "type", "model"])
@pytest.mark.parametrize(
    ("named", "why"),
    [
        (".:x", "relative import"),
        ("of_bad_syntax:A", "SyntaxError"),
        ("that_fails:A", "ZeroDivisionError"),
        ("os:no", "no"),
    ],
)
def test_a_class_whose_module_cannot_be_imported_is_refused(tmp_path, monkeypatch, section, named, why):
    (tmp_path / "of_bad_syntax.py").write_text("def f(:")
    (tmp_path / "that_fails.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    raw = copy.deepcopy(GOOD[0])
    if section == "model":
        raw["models"] = [named]
    else:
        raw["selectors" if section == "method" else "ci_tests"]["mine"] = {section: named}
    with pytest.raises(ConfigError, match=f"'{named}' cannot be imported.*{why}"):
        read_config(raw)


@pytest.mark.parametrize("raw", GOOD)
def test_an_unknown_key_is_named_at_every_depth(raw):
    sections = [(), *(at for at in places(raw) if isinstance(_at(raw, at), dict))]
    for at in sections:
        if at in (("datasets",), ("selectors",), ("ci_tests",)) or at[-1:] == ("aggregate",):
            continue  # ids, and a share
        wrong = copy.deepcopy(raw)
        _at(wrong, at)["nonsense"] = 1
        with pytest.raises(ConfigError, match="'nonsense'"):
            read_config(wrong)


def _at(raw, path):
    for key in path:
        raw = raw[key]
    return raw


@pytest.mark.parametrize("raw", GOOD)
def test_what_was_read_reads_as_itself(raw):
    """The defaults filled in, written down and read again, are the same configuration."""
    read = read_config(raw)
    again = raw | {"datasets": read.datasets, "splits": read.splits, "folds": read.folds, "metrics": read.metrics}
    again = json.loads(canonical_json(again))
    assert read_config(again) == read


@pytest.mark.extended
@pytest.mark.parametrize("package", ["blanketflow.selectors", "blanketflow.ci"])
def test_every_bound_of_every_option_holds(package):
    """A value beyond a declared bound is refused by its key."""
    for identifier, found in discover(package).items():
        for name, parameter in found.parameters().items():
            for bound, step in (
                (parameter.at_least, -1),
                (parameter.at_most, 1),
                (parameter.above, 0),
                (parameter.below, 0),
            ):
                if bound is None:
                    continue
                option = {name: bound + step}
                raw = copy.deepcopy(GOOD[0])
                if package == "blanketflow.ci":
                    raw["ci_tests"]["quick"] = {"type": identifier, **option}
                else:
                    raw["selectors"]["hiton"] = {"method": identifier, **option}
                with pytest.raises(ConfigError, match=rf"{name} is {bound + step}"):
                    read_config(raw)
