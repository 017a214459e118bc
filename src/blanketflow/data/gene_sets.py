"""Gene sets of a .gmt file as groups of features: those that the table has, of sets that do not overlap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.errors import ConfigError, DataError, did_you_mean, shown
from ..core.in_yaml import in_yaml
from ..core.printable import listed
from .input_file import existing_file, opened_text

#: Sets that do not overlap, of which so many are named.
_NAMED = 5


def gene_sets_asked(asked: Any) -> tuple[str, Sequence[str] | None] | None:
    """Return the file and the sets that `feature_groups` names; None if it has the groups itself.

    >>> gene_sets_asked("sets.gmt"), gene_sets_asked({"gmt": "sets.gmt", "sets": ["A"]}), gene_sets_asked({"a": ["x"]})
    (('sets.gmt', None), ('sets.gmt', ['A']), None)
    """
    if isinstance(asked, str):
        return asked, None
    if isinstance(asked, Mapping) and isinstance(asked.get("gmt"), str):
        return asked["gmt"], asked.get("sets")
    return None


def groups_of_sets(
    where: str, path: str, sets: Sequence[str] | None, features: Iterable[str]
) -> tuple[dict[str, list[str]], str]:
    """Return the features of gene sets, and what was left out, in words.

    Raises `ConfigError` for a set that is not in the file, `DataError` for a file that cannot be read, or sets that
    share a feature.
    """
    known, held, file = dict.fromkeys(map(str, features)), _sets_of(where, path), Path(path).name
    for one in sets or ():
        if one not in held:
            raise ConfigError(f"{where}: {file} has no gene set {shown(one)}. {did_you_mean(one, held)}")
    wanted = held if sets is None else {one: held[one] for one in sets}
    groups = {name: own for name, genes in wanted.items() if (own := [gene for gene in genes if gene in known])}
    if not groups:
        gene = next((gene for genes in wanted.values() for gene in genes), "")
        raise DataError(
            f"{where}: no gene of {file}, such as {shown(gene)}, is a feature, such as {shown(next(iter(known), ''))}. "
            "Take a file with the names that the table has."
        )
    set_of: dict[str, str] = {}
    apart: list[str] = []
    clash: tuple[str, str, str] | None = None
    for name, genes in groups.items():
        common = next((gene for gene in genes if gene in set_of), None)
        if common is None:
            apart.append(name)
            set_of.update(dict.fromkeys(genes, name))
        else:
            clash = clash or (common, set_of[common], name)
    if clash:
        gene, first, second = clash
        raise DataError(
            f"{where}: {shown(gene)} is in the gene sets {shown(first)} and {shown(second)} of {file}, and a feature "
            f"is in one group only. Take sets that do not overlap, as by feature_groups: {{gmt: {in_yaml(path)}, sets: "
            f"{in_yaml(apart[:_NAMED])}}}, or in Python by sets={apart[:_NAMED]}."
        )
    absent = dict.fromkeys(gene for genes in wanted.values() for gene in genes if gene not in known)
    empty = [name for name in wanted if name not in groups]
    n_genes = len({gene for genes in wanted.values() for gene in genes})
    said = [f"genes of {file} that are no features, left out ({len(absent)} of {n_genes}): {listed(absent)}"]
    said += [f"sets without features, left out ({len(empty)} of {len(wanted)}): {listed(empty)}"]
    return groups, "; ".join(one for one, are_left_out in zip(said, (absent, empty), strict=True) if are_left_out)


def _sets_of(where: str, path: str) -> dict[str, list[str]]:
    """Return the genes of each set of a file."""
    found: dict[str, list[str]] = {}
    file = existing_file(where, Path(path), "feature_groups")
    with opened_text(where, file, "\t") as lines:
        for number, line in enumerate(lines, 1):
            name, *rest = [cell.strip() for cell in line.split("\t")]
            if not line.strip():
                continue
            if len(rest) < 2 or not name:
                raise DataError(
                    f"{where}: line {number} of {path} is no gene set: a name, a description and genes, separated by "
                    "tabs. Take a .gmt file, or mend that line."
                )
            if name in found:
                raise DataError(f"{where}: line {number} of {path} has the gene set {shown(name)} again. Rename it.")
            found[name] = [*dict.fromkeys(gene for gene in rest[1:] if gene)]
    if not found:
        raise DataError(f"{where}: {path} has no gene sets.")
    return found
