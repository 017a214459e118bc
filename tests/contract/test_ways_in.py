"""Each option by each way in: it works, or an error says why not, as the table in docs/capabilities.md says."""

import contextlib
import io

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.api.compare import compare_config
from blanketflow.api.select_command import select
from blanketflow.cli import main
from blanketflow.core.errors import BlanketflowError
from generate.ways_in import REFUSING, WAYS

FEATURES, TARGET = ["dose", "age", "noise", "other"], "relapse"
#: Keys of a data set, by what is asked for in the table.
KEYS = {
    "weights that are counts": [{"weights": "counted", "weights_are": "counts"}],
    "sampling weights": [{"weights": "counted", "weights_are": "sampling"}],
    "`groups`": [{"groups": "patient"}],
    "`within`": [{"within": "site"}],
    "`include`, `exclude`, `tiers`": [{"include": ["noise"]}, {"exclude": ["noise"]}, {"tiers": [["age"], ["dose"]]}],
    "`feature_groups`": [{"feature_groups": {"both": ["noise", "other"]}}],
    "`missing: impute`, `drop`, `error`": [{"missing": "impute"}, {"missing": "drop"}],
    "`missing: pairwise`": [{"missing": "pairwise"}],
    "`imputations`": [{"missing": "impute", "imputations": 2}],
    "several targets": [{"target": [TARGET, "age"]}],
}
#: Columns of rows, and what Python's functions call them.
OF_ROWS = {"weights": "sample_weight", "groups": "groups", "within": "within"}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(160, 4)), columns=FEATURES)
    table[TARGET] = table["dose"] + rng.normal(size=160)
    patient = np.arange(160) // 4
    rows = pd.DataFrame({"patient": patient, "site": patient % 4, "counted": rng.integers(1, 3, 160)})
    return table.join(rows).assign(patient=[f"p{k}" for k in patient])


def given(frame, keys):
    """Return the table with missing cells where something is to become of them, and what Python's functions take."""
    table = frame.mask(np.arange(len(frame))[:, np.newaxis] % 9 + (frame.columns != "noise") == 0)
    table = table if "missing" in keys else frame
    arguments = {OF_ROWS.get(key, key): table[of] if key in OF_ROWS else of for key, of in keys.items()}
    targets = arguments.pop("target", [TARGET])
    return table, targets, arguments


def by_fit(frame, keys, folder):
    table, targets, arguments = given(frame, keys)
    of_rows = {key: arguments.pop(key) for key in OF_ROWS.values() if key in arguments}
    y = table[targets] if len(targets) > 1 else table[TARGET]
    return bf.IAMB(ci_test="fisher-z", **arguments).fit(table[FEATURES], y, **of_rows).selected_features_


def by_select(frame, keys, folder):
    table, targets, arguments = given(frame, keys)
    y = table[targets] if len(targets) > 1 else table[TARGET]
    return bf.select(table[FEATURES], y, 2, **arguments).features


def by_blankets(frame, keys, folder):
    table, targets, arguments = given(frame, keys)
    return bf.blankets(table[[*FEATURES, TARGET]], "iamb", "fisher-z", targets=targets, **arguments)[TARGET]


def by_compare(frame, keys, folder):
    table, targets, arguments = given(frame, keys)
    arguments |= {"weights": arguments.pop("sample_weight")} if "sample_weight" in arguments else {}
    y = targets if len(targets) > 1 else TARGET
    asked = [bf.IAMB(ci_test="fisher-z")]
    found = bf.compare(table[[*FEATURES, TARGET]], y, asked, evaluation=0, folds=0, **arguments)
    return found.blanket("iamb", f"table-{TARGET}" if len(targets) > 1 else "table")


def spec(frame, keys, folder):
    """Return the keys of a data set in a file, without the columns that say something of rows but are not asked for."""
    table, _, _ = given(frame, keys)
    table.to_csv(folder / "table.csv", index=False)
    others = [name for name in ("patient", "site", "counted") if name not in keys.values()]
    return {"path": str(folder / "table.csv"), "target": TARGET, **keys, "drop": others}


def by_command(command, asked, frame, keys, folder):
    path, target, *settings = (f"{key}={value}" for key, value in spec(frame, keys, folder).items())
    with contextlib.redirect_stderr(io.StringIO()) as said:
        status = main([command, path.removeprefix("path="), *asked, "--json", "--data-set", target, *settings])
    if status != 0:
        raise BlanketflowError(said.getvalue())


def by_config(frame, keys, folder):
    config = {"datasets": {"table": spec(frame, keys, folder)}, "splits": {"evaluation": 0}, "folds": 0}
    return compare_config({**config, "selectors": {"iamb": {"method": "iamb", "ci_test": "fisher-z"}}}).blankets


COMPARED = ["--methods", "iamb/fisher-z", "--evaluation", "0", "--folds", "0"]
ASK = {
    "`fit`": by_fit,
    "`bf.select`": by_select,
    "`bf.blankets`": by_blankets,
    "`bf.compare`": by_compare,
    "`select`": lambda *asked: by_command("select", ["--method", "iamb", "--ci-test", "fisher-z"], *asked),
    "`compare`": lambda *asked: by_command("compare", COMPARED, *asked),
    "config": by_config,
}


@pytest.mark.extended
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("what", REFUSING)
def test_each_way_in_takes_it_or_says_in_words_that_it_does_not(frame, tmp_path, what, way):
    for keys in KEYS[what]:
        if way in REFUSING[what]:
            with pytest.raises(BlanketflowError, match=r"\w \w"):
                ASK[way](frame, keys, tmp_path)
        else:
            ASK[way](frame, keys, tmp_path)


def by_select_command(frame, keys, folder):
    asked = spec(frame, keys, folder)
    found = select(asked, {"method": "iamb", "ci_test": "asked"}, {"type": "fisher-z"}, seed=0)
    return [row["feature"] for row in found.blanket]


def by_read_config(frame, keys, folder):
    found = by_config(frame, keys, folder)
    return found["feature"].tolist()


@pytest.mark.parametrize("keys", [keys for what in KEYS for keys in KEYS[what] if "target" not in keys], ids=str)
def test_all_ways_find_the_same(frame, keys, tmp_path):
    ways = (by_fit, by_blankets, by_compare, by_select_command, by_read_config)
    found = {way.__name__: list(way(frame, keys, tmp_path)) for way in ways}
    assert len({*map(tuple, found.values())}) == 1 and "dose" in found["by_fit"], found


@pytest.mark.parametrize("what", [what for what in REFUSING if what != "several targets"])
def test_the_answer_refuses_what_its_method_refuses(frame, what):
    for keys in KEYS[what]:
        table, _, arguments = given(frame, keys)
        of_rows = {key: arguments.pop(key) for key in OF_ROWS.values() if key in arguments}
        asked = {**arguments, "budget": {"rows": 60, "fits": 10}}
        said = []
        for ask in (
            lambda asked=asked, rows=of_rows, X=table: bf.Auto(**asked).fit(X[FEATURES], X[TARGET], **rows),
            lambda asked=asked, rows=of_rows, X=table: bf.select(X[FEATURES], X[TARGET], None, **asked, **rows),
        ):
            try:
                ask()
                said.append("")
            except BlanketflowError as error:
                said.append(str(error))
        assert said[0] == said[1] and bool(said[0]) == ("`bf.select`" in REFUSING[what])
