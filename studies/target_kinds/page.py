"""The tables of README.md, from what was measured."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from studies.shared.page import row
from studies.target_kinds import public, simulated
from studies.target_kinds.data import SETS

LEVEL = 0.05
#: Columns from which a set counts as wide.
WIDE = 20


def _head(*names: str) -> list[str]:
    return [row(*names), row(*["---"] * len(names))]


def _interval(values: np.ndarray, digits: int = 2, signed: bool = False) -> str:
    """Return a mean with its 95 % t interval, which of unsigned values, from 0 to 1, ends there."""
    mean, sign = float(np.mean(values)), "+" if signed else ""
    if len(values) < 2:
        return f"{mean:{sign}.{digits}f}"
    half = float(stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values)))
    low, high = (mean - half, mean + half) if signed else (max(mean - half, 0.0), min(mean + half, 1.0))
    return f"{mean:{sign}.{digits}f} ({low:{sign}.{digits}f} to {high:{sign}.{digits}f})"


# --- simulated networks -----------------------------------------------------------------------------------------------


def read_simulated(path: Path) -> pd.DataFrame:
    """Return the results of networks of which all searches were made, with precision, recall and F1."""
    found = pd.read_csv(path)
    n_wanted = sum(len(list(simulated.searches(kind))) for kind in simulated.DRAWN)
    found = found[found.groupby(["network", "rows"])["kind"].transform("size") == n_wanted]
    precision = np.where(found["found"] > 0, found["hits"] / found["found"].clip(lower=1), 1.0)
    f1 = 2 * found["hits"] / (found["found"] + found["true"])
    return found.assign(precision=precision, recall=found["hits"] / found["true"], f1=f1)


def forms_table(found: pd.DataFrame, method: str) -> str:
    """Return F1 of the target as its kind and as other things, with intervals over networks."""
    lines = _head("kind", "searched as", *(f"{rows:,} rows" for rows in simulated.N_NETWORKS))
    found = found[(found["method"] == method) & (found["test"] == "lr-mixed")]
    for kind in simulated.DRAWN:
        for form in (kind, *simulated.OTHER_FORMS[kind]):
            own = found[(found["kind"] == kind) & (found["form"] == form)]
            cells = [_interval(own.loc[own["rows"] == rows, "f1"].to_numpy()) for rows in simulated.N_NETWORKS]
            lines.append(row(kind, "its kind" if form == kind else form, *cells))
    return "\n".join(lines)


def gains_table(found: pd.DataFrame) -> str:
    """Return differences of F1 on the same rows: as its kind minus as another thing."""
    lines = _head("kind", "beside", *(f"{rows:,} rows" for rows in simulated.N_NETWORKS))
    found = found[(found["test"] == "lr-mixed") & found["method"].isin(simulated.METHODS[:2])]
    for kind in simulated.DRAWN:
        own = found[found["kind"] == kind].groupby(["form", "rows", "network"])["f1"].mean()
        for form in simulated.OTHER_FORMS[kind]:
            gains = own[kind] - own[form]
            lines.append(
                row(kind, form, *(_interval(gains[rows].to_numpy(), signed=True) for rows in simulated.N_NETWORKS))
            )
    return "\n".join(lines)


def searches_table(found: pd.DataFrame) -> str:
    """Return precision, recall, F1 and seconds of searches and tests of the target as its kind."""
    lines = _head("rows", "test", "search", "precision", "recall", "F1", "CPU seconds")
    found = found[found["form"] == found["kind"]]
    for rows in simulated.N_NETWORKS:
        for test, methods in simulated.TESTS.items():
            for method in methods:
                own = found[(found["rows"] == rows) & (found["test"] == test) & (found["method"] == method)]
                of_network = own.groupby("network")[["precision", "recall", "f1"]].mean()
                cells = [_interval(of_network[value].to_numpy()) for value in of_network]
                lines.append(row(f"{rows:,}", test, method, *cells, f"{own['seconds'].mean():.2g}"))
    return "\n".join(lines)


def kinds_table(found: pd.DataFrame) -> str:
    """Return precision and recall of each kind by one search and test, and the seconds."""
    lines = _head("kind", "rows", "precision", "recall", "CPU seconds, lr-mixed", "spline", "gcm")
    found = found[(found["form"] == found["kind"]) & (found["method"] == "hiton-mb")]
    for kind in simulated.DRAWN:
        for rows in simulated.N_NETWORKS:
            own = found[(found["kind"] == kind) & (found["rows"] == rows)]
            linear = own[own["test"] == "lr-mixed"]
            seconds = [f"{own.loc[own['test'] == test, 'seconds'].mean():.2g}" for test in simulated.TESTS]
            cells = [_interval(linear[value].to_numpy()) for value in ("precision", "recall")]
            lines.append(row(kind, f"{rows:,}", *cells, *seconds))
    return "\n".join(lines)


# --- published tables -------------------------------------------------------------------------------------------------

#: What is compared: a judge's name, and its column of results.
JUDGES = {"linear": "linear", "boosted": "boosted"}
HARRELL = {"linear, Harrell": "harrell linear", "boosted, Harrell": "harrell boosted"}


class Compared(NamedTuple):
    """One of our sets beside a competitor's by one judge: mean difference, half its interval, and p-values."""

    data: str
    ours: str
    other: str
    judge: str
    difference: float
    half: float
    p: float
    holm: float


def read_public(path: Path) -> pd.DataFrame:
    """Return the results of splits, with the share of features kept."""
    found = pd.read_csv(path)
    return found.assign(share=found["kept"] / found["columns"])


def _difference(values: np.ndarray, ratio: float) -> tuple[float, float, float]:
    """Return the mean, half its 95 % interval and the p-value of differences over splits that share rows.

    The variance is that of Nadeau and Bengio (2003, doi:10.1023/A:1024068626366): 1/J is replaced by 1/J + unseen rows
    / rows to choose by.
    """
    mean, J = float(np.mean(values)), len(values)
    error = float(np.std(values, ddof=1) * np.sqrt(1 / J + ratio))
    if error < 1e-12:
        return mean, 0.0, 1.0 if abs(mean) < 1e-12 else 0.0
    return mean, float(stats.t.ppf(1 - LEVEL / 2, J - 1)) * error, float(2 * stats.t.sf(abs(mean) / error, J - 1))


def _holm(p: np.ndarray) -> np.ndarray:
    order = np.argsort(p)
    adjusted = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    found = np.empty(len(p))
    found[order] = np.minimum(adjusted, 1.0)
    return found


def compared(found: pd.DataFrame, facts: pd.DataFrame, judges: dict[str, str]) -> Iterator[Compared]:
    """Compare each of our methods with all others; Holm's correction is over others and judges of a set."""
    others = [method for method in public.METHODS if method not in public.OURS]
    for name in SETS:
        ratio = float(facts.loc[name, "unseen"] / facts.loc[name, "taught"])
        wide = found[found["set"] == name].pivot(index="split", columns="method", values=list(judges.values()))
        wide = wide.dropna(axis=1, how="all")
        for ours in public.OURS:
            rows = []
            for judge, column in judges.items():
                if column not in wide or ours not in wide[column]:
                    continue
                for other in others:
                    values = (wide[column][ours] - wide[column][other]).dropna().to_numpy()
                    rows.append((ours, other, judge, *_difference(values, ratio)))
            for one, holm in zip(rows, _holm(np.array([one[-1] for one in rows])) if rows else [], strict=True):
                yield Compared(name, *one, holm)


def scores_table(found: pd.DataFrame, column: str) -> str:
    """Return the mean score of each method on each set; the best is bold."""
    methods = [method for method in public.METHODS if method in set(found["method"])]
    lines = _head("set", *methods)
    for name in SETS:
        means = found[found["set"] == name].groupby("method")[column].mean()
        if means.isna().all():
            continue
        best = means.round(3).max()
        cells = [f"**{means[m]:.3f}**" if round(means[m], 3) == best else f"{means[m]:.3f}" for m in methods]
        lines.append(row(name, *cells))
    return "\n".join(lines)


def shares_table(found: pd.DataFrame) -> str:
    """Return the mean share of features that each method keeps of each set, and its seconds."""
    methods = [method for method in public.METHODS if method in set(found["method"])]
    lines = _head("set", "columns", *methods)
    for name in SETS:
        own = found[found["set"] == name]
        means = own.groupby("method")["share"].mean()
        lines.append(row(name, own["columns"].iloc[0], *(f"{means[m]:.0%}" for m in methods)))
    medians = found.groupby("method")["share"].median()
    lines.append(row("median of all splits", "", *(f"{medians[m]:.0%}" for m in methods)))
    seconds = found.groupby("method")["seconds"].mean()
    lines.append(row("CPU seconds, mean", "", *(f"{seconds[m]:.2g}" for m in methods)))
    return "\n".join(lines)


def summary_table(all_of: list[Compared], sets: list[str], judges: dict[str, str]) -> str:
    """Return differences over sets, and on how many sets ours is better and worse before and after correction."""
    lines = _head("ours", "beside", *(cell for judge in judges for cell in (f"{judge}: difference", "better", "worse")))
    for ours in public.OURS:
        for other in (method for method in public.METHODS if method not in public.OURS):
            cells = []
            for judge in judges:
                some = [c for c in all_of if (c.ours, c.other, c.judge) == (ours, other, judge) and c.data in sets]
                if some:
                    cells.append(_interval(np.array([c.difference for c in some]), digits=3, signed=True))
                    cells += _counts(some)
            if cells:
                lines.append(row(ours, other, *cells))
    return "\n".join(lines)


def _counts(some: list[Compared]) -> list[str]:
    """Return how many differences are for and against ours, before correction and after Holm."""
    seen = ([c for c in some if c.p < LEVEL and sign * c.difference > 0] for sign in (1, -1))
    return [f"{len(part)} ({sum(c.holm < LEVEL for c in part)})" for part in seen]


def losses_table(all_of: list[Compared]) -> str:
    """Return every comparison in which ours is worse before correction."""
    lines = _head("set", "ours", "beside", "judge", "difference", "p", "Holm")
    worse = sorted((c for c in all_of if c.p < LEVEL and c.difference < 0), key=lambda c: (c.holm, c.p))
    for c in worse:
        said = f"{c.difference:+.3f} ({c.difference - c.half:+.3f} to {c.difference + c.half:+.3f})"
        lines.append(row(c.data, c.ours, c.other, c.judge, said, f"{c.p:.2g}", f"{c.holm:.2g}"))
    return "\n".join(lines)


def sentence(found: pd.DataFrame, all_of: list[Compared]) -> str:
    """Return what came of the aims, in words."""
    said = []
    for ours in public.OURS:
        some = [c for c in all_of if c.ours == ours]
        if not some:
            continue
        better, worse = _counts(some)
        seen = np.median(np.array([c.half for c in some if c.half > 0]))
        said.append(
            f"- `{ours}`: of {len(some)} comparisons, {worse} are worse and {better} better. Half the width of an "
            f"interval is {seen:.3f} in the median: smaller differences are usually not seen. {_kept(found, ours)}."
        )
    return "\n".join(said)


def _kept(found: pd.DataFrame, ours: str) -> str:
    """Return in words the shares of columns kept of wide sets, by ours and by the median of the others."""
    said = []
    for name in found.loc[found["columns"] >= WIDE, "set"].unique():
        shares = found[found["set"] == name].groupby("method")["share"].median()
        others = shares.drop(labels=[*public.OURS, public.ALL], errors="ignore")
        said.append(f"{shares[ours]:.0%} of the columns of {name} (the others {others.median():.0%})")
    return f"It keeps {' and '.join(said)}"


def sets_table(facts: pd.DataFrame) -> str:
    """Return what the sets are."""
    lines = _head("set", "package", "kind", "rows", "columns", "events", "rows to choose by", "unseen rows")
    for name, one in facts.iterrows():
        events = one["events"]
        numbers = (f"{one['rows']:,}", one["columns"], events, one["taught"], one["unseen"])
        lines.append(row(name, SETS[str(name)][1], one["kind"], *numbers))
    return "\n".join(lines)


def residuals_table(seen: pd.DataFrame, facts: pd.DataFrame) -> str:
    """Return the largest standardised correlations of a column with residuals of times."""
    lines = _head("set", "events", "rows", "normal scores", "martingale residuals", "deviance residuals")
    for one in seen.itertuples(index=False):
        n = facts.loc[one[0]]
        lines.append(row(one[0], f"{n['events']}", f"{n['rows']:,}", *(f"{value:.1f}" for value in one[1:])))
    return "\n".join(lines)
