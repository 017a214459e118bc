"""Warnings of other packages, such as that a model did not converge: collected, counted, and said once."""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

_Found = TypeVar("_Found")
#: Category and text of a warning, with how often it was given.
Counts = Counter[tuple[type[Warning], str]]
_NUMBER = re.compile(r"\d[\d.]*(e[-+]?\d+)?")


@contextmanager
def counted_warnings() -> Iterator[Counts]:
    """Collect the warnings that are given within, instead of showing them; the counts are complete at the end.

    Each `UserWarning` counts, however often its place gave it before. Other categories pass the filters that are set.

    Examples
    --------
    >>> with counted_warnings() as counts:
    ...     for n in (10, 20):
    ...         warnings.warn(f"no convergence after {n} steps", UserWarning)
    >>> counts.total()
    2
    """
    counts: Counts = Counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            yield counts
        finally:
            counts.update((one.category, str(one.message)) for one in caught)


def with_warnings(work: Callable[..., _Found], *arguments: Any) -> tuple[_Found, Counts]:
    """Return what some work returns, and the warnings that it gave; for work in another process."""
    try:
        with counted_warnings() as counts:
            found = work(*arguments)
    except BaseException:  # which would take them along
        say_once("before it failed", counts)
        raise
    return found, counts


def say_once(where: str, *several: Mapping[tuple[type[Warning], str], int], stacklevel: int = 2) -> None:
    """Give each kind of warning once, with how often it was given; texts that differ in numbers only are of one kind.

    Parameters
    ----------
    where : str
        What was done, which the text begins with, unless it was given once.
    *several : mapping
        Counts of `counted_warnings`.
    stacklevel : int
        Whose line the warning names, as `warnings.warn` takes it; 1 is the caller of this function.
    """
    kinds: dict[tuple[type[Warning], str], tuple[str, int]] = {}
    for counts in several:
        for (category, text), n in counts.items():
            kind = category, _NUMBER.sub("", text)
            first, before = kinds.get(kind, (text, 0))
            kinds[kind] = first, before + n
    for (category, _), (text, n) in kinds.items():
        warnings.warn(text if n == 1 else f"{where}: {n:,} times: {text}", category, stacklevel=stacklevel + 1)


def as_plain(counts: Counts) -> list[list[Any]]:
    """Return counts as plain types, for a process that may not have the modules of the categories."""
    return [[category.__module__, category.__name__, text, n] for (category, text), n in counts.items()]


def give_again(plain: list[list[Any]]) -> None:
    """Give the warnings of another process here, each as often; of an unknown category they are a `UserWarning`."""
    for module, name, text, n in plain:
        found = getattr(sys.modules.get(module), name, None)
        category = found if isinstance(found, type) and issubclass(found, Warning) else UserWarning
        for _ in range(n):
            warnings.warn(text, category, stacklevel=3)
