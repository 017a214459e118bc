"""The final blanket of each selector, the agreement of pairs, and the comparison with a known truth."""

from __future__ import annotations

from collections.abc import Mapping, Set
from itertools import permutations
from typing import TYPE_CHECKING, Any

from ...core.results import StandIn, in_words
from ...data.artefact_columns import ARTEFACTS, Column, rows_of
from ...data.splits import FINAL
from .result_table import by_importance, frame, is_reference, rows_where, typed_frame

if TYPE_CHECKING:
    import pandas as pd


BLANKETS = rows_of(
    "data set, selector and feature of the final blanket",
    "dataset selector feature importance frequency n_folds role stand_ins",
    n_folds=Column("int64", "inner folds"),
    stand_ins=Column(
        "string",
        "features that keep at least 0.8 of its information about the target: the share and its 95 % interval; from "
        "0.95 on one can stand in for it",
    ),
)
TRUTH = rows_of(
    "data set, selector and split: what was found of the true blanket",
    "dataset selector split precision recall f1 n_chosen n_true n_common pc_precision pc_recall pc_f1 n_true_pc n_pc "
    "n_spouses n_false",
    precision=Column("double", "share of the chosen that are in the true blanket"),
    recall=Column("double", "share of the true blanket that is chosen"),
    f1=Column("double", "harmonic mean of both"),
    n_chosen=Column("int64", "features chosen"),
    n_true=Column("int64", "size of the true blanket"),
    n_common=Column("int64", "features in both"),
    pc_precision=Column("double", "the same for parents and children"),
    pc_recall=Column("double", "the same for parents and children"),
    pc_f1=Column("double", "the same for parents and children"),
    n_true_pc=Column("int64", "true parents and children"),
    n_pc=Column("int64", "true parents and children chosen"),
    n_spouses=Column("int64", "true spouses chosen"),
    n_false=Column("int64", "chosen features outside the true blanket"),
)


def chosen_sets(blankets: pd.DataFrame, folds: pd.DataFrame) -> dict[tuple[str, str, str], frozenset[str]]:
    """Return the chosen features by (dataset, selector, split) in the order of `folds`.

    `folds` lists the splits that were run: an empty selection has no rows in `blankets`.
    """
    runs = folds[["dataset", "selector", "split"]].drop_duplicates()
    sets: dict[tuple[str, str, str], set[str]] = {key: set() for key in runs.itertuples(index=False, name=None)}
    chosen = blankets.loc[blankets["chosen"].astype(bool), ["dataset", "selector", "split", "feature"]]
    for dataset, selector, split, feature in chosen.itertuples(index=False, name=None):
        sets.setdefault((dataset, selector, split), set()).add(feature)
    return {key: frozenset(features) for key, features in sets.items()}


def jaccard(a: Set[str], b: Set[str]) -> float:
    """Return the Jaccard index of two sets; 1 if both are empty."""
    return len(a & b) / len(a | b) if a or b else 1.0


def blankets_table(blankets: pd.DataFrame, folds: pd.DataFrame) -> pd.DataFrame:
    """List the features of each selector's final blanket, most important first.

    The final blanket is that of the split ``full``, selected on all rows; no evaluation split replaces it.
    """
    final = blankets[(blankets["split"] == FINAL) & blankets["chosen"].astype(bool)]
    counts = folds[folds["split"] == FINAL].groupby(["dataset", "selector"], observed=True)["fold"].nunique()
    rows = [
        {
            "dataset": dataset,
            "selector": selector,
            "feature": row.feature,
            "importance": row.importance,
            "frequency": row.frequency,
            "n_folds": int(counts.get((dataset, selector), 0)),
            "role": row.role,
            "stand_ins": in_words([StandIn(**other) for other in row.stand_ins], len(row.stand_ins)),
        }
        for (dataset, selector), part in final.groupby(["dataset", "selector"], sort=False, observed=True)
        for row in by_importance(part).itertuples()
    ]
    return frame(BLANKETS, rows)


def truth(blankets: pd.DataFrame, folds: pd.DataFrame, cards: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """Compare each chosen set with the true Markov blanket, if it is on the data set's card.

    If both are empty, precision, recall and F1 are 1; if only one is, they are 0, so that an empty selection is never
    precise. The measures for parents and children alone suit methods that do not search for spouses.
    """
    rows = []
    for (dataset, selector, split), chosen in chosen_sets(blankets, folds).items():
        known = (cards.get(dataset) or {}).get("truth")
        if known:
            rows.append({"dataset": dataset, "selector": selector, "split": split} | _against(chosen, known))
    return frame(TRUTH, rows)


def _against(chosen: frozenset[str], known: Mapping[str, Any]) -> dict[str, float]:
    blanket, relatives = frozenset(known["blanket"]), frozenset(known["parents"]) | frozenset(known["children"])
    return (
        _agreement(chosen, blanket)
        | {f"pc_{name}": value for name, value in _agreement(chosen, relatives).items()}
        | {
            "n_chosen": len(chosen),
            "n_true": len(blanket),
            "n_common": len(chosen & blanket),
            "n_true_pc": len(relatives),
            "n_pc": len(chosen & relatives),
            "n_spouses": len(chosen & blanket - relatives),
            "n_false": len(chosen - blanket),
        }
    )


def _agreement(chosen: frozenset[str], true: frozenset[str]) -> dict[str, float]:
    both_empty = not chosen and not true

    def share(whole: float) -> float:
        return 1.0 if both_empty else len(chosen & true) / whole if whole else 0.0

    return {
        "precision": share(len(chosen)),
        "recall": share(len(true)),
        "f1": share((len(chosen) + len(true)) / 2),
    }


AGREEMENT = rows_of(
    "data set and pair of selectors: what their final blankets have in common",
    "dataset selector other jaccard n_common n_either",
    other=Column("string", "id of the selector that it is compared with"),
    jaccard=Column("double", "`n_common` over `n_either`; 1 for two empty blankets"),
    n_common=Column("int64", "features in both"),
    n_either=Column("int64", "features in at least one of them"),
)


def agreement(blankets: pd.DataFrame, folds: pd.DataFrame) -> pd.DataFrame:
    """Compare the final blankets of every two selectors of a data set, in both orders.

    Selectors without a result on the split ``full`` in `folds` are left out; an empty set is a result.
    """
    final: dict[str, dict[str, frozenset[str]]] = {}
    for (dataset, selector, split), chosen in chosen_sets(blankets, folds).items():
        if split == FINAL:
            final.setdefault(dataset, {})[selector] = chosen
    rows = [
        {"dataset": dataset, "selector": selector, "other": other, "jaccard": jaccard(sets[selector], sets[other])}
        | {"n_common": len(sets[selector] & sets[other]), "n_either": len(sets[selector] | sets[other])}
        for dataset, sets in final.items()
        for selector, other in permutations(sets, 2)
    ]
    return frame(AGREEMENT, rows)


# --- the unions of the final blankets of a data set's targets, where it has several -----------------------------------

UNIONS = rows_of(
    "data set with several targets, selector, and feature of the final blanket of at least one of them",
    "dataset selector feature targets n_targets",
    dataset=Column("string", "id of the data set that has several targets"),
    targets=Column("string", "those whose blanket has the feature, separated by commas"),
    n_targets=Column("int64", "how many of the targets these are"),
)


def unions_table(
    blankets: pd.DataFrame,
    folds: pd.DataFrame,
    targets: Mapping[str, Mapping[str, str]],
    selectors: Mapping[str, Mapping[str, object]],
) -> pd.DataFrame:
    """List the features of each union, by target and then by importance.

    `targets` has the data set of each target, by the id of the data set with several.
    """
    final = blankets_table(blankets, folds) if targets else None
    rows = []
    for dataset, of_targets in targets.items():
        for selector in [name for name in selectors if not is_reference(name, selectors)]:
            found: dict[str, list[str]] = {}
            for target, part in of_targets.items():
                for feature in rows_where(final, dataset=part, selector=selector)["feature"]:
                    found.setdefault(feature, []).append(target)
            rows += [
                {"dataset": dataset, "selector": selector, "feature": feature}
                | {"targets": ", ".join(names), "n_targets": len(names)}
                for feature, names in found.items()
            ]
    return frame(UNIONS, rows)


# --- confirmation of the final blankets on rows left out of their searches --------------------------------------------

CONFIRMED = rows_of(
    "data set, selector and feature of the final blanket, tested given the others on rows that the search never saw",
    f"dataset selector {' '.join(ARTEFACTS['confirm'].columns)}",
    sometimes=" ".join(ARTEFACTS["confirm"].sometimes),
    **ARTEFACTS["confirm"].columns,
)
DISCOVERIES = rows_of(
    "data set, selector and feature that is a discovery at some level of the false discovery rate",
    "dataset selector feature q n_features",
    q=Column("double", "smallest level at which it is a discovery"),
    n_features=Column("int64", "discoveries of the selector at that level"),
)


def discoveries_table(discoveries: Mapping[tuple[str, str], Mapping[str, Any]]) -> pd.DataFrame:
    """List the discoveries of each final search with the smallest level of each, the smallest first."""
    rows = [
        {"dataset": dataset, "selector": selector, "feature": feature, "q": q, "n_features": n}
        for (dataset, selector), found in discoveries.items()
        for feature, q, n in zip(found["feature"], found["q"], found["n_features"], strict=True)
    ]
    return frame(DISCOVERIES, rows)


#: Largest number of named features outside the blanket.
MOST_NAMED = 5


def confirmed_table(confirmed: pd.DataFrame) -> pd.DataFrame:
    """List the members of each final blanket with their tests on the left-out rows.

    With several splits, confirmed features outside the blanket are listed, too.
    """
    has_splits = "splits" in confirmed.columns
    if has_splits:  # beside selectors with one split
        one = confirmed["splits"].isna()
        confirmed = confirmed.assign(
            member=confirmed["member"].where(~one, True), splits=confirmed["splits"].where(~one, 1)
        )
    return typed_frame(confirmed.to_dict("records"), CONFIRMED.types(confirmed.columns))


def confirmed_in_words(confirmed: pd.DataFrame) -> str:
    """Return sentences on the number of confirmed members of a blanket; empty if none was tested."""
    has_splits = "splits" in confirmed.columns and len(confirmed) > 0 and int(confirmed["splits"].max()) > 1
    members = confirmed[confirmed["member"]] if has_splits else confirmed
    n, found = len(members), int(members["confirmed"].sum())
    said = []
    if n:
        which = "The one feature" if n == 1 else f"{found} of these {n}"
        verb = ("is" if found else "is not") if n == 1 else ("is" if found == 1 else "are")
        by = "by several random splits, each on rows that its" if has_splits else "on rows that the"
        said.append(f"{which} {verb} confirmed {by} search never saw.")
    others = list(confirmed.loc[~confirmed["member"], "feature"]) if has_splits else []
    if others:
        more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
        named = ", ".join(others[:MOST_NAMED]) + more
        said.append(f"So {'is' if len(others) == 1 else 'are'} {named}, which this search left out.")
    return " ".join(said)
