"""Which selectors, CI tests or evaluations of a data set share a job: those whose work is less than a job's start."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import NamedTuple


class Several(NamedTuple):
    """What one job of a data set does, and the data sets of which one job does the same.

    Attributes
    ----------
    names : tuple of str
        Ids of selectors or of ci_test artefacts.
    datasets : tuple of str
    """

    names: tuple[str, ...]
    datasets: tuple[str, ...]


def shared_jobs(shares: Mapping[tuple[str, str], float]) -> list[Several]:
    """Return the jobs that do several ids of a data set one after the other, each about as long as the others.

    Parameters
    ----------
    shares : mapping of (dataset, name) to float
        What may share a job, in the order in which it is joined, and about which share of a job it fills.

    Examples
    --------
    >>> shared_jobs({("a", "x"): 0.5, ("a", "y"): 0.5, ("a", "z"): 1.0, ("b", "x"): 0.5, ("b", "y"): 0.2})
    [Several(names=('x', 'y'), datasets=('a', 'b'))]
    """
    of_datasets: dict[str, dict[str, float]] = {}
    for (dataset, name), one in shares.items():
        of_datasets.setdefault(dataset, {})[name] = one
    alike: dict[tuple[str, ...], list[str]] = {}
    for dataset, own in of_datasets.items():
        total, done = sum(own.values()) or 1.0, 0.0
        jobs: list[list[str]] = [[] for _ in range(ceil(total))]
        for name, one in own.items():
            jobs[int((done + one / 2) / total * len(jobs))].append(name)
            done += one
        for names in jobs:
            if len(names) > 1:
                alike.setdefault(tuple(names), []).append(dataset)
    return [Several(names, tuple(datasets)) for names, datasets in alike.items()]
