"""The confirm stage: the members of a final blanket, tested on the rows that its search left out."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

from ...data.artefact_columns import ARTEFACTS
from ...data.artefacts import read_columns, write_rows
from ...data.splits import FINAL
from ...data.storage import read_features
from ...selectors.confirmation.members import confirm_members
from ..jobs import passed_on, recorded
from .fold import Fold


def confirm_blanket(
    table: Path, splits: Path, blanket: Path, confirmed: Path, dataset: str, spec: str, code: str = ""
) -> None:
    """Test each member of the split ``full``'s blanket given the others, and write confirm.parquet.

    Parameters
    ----------
    table, splits, blanket : paths
        The table, the splits, and the blanket, whose search left the rows out.
    confirmed : path
        Where to.
    dataset : str
        Id of the data set.
    spec : str
        The share of the rows, the seed, and what is known of features, as JSON.
    code : str
        Digest of the code.
    """
    fold = Fold(table, splits, dataset, FINAL, "0", spec, code)
    provenance, found = fold.provenance("confirm", confirmed, [blanket]), []
    with recorded(provenance):
        columns, earlier = read_columns(blanket)
        passed_on(provenance, [earlier])
        decided = zip(columns["feature"], columns["chosen"], columns["importance"], strict=True)
        chosen = sorted((one for one in decided if one[1]), key=lambda one: -one[2])
        members, rows = [one[0] for one in chosen], fold.left_out_rows()
        stored, where = read_features(table), f"{dataset}, split {FINAL}"
        known = fold.prior().of(stored.features.names, where, stored.target.name)
        whole = fold.prepared(replace(stored, features=stored.features.select(members)), rows)
        groups = None if stored.groups is None else stored.groups[rows]
        target = whole[stored.target.name]
        found = confirm_members(whole, target, members, fold.seed, groups, where, known.feature_groups)
        provenance.n_tests = len(found)
    write_rows(confirmed, [tuple(asdict(one).values()) for one in found], ARTEFACTS["confirm"].types(), provenance)
