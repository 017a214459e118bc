"""Findings about a table as a whole: its classes, constant and equal columns, bent relations, its shape."""

from __future__ import annotations

import numpy as np

from ...core.bends import bends_seen
from ...core.cards import CLASSIFICATION
from ...core.design import effective_rows
from ...core.printable import listed, printable
from ..raw import RawTable
from .finding import Finding

#: A class with fewer rows is small: with five outer folds a test part has one or two of them.
FEW_OF_A_CLASS = 10
#: If a class has a smaller share of the rows, accuracy says little.
SMALL_CLASS = 0.1
#: If rows with sampling weights tell no more than this share of equal ones, they are very unequal.
UNEQUAL = 0.5


def of_table(raw: RawTable) -> list[Finding]:
    """Return findings about the table as a whole: classes, constants, duplicates, bent relations, weights, shape."""
    found = []
    n_rows, n_features = raw.features.n_rows, len(raw.features)
    if raw.task.name == CLASSIFICATION:
        counts = class_counts(raw)
        few = {label: count for label, count in counts.items() if count < FEW_OF_A_CLASS}
        if few:
            message = "few rows of " + ", ".join(f"class {label} ({count})" for label, count in few.items())
            advice = "Use fewer folds (splits.evaluation, folds), or leave out or merge such classes."
            found.append(Finding("few-rows", (), printable(message), advice))
        smallest = min(counts, key=lambda label: counts[label])
        if counts[smallest] < SMALL_CLASS * n_rows:
            message = f"class {smallest} has {counts[smallest] / n_rows:.1%} of the rows"
            advice = "Read balanced-accuracy or roc-auc rather than accuracy."
            found.append(Finding("imbalance", (), printable(message), advice))
    if raw.constant:
        message = f"{listed(raw.constant)} never vary"
        found.append(Finding("constant", raw.constant, message, "They are never chosen, so nothing needs to be done."))
    if raw.duplicates:
        pairs = listed([f"{later} (= {first})" for first, later in raw.duplicates])
        message = f"{len(raw.duplicates)} columns repeat an earlier one: {pairs}"
        advice = "A search keeps one of each pair; tie-star lists both answers. Drop the ones you would not measure."
        found.append(Finding("duplicate", tuple(later for _, later in raw.duplicates), message, advice))
    if bends := bends_seen(raw.features, raw.target):
        advice = (
            "Correlations miss or mistake such relations. ci_test: spline follows them; auto takes it where it is fast "
            "enough, and says so where it is not."
        )
        found.append(Finding("bent", (), f"relations bend: {bends}", advice))
    weights = None if raw.features.design is None else raw.features.design.weights
    if weights is not None and (effective := effective_rows(weights)) < UNEQUAL * n_rows:
        message = f"weights are very unequal: {n_rows:,} rows tell about as much as {effective:,.0f} equal ones"
        found.append(Finding("weights", (), message, "Look at the rows with the largest weights: they decide much."))
    if n_features > n_rows:
        message = f"more features ({n_features}) than rows ({n_rows})"
        advice = (
            "Expect false positives: divide alpha by the number of features, or use correction: bh if a method has it."
        )
        found.append(Finding("wide", (), message, advice))
    return found


def class_counts(raw: RawTable) -> dict[str, int]:
    """Return the number of rows of each class that occurs, in the order of the labels."""
    counts = np.bincount(raw.target.values, minlength=len(raw.target.levels)).tolist()
    return {label: count for label, count in zip(raw.target.levels, counts, strict=True) if count}
