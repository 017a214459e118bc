"""The tables of README.md: every selector by every judge, and what the splits could have shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from studies.shared.page import row

#: The data sets on which `auto` was designed.
DESIGNED_ON = {
    "auto-mobile",
    "auto-mpg",
    "colon",
    "colon-numbers",
    "cpu-performance",
    "credit",
    "desharnais",
    "ecoli",
    "german",
    "hepatitis",
    "housing",
    "ionosphere",
    "kr-vs-kp",
    "promoter",
    "reged1",
    "sonar",
    "spect",
    "statlog",
    "waveform",
    "wdbc",
}
GENES = {"colon", "colon-numbers", "leukemia", "leukemia-numbers", "lung", "lung-cancer", "prostate", "prostate-singh"}
#: Where most features are noise: tables of genes, and tables to which their makers added it.
MOSTLY_NOISE = GENES | {"arcene", "dexter", "gisette", "madelon", "reged1"}
#: A table of numbers that moves the mean of the others: 62 rows.
ODD_ONE = "maxwell"
#: The judges by column, and those of them that `auto` asks itself.
JUDGES = {
    "linear": "logistic or ridge regression",
    "knn": "nearest neighbours",
    "lightgbm": "boosted trees",
    "svm": "SVM",
    "forest": "random forest",
    "mlp": "neural network",
}
ASKED = ("linear", "knn", "lightgbm")
MEAN = "mean"
#: A difference of scores that counts as one, in counts of data sets.
DIFFERS = 0.005
#: What a person would call worse: so much less of accuracy or R-square; and significantly so.
WORSE, LEVEL = 0.02, 0.05
#: Splits are parts of partitions into so many.
PARTS = 3
ACCURACY, R2 = "accuracy", "r2"


def with_judges(raw: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows with a column for each judge and for their mean, and the judges who judged every answer."""
    raw = raw.assign(linear=raw["logistic"].fillna(raw["ridge"])).reindex(columns=[*{**dict.fromkeys(raw), **JUDGES}])
    answers = raw[raw["n_features"].notna()]
    judges = [name for name in JUDGES if answers[name].notna().all()]
    return raw.assign(mean=raw[judges].mean(axis=1)), judges


def differences(raw: pd.DataFrame, judges: Sequence[str]) -> pd.DataFrame:
    """Return the rows with each judge's difference to all features on the same split, missing without an answer.

    The data sets are those that were run with all features and with `auto`.
    """
    whole = raw[raw["selector"] == "all"].set_index(["dataset", "split"])
    found = raw[raw["dataset"].isin(set(raw.loc[raw["selector"] == "auto", "dataset"]))]
    found = found[pd.MultiIndex.from_frame(found[["dataset", "split"]]).isin(whole.index)]
    own = pd.MultiIndex.from_frame(found[["dataset", "split"]])
    expected = {name: whole.loc[own, name].to_numpy() for name in (*judges, MEAN)}
    return found.assign(
        **{name: found[name] - values for name, values in expected.items()},
        all_features=expected[MEAN],
        answered=found["n_features"].notna(),
    )


def by_set(found: pd.DataFrame, judges: Sequence[str], stability: Callable[..., float]) -> pd.DataFrame:
    """Return one row per data set and selector: each judge's mean difference to all features, and the features kept.

    A selector without an answer leaves a person with all features, and is counted so.
    """
    rows = []
    for (dataset, selector), some in found.groupby(["dataset", "selector"]):
        d = int(some["d"].max())
        sizes = some["n_features"].fillna(d).to_numpy(dtype=float)
        mean = some[MEAN].fillna(0.0).to_numpy()
        rows.append(
            {
                "dataset": dataset,
                "selector": selector,
                "metric": some["metric"].iloc[0],
                **some[[*judges, MEAN]].fillna(0.0).mean().to_dict(),
                "all_features": some["all_features"].mean(),
                "p_value": corrected_p(mean),
                "seen": smallest_seen(mean),
                "n_splits": len(some),
                "share": (sizes / d).mean(),
                "n_features": sizes.mean(),
                "d": d,
                "stability": stability(some["chosen"].dropna(), d),
                "seconds": some["seconds"].mean(),
                "answered": bool(some["answered"].all()),
                "recorded": bool(some.loc[some["answered"], "chosen"].notna().all()),
            }
        )
    return pd.DataFrame(rows)


def _error(differences: np.ndarray) -> float:
    """Return the standard error of a mean difference over splits with overlapping training rows.

    That of the corrected resampled t test of Nadeau and Bengio (2003), doi:10.1023/A:1024068626366.
    """
    return float(np.sqrt(differences.var(ddof=1) * (1 / len(differences) + 1 / (PARTS - 1))))


def corrected_p(differences: np.ndarray) -> float:
    """Return the two-sided p-value of a mean difference, by the corrected resampled t test."""
    error = _error(differences)
    if error == 0:
        return 1.0 if differences.mean() == 0 else 0.0
    return float(2 * stats.t.sf(abs(differences.mean()) / error, len(differences) - 1))


def smallest_seen(differences: np.ndarray) -> float:
    """Return the smallest mean loss that would have been significant with differences that vary so much."""
    return float(stats.t.ppf(1 - LEVEL / 2, len(differences) - 1)) * _error(differences)


def by_completeness(found: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows of the selectors that were run on all data sets, and the names of the others.

    Stability stays where the features of all these selectors are recorded, so that means over data sets can be
    compared. It is missing where a selector kept all features or none.
    """
    n_sets = found.groupby("selector")["dataset"].nunique()
    partly = sorted(n_sets.index[n_sets < found["dataset"].nunique()])
    found = found[~found["selector"].isin(partly)]
    known = found.groupby("dataset")["recorded"].transform("all")
    return found.assign(stability=found["stability"].where(known)), partly


def means(found: pd.DataFrame, judges: Sequence[str]) -> pd.DataFrame:
    """Return one row per selector: mean differences by judge and kind of table, and sizes; the best accuracy first."""
    accuracy = found[found["metric"] == ACCURACY]
    numbers = found[found["metric"] == R2]
    answers = found[found["answered"]]

    def mean(some: pd.DataFrame, column: str = MEAN) -> pd.Series:
        return some.groupby("selector")[column].mean()

    noise, designed = accuracy["dataset"].isin(MOSTLY_NOISE), accuracy["dataset"].isin(DESIGNED_ON)
    columns = {name: mean(accuracy, name) for name in (*judges, MEAN)}
    columns |= {"noise": mean(accuracy[noise]), "others": mean(accuracy[~noise])}
    columns |= {"designed": mean(accuracy[designed]), "not_designed": mean(accuracy[~designed])}
    columns |= {"r2": mean(numbers), "r2_without": mean(numbers[numbers["dataset"] != ODD_ONE])}
    columns |= {"share": mean(found, "share"), "share_answered": mean(answers, "share")}
    of_auto = accuracy[accuracy["selector"] == "auto"].set_index("dataset")[MEAN]
    there = accuracy[accuracy["answered"]].assign(auto=lambda some: some["dataset"].map(of_auto))
    columns |= {"answered": mean(there), "auto_there": mean(there, "auto"), "stability": mean(found, "stability")}
    columns |= {"seconds": found.groupby("selector")["seconds"].median()}
    columns |= {"no_answer": (~found["answered"]).groupby(found["selector"]).sum()}
    sizes = np.log(answers["n_features"].clip(lower=1)).groupby(answers["selector"]).mean()
    columns |= {"size": np.exp(sizes)}
    return pd.DataFrame(columns).sort_values(MEAN, ascending=False)


def table_of_auto(found: pd.DataFrame, judges: Sequence[str]) -> str:
    """Return one row per judge: what it says of `auto`, and which selectors it puts above."""
    heads = ("judge", "`auto` asks it", "accuracy", "better on", "worse on", "largest loss", "R²")
    heads += (f"R² without `{ODD_ONE}`", "selectors above it in accuracy")
    lines = [row(*heads), row(*["---"] * len(heads))]
    ranked = means(found, judges)
    auto = found[found["selector"] == "auto"].set_index("dataset")
    accuracy, numbers = auto[auto["metric"] == ACCURACY], auto[auto["metric"] == R2]
    for name in (*judges, MEAN):
        own = accuracy[name]
        counts = (f"{(own > DIFFERS).sum()} of {len(own)}", f"{(own < -DIFFERS).sum()} of {len(own)}")
        largest = f"{own.min():+.3f} (`{own.idxmin()}`)"
        r2 = (f"{one.mean():+.3f}" for one in (numbers[name], numbers[name].drop(ODD_ONE, errors="ignore")))
        above = ", ".join(f"`{other}`" for other in above_auto(ranked, name)) or "none"
        shown = JUDGES.get(name, "mean of them")
        asks = "" if name == MEAN else "yes" if name in ASKED else "no"
        lines.append(row(shown, asks, f"{own.mean():+.3f}", *counts, largest, *r2, above))
    return "\n".join(lines)


def above_auto(ranked: pd.DataFrame, judge: str) -> list[str]:
    """Return the selectors that a judge puts above `auto`, the best first."""
    others = ranked.drop(index=["auto", "all", "none"], errors="ignore")[judge].sort_values(ascending=False)
    return others.index[others > ranked.loc["auto", judge]].tolist()


def on_fewer_sets(raw: pd.DataFrame, judges: Sequence[str], stability: Callable[..., float]) -> list[str]:
    """Return what judges say of `auto` who judged every answer on some of the data sets with classes only."""
    classes = raw[raw["metric"] == ACCURACY]
    answers, said = classes[classes["n_features"].notna()], []
    for judge in JUDGES:
        if judge in judges or judge not in raw:
            continue
        known = answers[judge].notna().groupby(answers["dataset"]).all()
        some, own = with_judges(classes[classes["dataset"].isin(known.index[known])])
        if judge not in own or not known.any():
            continue
        ranked = means(by_completeness(by_set(differences(some, own), own, stability))[0], own)
        above, n_others = (
            len(above_auto(ranked, judge)),
            len(ranked.drop(index=["auto", "all", "none"], errors="ignore")),
        )
        said.append(
            f"By {JUDGES[judge]}, on {known.sum()} of {len(known)} data sets with classes, it was "
            f"{ranked.loc['auto', judge]:+.3f}; {above or 'none'} of {n_others} other selectors gain more there."
        )
    return said


def table_of_judges(ranked: pd.DataFrame, judges: Sequence[str]) -> str:
    """Return one row per selector: its mean difference to all features by each judge and on kinds of tables."""
    shown = {**{name: JUDGES[name] for name in judges}, MEAN: "mean", "noise": "mean, mostly noise"}
    shown |= {"others": "mean, other tables", "designed": "mean, designed on", "not_designed": "mean, other half"}
    shown |= {"r2": "R², mean", "r2_without": f"R² without `{ODD_ONE}`"}
    lines = [row("selector", *shown.values()), row(*["---"] * (len(shown) + 1))]
    for name, one in ranked.iterrows():
        lines.append(row(f"`{name}`", *(f"{one[column]:+.3f}" for column in shown)))
    return "\n".join(lines)


def table_of_answers(ranked: pd.DataFrame) -> str:
    """Return one row per selector: its failures, its size with and without them, its stability and its seconds."""
    heads = (
        "selector",
        "sets without an answer",
        "accuracy, counted as all",
        "accuracy where it answered",
        "`auto` there",
    )
    heads += ("features kept, counted as all", "kept where it answered", "number there, geometric mean", "stability")
    heads += ("seconds, median",)
    lines = [row(*heads), row(*["---"] * len(heads))]
    for name, one in ranked.iterrows():
        cells = (int(one["no_answer"]), f"{one[MEAN]:+.3f}", f"{one['answered']:+.3f}", f"{one['auto_there']:+.3f}")
        cells += (f"{one['share']:.0%}", f"{one['share_answered']:.0%}", f"{one['size']:.1f}")
        lines.append(row(f"`{name}`", *cells, rounded(one["stability"]), f"{one['seconds']:.2g}"))
    return "\n".join(lines)


def rounded(value: float) -> str:
    """Return a number with two digits; nothing where it is not known."""
    return "" if np.isnan(value) else f"{value:.2f}"


def table_of_sets(found: pd.DataFrame) -> str:
    """Return one row per data set: what `auto` did there, and what loss its splits could have shown."""
    heads = ("data set", "features", "metric", "all features", "`auto`", "loss that could be seen", "kept")
    heads += ("stability", "seconds")
    lines = [row(*heads), row(*["---"] * len(heads))]
    for one in found[found["selector"] == "auto"].sort_values("dataset").itertuples():
        name = f"{one.dataset}{' *' if one.dataset in DESIGNED_ON else ''}"
        scores = (f"{one.all_features:.3f}", f"{one.mean:+.3f}", f"{one.seen:.3f}" if one.seen else "")
        rest = (f"{one.n_features:.1f}", rounded(one.stability), f"{one.seconds:.1f}")
        lines.append(row(name, one.d, one.metric, *scores, *rest))
    return "\n".join(lines)


def power(found: pd.DataFrame) -> str:
    """Return what losses of `auto` the splits could have shown, and which they showed."""
    auto = found[(found["selector"] == "auto") & (found["seen"] > 0)]
    worse = auto[(auto[MEAN] < -WORSE) & (auto["p_value"] < LEVEL)]["dataset"]
    visible = int((auto["seen"] <= WORSE).sum())
    lower, median, upper = auto["seen"].quantile([0.25, 0.5, 0.75])
    few, most = auto["n_splits"].min(), auto["n_splits"].max()
    splits = few if few == most else f"{few} to {most}"
    said = [
        f"With {splits} splits a mean loss of `auto` had to reach {median:.3f} on the median data set to be",
        f"significant ({lower:.3f} and {upper:.3f} at the quartiles), as much as its scores varied there. A loss of",
        f"{WORSE} could have been seen on {visible} of {len(auto)}. A significant one of more was seen on",
        f"{enumerated([f'`{name}`' for name in worse]) or 'none'}.",
    ]
    return "\n".join(said)


def sentences(found: pd.DataFrame, judges: Sequence[str]) -> list[str]:
    """Return how good `auto` is, in sentences of at most 25 words."""
    ranked, n_sets = means(found, judges), found["dataset"].nunique()
    auto, others = ranked.loc["auto"], ranked.drop(index=["auto", "all", "none"], errors="ignore")
    metrics = found.drop_duplicates("dataset")["metric"]
    n_noise = len(MOSTLY_NOISE.intersection(found["dataset"]))
    n_accuracy, n_numbers = int((metrics == ACCURACY).sum()), int((metrics == R2).sum())
    seen = found.loc[(found["selector"] == "auto") & (found["seen"] > 0), "seen"].median()

    def gains(names: Sequence[str]) -> str:
        return enumerated([f"{auto[name]:+.3f} by {JUDGES[name]}" for name in names])

    inside, outside = ([name for name in judges if (name in ASKED) == asked] for asked in (True, False))
    above = {name: len(above_auto(ranked, name)) for name in (*judges, MEAN)}
    parts = [f"{above[name] or 'none'} by {JUDGES[name]}" for name in inside]
    more = [parts[0].replace(" by", " gain more by"), *parts[1:]]
    steadier = int((others["stability"] > auto["stability"]).sum())
    stability = rounded(auto["stability"])
    fails = others["no_answer"].gt(0).sum()
    said = [
        f"To predict, the method `auto` kept {auto['share']:.0%} of the features of {n_sets} data sets on average.",
        f"Accuracy against all features, by models that `auto` asks itself: {gains(inside)}.",
        f"By models that it does not ask: {gains(outside)}.",
        f"Of {len(others)} other selectors, {enumerated(more)}; {above[MEAN] or 'none'} by the mean.",
        f"On {n_noise} tables of mostly noise, such as genes, accuracy changed by {auto['noise']:+.3f}; on the other "
        f"{n_accuracy - n_noise}, by {auto['others']:+.3f}.",
        f"R² changed by {auto['r2']:+.3f} on {n_numbers} tables; without one of 62 rows, by {auto['r2_without']:+.3f}.",
        f"On a typical table only a loss of {seen:.2f} or more would have been significant.",
        f"Across splits its selections have a stability of {stability}; {steadier} others are more stable.",
        f"A minute was not enough for {fails} of the others on some tables, which counts as all features.",
        "The rules of `auto` were last changed when results on all of these data sets were known.",
    ]
    return said


def enumerated(parts: Sequence[str]) -> str:
    """Return texts as a list in words."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]])) if parts else ""
