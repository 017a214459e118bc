"""Is there a PPFS that is right, as fast, and as accurate? `python -m studies.right_ppfs`.

Adds the scores of a run of tests.yaml by studies/shared/in_parts.py to data_sets.parquet, and renews README.md from
these, from what studies/right_ppfs/simulated.py measured, and from the rates of studies/calibration.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import beta, t

from studies.all_methods.__main__ import guessed, scores_of
from studies.calibration.designs import ALTERNATIVES, NULLS
from studies.right_ppfs.simulated import ALPHA, CALIBRATED, FEW, GIVEN, SAMPLES, SEARCHES, TESTS
from studies.shared.in_parts import folder_of
from studies.shared.over_data_sets import LEVEL, one_of_each, with_earlier
from studies.shared.page import row, write

HERE = Path(__file__).parent
PAPER, PEER = "paper", "pyimpetus"
KIND = ["design", "n", "test"]
#: Of tests.yaml: the seconds of a search, and the searches of a data set.
LIMIT, SPLITS = 60.0, 5
#: What is asked of a test in the place of the paper's. Right: a rate under a null is too high if its exact lower 99 %
#: bound is above alpha, and at most this share of the rates is. Fast: the CPU seconds over those of the paper's test,
#: of all searches together, and the median of data sets. Accurate: the lower 95 % bound of the mean difference of
#: scores over data sets.
MOST_TOO_HIGH, MOST_SECONDS, LEAST_DIFFERENCE = 0.05, 1.5, -0.01


def main() -> None:
    """Add what was run, and renew the page."""
    file, parts = HERE / "data_sets.parquet", folder_of("tests.yaml")
    raw = pd.read_parquet(file) if file.exists() else pd.DataFrame()
    for tables in sorted((parts / "tables").glob("*")):
        raw = with_earlier(scores_of(tables, parts), raw)
    raw = raw[raw["selector"].isin(("all", "none", *SEARCHES, PEER))]
    raw.to_parquet(file, index=False)
    rates, found = rates_of(), pd.read_parquet(HERE / "networks.parquet")
    judged = verdicts(rates, raw)
    blocks = {
        "answer": answer(judged),
        "nulls": by_design(rates, NULLS),
        "power": by_design(rates, ALTERNATIVES),
        "networks": networks(found),
        "beside": judged_table(judged),
        "peer": peer(raw),
        "data sets": each(raw),
    }
    write(HERE / "README.md", blocks)


def rates_of() -> pd.DataFrame:
    """Return how often each test rejects, measured here and in studies/calibration."""
    counts = pd.read_parquet(HERE.parent / "calibration" / "ci-tests.parquet")
    counts = counts[(counts["options"] == "") & counts["test"].isin(CALIBRATED) & (counts["k"] == GIVEN)]
    counts = counts[counts["n"].isin(SAMPLES) & counts["design"].isin(NULLS)]
    theirs = counts.rename(columns={"rejected_05": "rejected"}).groupby(KIND)[["samples", "rejected"]].sum()
    found = pd.concat([pd.read_parquet(HERE / "nulls.parquet"), theirs.reset_index()])
    least = beta.ppf(0.01, found["rejected"], found["samples"] - found["rejected"] + 1)
    return found.assign(rate=found["rejected"] / found["samples"], is_high=np.nan_to_num(least) > ALPHA)


def by_design(rates: pd.DataFrame, designs: dict) -> str:
    """Return the rates of each design, in per cent with 200 and with 1,000 rows; in bold if too high under a null."""
    tests = [name for name in TESTS if name in set(rates.loc[rates["design"].isin(designs), "test"])]
    lines = [row("design", *(f"`{name}`" for name in tests)), row("---", *["---"] * len(tests))]
    one = rates.set_index(KIND)
    for design in designs:
        cells = []
        for test in tests:
            known = [(design, n, test) for n in SAMPLES if (design, n, test) in one.index]
            texts = [f"{one.loc[key, 'rate']:.0%}".rstrip("%") for key in known]
            is_null = design in NULLS
            texts = [f"**{x}**" if is_null and one.loc[k, "is_high"] else x for x, k in zip(texts, known, strict=True)]
            cells.append(", ".join(texts))
        if any(cells):
            lines.append(row(design.replace("_", " "), *cells))
    return "\n".join(lines)


def networks(found: pd.DataFrame) -> str:
    """Return what PPFS finds of blankets by each test."""
    false = found["found"] - found["hits"]
    found = found.assign(
        precision=(found["hits"] / found["found"]).fillna(1.0),
        recall=(found["hits"] / found["size"]).fillna(1.0),
        f1=(2 * found["hits"] / (found["found"] + found["size"])).fillna(1.0),
        false=false / (found["d"] - found["size"]),
    )
    heads = (
        "rows",
        "test",
        "targets",
        "features",
        "false features kept",
        "precision",
        "recall",
        "F1",
        "CPU s a search",
    )
    lines = [row(*heads), row(*["---"] * len(heads))]
    for rows, here in found.groupby("rows"):
        for test in SEARCHES:
            part = here[here["test"] == test]
            if part.empty:
                continue
            of = part.groupby("network")[["found", "false", "precision", "recall", "f1", "seconds"]].mean().mean()
            numbers = (f"{of['found']:.1f}", f"{of['false']:.1%}", *(f"{of[x]:.2f}" for x in ("precision", "recall")))
            lines.append(row(f"{rows:,}", f"`{test}`", len(part), *numbers, f"{of['f1']:.2f}", f"{of['seconds']:.2f}"))
    return "\n".join(lines)


def verdicts(rates: pd.DataFrame, raw: pd.DataFrame) -> pd.DataFrame:
    """Return what the evidence says of each test, on the data sets, one of each study, that it and the paper's ran on.

    Where a test has no answer models guess, and the search took its limit.
    """
    raw = guessed(raw)
    once = raw[raw["dataset"].isin(one_of_each(sorted(set(raw["dataset"]))))]
    scores = once.groupby(["dataset", "selector"])["mean"].mean().unstack()
    pairs = once.drop_duplicates(["dataset", "selector"]).set_index(["dataset", "selector"])
    seconds = seconds_of(pairs).unstack()
    shares = (pairs["n_features"] / pairs["d"]).unstack()
    nulls = rates[rates["design"].isin(NULLS)].groupby("test")["is_high"].agg(["sum", "count"])
    lines = []
    for name in (name for name in SEARCHES if name in scores):
        both = scores[[name, PAPER, "all"]].dropna().index
        d = (scores.loc[both, name] - scores.loc[both, PAPER]).to_numpy()
        half = float(t.ppf(0.975, len(d) - 1) * d.std(ddof=1) / np.sqrt(len(d)))
        ratio = float((seconds.loc[both, name] / seconds.loc[both, PAPER]).median())
        total = float(seconds.loc[both, name].sum() / seconds.loc[both, PAPER].sum())
        n_high, n_rates = (int(x) for x in nulls.loc[FEW.get(name, (name,))[0]])
        lines.append(
            {
                "test": name,
                "too high": n_high,
                "rates": n_rates,
                "of all": scores.loc[both, "all"].mean(),
                "of paper": scores.loc[both, PAPER].mean(),
                "score": scores.loc[both, name].mean(),
                "difference": d.mean(),
                "half": half,
                "better": int((d > LEVEL).sum()),
                "worse": int((d < -LEVEL).sum()),
                "data sets": len(d),
                "share": shares.loc[both, name].mean(),
                "share of paper": shares.loc[both, PAPER].mean(),
                "total": total,
                "ratio": ratio,
                "right": n_high <= MOST_TOO_HIGH * n_rates,
                "fast": total <= MOST_SECONDS and ratio <= MOST_SECONDS,
                "accurate": name == PAPER or d.mean() - half >= LEAST_DIFFERENCE,
            }
        )
    return pd.DataFrame(lines).set_index("test")


def seconds_of(pairs: pd.DataFrame) -> pd.Series:
    """Return the CPU seconds of all searches; one without an answer took its limit."""
    return (pairs["seconds"] * pairs["n_searches"]).fillna(0.0) + LIMIT * SPLITS * (1.0 - pairs["answered"])


def answer(judged: pd.DataFrame) -> str:
    """Return whether a test is right, as fast and as accurate."""
    heads = ("test", "right", "as fast", "as accurate")
    lines = [row(*heads), row(*["---"] * len(heads))]
    for name, one in judged.iterrows():
        right = f"{'yes' if one['right'] else 'no'}: {one['too high']} of {one['rates']} rates too high"
        fast = f"{'yes' if one['fast'] else 'no'}: {one['total']:.2g} times, median {one['ratio']:.2g}"
        low, high = one["difference"] - one["half"], one["difference"] + one["half"]
        accurate = f"{'yes' if one['accurate'] else 'no'}: {one['difference']:+.3f} ({low:+.3f} to {high:+.3f})"
        if name == PAPER:
            fast = accurate = "compared with"
        lines.append(row(f"`{name}`", right, fast, accurate))
    return "\n".join(lines)


def judged_table(judged: pd.DataFrame) -> str:
    """Return what PPFS scores and keeps on data sets by each test, beside all features and the paper's test."""
    heads = ("test", "data sets", "mean score", "of the paper's", "of all features", "better", "worse", "features kept")
    lines = [row(*heads, "by the paper's"), row(*["---"] * (len(heads) + 1))]
    for name, one in judged.iterrows():
        means = (f"{one[x]:.3f}" for x in ("score", "of paper", "of all"))
        shares = (f"{one[x]:.0%}".replace("%", " %") for x in ("share", "share of paper"))
        lines.append(row(f"`{name}`", one["data sets"], *means, one["better"], one["worse"], *shares))
    return "\n".join(lines)


def peer(raw: pd.DataFrame) -> str:
    """Return PyImpetus beside the tests on the data sets that it ran on."""
    raw = guessed(raw)
    names = sorted(set(raw.loc[raw["selector"] == PEER, "dataset"]))
    here = raw[raw["dataset"].isin(names)]
    pairs = here.drop_duplicates(["dataset", "selector"])
    heads = ("selector", "data sets", "mean score", "features kept", "CPU s of all searches")
    lines = [row(*heads), row(*["---"] * len(heads))]
    for name in (PEER, *SEARCHES):
        part = pairs[pairs["selector"] == name]
        if part.empty:
            continue
        score = here[here["selector"] == name].groupby("dataset")["mean"].mean().mean()
        seconds = seconds_of(part).sum()
        share = f"{(part['n_features'] / part['d']).mean():.0%}".replace("%", " %")
        lines.append(
            row("PyImpetus" if name == PEER else f"`{name}`", len(part), f"{score:.3f}", share, f"{seconds:.3g}")
        )
    return "\n".join(lines)


def each(raw: pd.DataFrame) -> str:
    """Return the mean score and the number of features of each data set by each test."""
    raw = guessed(raw)
    scores = raw.groupby(["dataset", "selector"])["mean"].mean()
    pairs = raw.drop_duplicates(["dataset", "selector"]).set_index(["dataset", "selector"])
    names = [name for name in SEARCHES if name in set(raw["selector"])]
    lines = [row("data set", "rows x features", "all", *(f"`{name}`" for name in names))]
    lines.append(row(*["---"] * (len(names) + 3)))
    order = raw.groupby("dataset")[["n", "d"]].max().prod(axis=1).sort_values().index
    for dataset in order:
        n, d = (int(pairs.loc[dataset][x].max()) for x in ("n", "d"))
        cells = []
        for name in names:
            is_known = (dataset, name) in scores.index
            at = (dataset, name)
            cells.append(f"{scores[at]:.3f}, {pairs.loc[at, 'n_features']:.3g}" if is_known else "")
        lines.append(row(f"`{dataset}`", f"{n:,} x {d:,}", f"{scores[dataset, 'all']:.3f}", *cells))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
