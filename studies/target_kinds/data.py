"""Published tables with a target of a further kind, as packages ship them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from blanketflow.core.convert import as_table
from blanketflow.core.table import Table
from blanketflow.targets.forms import as_target


class PublicSet(NamedTuple):
    """A table with missing cells as they are, and its target; `strata` is what splits are stratified by."""

    kind: str
    table: pd.DataFrame
    y: dict[str, np.ndarray]
    strata: np.ndarray

    def target(self, rows: np.ndarray) -> Any:
        """Return the target of some rows as a column."""
        return as_target("study", "target", {key: cells[rows] for key, cells in self.y.items()}, self.kind)

    def features(self, rows: np.ndarray, taught: np.ndarray) -> Table:
        """Return the features of some rows, with medians and most frequent labels of the rows `taught` for gaps."""
        filled = {}
        for name, column in self.table.items():
            known = column.iloc[taught].dropna()
            numeric = pd.api.types.is_numeric_dtype(column)
            filled[name] = column.fillna(known.median() if numeric else known.mode().iloc[0])
        return as_table(pd.DataFrame(filled)).take(rows)


def _made(kind: str, frame: pd.DataFrame, y: dict[str, Any], drop: tuple[str, ...] = ()) -> PublicSet:
    cells = {key: np.asarray(values) for key, values in y.items()}
    own = next(iter(cells.values()))
    if kind == "survival":
        strata = cells["event"].astype(int)
    elif kind == "ordered":
        strata = own.astype(int)
    else:
        strata = np.searchsorted(np.unique(np.quantile(own, (0.25, 0.5, 0.75))), own, side="left")
    table = frame.drop(columns=list(drop)).reset_index(drop=True)
    for name in table:
        if not pd.api.types.is_numeric_dtype(table[name]):
            known = table[name].notna()
            table[name] = table[name].astype(str).where(known, None)
    return PublicSet(kind, table, cells, strata)


def _of_sksurv(name: str, drop: tuple[str, ...] = ()) -> Callable[[Path], PublicSet]:
    def read(_: Path) -> PublicSet:
        import sksurv.datasets

        frame, y = getattr(sksurv.datasets, f"load_{name}")()
        event, time = (np.asarray(y[field]) for field in y.dtype.names)
        return _made("survival", frame, {"time": np.where(time > 0, time, 0.5), "event": event}, drop)

    return read


def _lung(folder: Path) -> PublicSet:
    frame = pd.read_csv(folder / "lung.csv").assign(sex=lambda f: f["sex"].astype(str))
    y = {"time": frame["time"], "event": frame["status"] == 2}
    return _made("survival", frame, y, ("time", "status", "inst"))


def _pbc(folder: Path) -> PublicSet:
    frame = pd.read_csv(folder / "pbc.csv").dropna(subset=["trt"])  # the trial; others were observed only
    y = {"time": frame["time"], "event": frame["status"] == 2}
    return _made("survival", frame, y, ("id", "time", "status"))


def _colon(folder: Path) -> PublicSet:
    frame = pd.read_csv(folder / "colon.csv").query("etype == 2")  # death; the other rows are of recurrence
    y = {"time": frame["time"], "event": frame["status"] == 1}
    return _made("survival", frame, y, ("id", "study", "time", "status", "etype"))


def _of_statsmodels(name: str, kind: str, target: str, drop: tuple[str, ...] = ()) -> Callable[[Path], PublicSet]:
    def read(_: Path) -> PublicSet:
        import statsmodels.datasets

        frame = getattr(statsmodels.datasets, name).load_pandas().data
        return _made(kind, frame, {"own": frame[target]}, (target, *drop))

    return read


def _star98(_: Path) -> PublicSet:
    import statsmodels.datasets

    frame = statsmodels.datasets.star98.load_pandas().data
    own = frame["NABOVE"] / (frame["NABOVE"] + frame["NBELOW"])
    return _made("share", frame, {"own": own}, ("NABOVE", "NBELOW"))


def _anes96(_: Path) -> PublicSet:
    import statsmodels.datasets

    frame = statsmodels.datasets.anes96.load_pandas().data
    return _made("ordered", frame, {"own": frame["PID"].astype(int)}, ("PID", "logpopul"))


def _housing(folder: Path) -> PublicSet:
    frame = pd.read_csv(folder / "housing.csv")
    frame = frame.loc[frame.index.repeat(frame["Freq"])]
    places = frame["Sat"].map({"Low": 0, "Medium": 1, "High": 2})
    return _made("ordered", frame, {"own": places}, ("Sat", "Freq"))


def _survey(folder: Path) -> PublicSet:
    frame = pd.read_csv(folder / "survey.csv", keep_default_na=False, na_values="NA")  # None is a level
    return _made("ordered", frame, {"own": frame["Exer"].map({"None": 0, "Some": 1, "Freq": 2})}, ("Exer", "M.I"))


def _of_mass(name: str, kind: str, target: str, drop: tuple[str, ...] = ()) -> Callable[[Path], PublicSet]:
    def read(folder: Path) -> PublicSet:
        frame = pd.read_csv(folder / f"{name}.csv")
        return _made(kind, frame, {"own": frame[target]}, (target, *drop))

    return read


#: How each is read, from a folder with the files that data.R writes; and where it is from.
SETS: dict[str, tuple[Callable[[Path], PublicSet], str]] = {
    "GBSG2": (_of_sksurv("gbsg2"), "scikit-survival"),
    "whas500": (_of_sksurv("whas500"), "scikit-survival"),
    "veteran": (_of_sksurv("veterans_lung_cancer"), "scikit-survival"),
    "flchain": (_of_sksurv("flchain", ("chapter",)), "scikit-survival"),
    "GSE7390": (_of_sksurv("breast_cancer"), "scikit-survival"),
    "aids": (_of_sksurv("aids"), "scikit-survival"),
    "lung": (_lung, "R survival"),
    "pbc": (_pbc, "R survival"),
    "colon": (_colon, "R survival"),
    "randhie": (_of_statsmodels("randhie", "count", "mdvis"), "statsmodels"),
    "quine": (_of_mass("quine", "count", "Days"), "R MASS"),
    "birthwt": (_of_mass("birthwt", "count", "ftv"), "R MASS"),
    "fair": (_of_statsmodels("fair", "ordered", "rate_marriage"), "statsmodels"),
    "anes96": (_anes96, "statsmodels"),
    "housing": (_housing, "R MASS"),
    "survey": (_survey, "R MASS"),
    "star98": (_star98, "statsmodels"),
    "cpus": (_of_mass("cpus", "positive", "perf", ("name", "estperf")), "R MASS"),
}
