"""``blanketflow discover``: discoveries at a false discovery rate, on one table."""

from __future__ import annotations

from typing import Annotated

import typer

from ..core.seeds import DEFAULT_SEED
from .options import AsJson, DataSet, Seed, Table, Target, dataset_spec
from .select import draw
from .terminal import heading, heartbeat, is_terminal, note, show, show_json, show_table

#: Levels of the table are at most this.
HIGHEST = 0.5


def discover(
    table: Table,
    target: Target = None,
    q: Annotated[float, typer.Option("--q", help="false discovery rate, fixed before the result is seen")] = 0.1,
    data_set: DataSet = None,
    seed: Seed = DEFAULT_SEED,
    as_json: AsJson = False,
) -> None:
    """Find features that say something that no other says, with a share of at most q false ones among them.

    By tests of each feature given all others. The answer says what was found at q, what more at higher levels, and how
    large an effect had to be in order to be found. For features to predict by, use select.
    """
    from ..api.select_command import select as find
    from ..search.workers import compile_kernels

    dataset = dataset_spec(table, target, data_set or ())
    compile_kernels()
    with heartbeat("discover") as tell:
        found = find(dataset, {"method": "discover", "q": q}, {}, seed, 1, tell)
    for line in found.notes:
        note(line)
    if as_json:
        show_json(found.as_dict())
        return
    if is_terminal():
        draw(found)
    else:
        show(found.text())
    said = found.verdict.get("discoveries", {"feature": [], "q": [], "n_features": []})
    levels = zip(said["feature"], said["q"], said["n_features"], strict=True)
    if rows := [(feature, f"{level:.3g}", str(n)) for feature, level, n in levels if q < level <= HIGHEST]:
        heading("at higher levels")
        show_table(["feature", "level", "discoveries"], rows, right=(1, 2))
