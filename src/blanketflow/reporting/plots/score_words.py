"""What a tooltip says of a score."""

from __future__ import annotations

import pandas as pd

from .words import mean_sd, number, signed

DIFFERENCE = "difference to all features"


def described(scores: pd.DataFrame) -> pd.DataFrame:
    """Return selector, model, mean and n_features, with the texts score, difference and features.

    Parameters
    ----------
    scores : DataFrame
        Columns selector, model, mean; sd, n_splits, n_features and difference may be missing.
    """
    full = scores.reindex(columns=["selector", "model", "mean", "sd", "n_splits", "n_features", "difference"])
    return pd.DataFrame(full[["selector", "model", "mean", "n_features"]]).assign(
        score=[
            mean_sd(mean, sd) + (f" over {int(n)} splits" if n > 1 else "")
            for mean, sd, n in zip(full["mean"], full["sd"], full["n_splits"], strict=True)
        ],
        difference=[signed(value) for value in full["difference"]],
        features=[number(value, 1) for value in full["n_features"]],
    )
