"""Metrics by id: their targets, directions and names. `models/metrics.py` computes them, and reports name them."""

from __future__ import annotations

from dataclasses import dataclass

from .cards import CLASSIFICATION, COUNT, ORDERED, POSITIVE, REGRESSION, SHARE, SURVIVAL


@dataclass(frozen=True)
class Metric:
    """A metric.

    Parameters
    ----------
    id : str
        Name in configs and artefacts.
    tasks : tuple of str
        Kinds of targets that it is for.
    higher_is_better : bool
        Its direction.
    label : str
        Title in documentation.
    name : str
        Name within a sentence.
    place : int
        Among the metrics of a target, that of the lowest place leads reports.
    """

    id: str
    tasks: tuple[str, ...]
    higher_is_better: bool
    label: str
    name: str
    place: int


#: Every metric by id, in the order in which `metrics: auto` computes them.
METRICS: dict[str, Metric] = {
    metric.id: metric
    for metric in (
        Metric("accuracy", (CLASSIFICATION,), True, "Accuracy", "accuracy", 0),
        Metric("error", (CLASSIFICATION,), False, "Error rate", "error", 4),
        Metric("balanced-accuracy", (CLASSIFICATION,), True, "Balanced accuracy", "balanced accuracy", 1),
        Metric("kappa", (CLASSIFICATION,), True, "Cohen's kappa", "kappa", 3),
        Metric("roc-auc", (CLASSIFICATION,), True, "ROC AUC (one against the rest)", "ROC AUC", 2),
        Metric("log-loss", (CLASSIFICATION,), False, "Log-loss (nats)", "log-loss", 5),
        Metric("concordance", (SURVIVAL,), True, "Concordance (Harrell)", "Harrell's concordance", 1),
        Metric("uno-concordance", (SURVIVAL,), True, "Concordance weighted by censoring (Uno)", "Uno's concordance", 0),
        Metric("integrated-brier", (SURVIVAL,), False, "Integrated Brier score", "integrated Brier score", 2),
        Metric("time-auc", (SURVIVAL,), True, "Mean AUC at the quartiles of event times", "time-dependent AUC", 3),
        Metric("poisson-deviance", (COUNT,), False, "Mean Poisson deviance", "Poisson deviance", 0),
        Metric("gamma-deviance", (POSITIVE,), False, "Mean gamma deviance", "gamma deviance", 0),
        Metric("share-deviance", (SHARE,), False, "Mean deviance of shares", "deviance of shares", 0),
        Metric("quadratic-kappa", (ORDERED,), True, "Cohen's kappa with quadratic weights", "quadratic kappa", 0),
        Metric(
            "ranked-probability-score", (ORDERED,), False, "Ranked probability score", "ranked probability score", 1
        ),
        Metric("mse", (REGRESSION,), False, "Mean squared error", "mse", 1),
        Metric("mae", (REGRESSION, COUNT, SHARE, POSITIVE), False, "Mean absolute error", "mae", 2),
        Metric("r2", (REGRESSION,), True, "R²", "R²", 0),
    )
}


def in_order_of_place() -> list[str]:
    """Return the ids of all metrics, those that lead reports first.

    >>> in_order_of_place()[:3]
    ['accuracy', 'uno-concordance', 'poisson-deviance']
    """
    return sorted(METRICS, key=lambda name: METRICS[name].place)
