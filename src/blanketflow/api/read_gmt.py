"""``bf.read_gmt``: gene sets as groups of features."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..core.errors import ReadingWarning
from ..data.gene_sets import groups_of_sets


def read_gmt(path: str | Path, features: Iterable[str], sets: Sequence[str] | None = None) -> dict[str, list[str]]:
    r"""Read gene sets as groups of features, for `feature_groups`.

    Genes that are no features are left out, and counted in a `ReadingWarning`.

    Parameters
    ----------
    path : path
        A .gmt file: each line has a set's name, a description, and its genes, separated by tabs.
    features : iterable of str
        The features of the table, such as ``X.columns``.
    sets : list of str, optional
        The sets to take; all by default.

    Returns
    -------
    dict of str to list of str
        The features of each set that has any.

    Raises
    ------
    ConfigError
        If a set is not in the file.
    DataError
        If the file cannot be read, or two of the sets share a feature.

    Examples
    --------
    >>> import os, tempfile
    >>> import blanketflow as bf
    >>> path = os.path.join(tempfile.mkdtemp(), "sets.gmt")
    >>> with open(path, "w") as file:
    ...     _ = file.write("CYCLE\tabout\tCDK1\tCCNB1\nDEATH\tabout\tBAX\n")
    >>> bf.read_gmt(path, ["CDK1", "CCNB1", "BAX"])
    {'CYCLE': ['CDK1', 'CCNB1'], 'DEATH': ['BAX']}
    """
    groups, told = groups_of_sets("read_gmt", str(path), sets, features)
    if told:
        warnings.warn(told, ReadingWarning, stacklevel=2)
    return groups
