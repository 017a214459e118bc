"""``blanketflow select``: one method on one table, without the workflow."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..core.errors import ConfigError, closest
from ..core.printable import redacted_text
from ..core.registry import look_in
from ..core.seeds import DEFAULT_SEED
from .options import (
    AsJson,
    DataSet,
    Seed,
    Table,
    Target,
    check_page,
    dataset_spec,
    files,
    method_ids,
    test_ids,
    write_page,
)
from .terminal import heading, heartbeat, is_terminal, note, pour, show, show_json, show_table

if TYPE_CHECKING:
    from ..api.select_command import Selection


#: Default time limit of `auto` in seconds.
MOST_SECONDS = 60


def select(
    table: Table,
    target: Target = None,
    method: Annotated[str, typer.Option(help="an id from blanketflow list", autocompletion=method_ids)] = "auto",
    ci_test: Annotated[
        str | None,
        typer.Option(help="an id from blanketflow list (default: the method's own)", autocompletion=test_ids),
    ] = None,
    options: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="options of the method, such as alpha=0.01 max_k=2"),
    ] = None,
    test_options: Annotated[
        list[str] | None, typer.Option("--test-set", metavar="KEY=VALUE", help="options of the CI test")
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(help="seconds after which auto answers (default: 60), or any method gives up", min=0.001),
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="what auto judges by: auto, error, log-loss, r2 or normal-scores")
    ] = None,
    max_features: Annotated[int | None, typer.Option(help="most features that auto keeps", min=1)] = None,
    n_features: Annotated[int | None, typer.Option(help="exactly how many features are kept", min=1)] = None,
    data_set: DataSet = None,
    seed: Seed = DEFAULT_SEED,
    cores: Annotated[int, typer.Option(help="processes that share the work of auto; -1 for all cores", min=-1)] = -1,
    as_json: AsJson = False,
    page: Annotated[
        Path | None, typer.Option("--html", help="write the answer as a page to this file", autocompletion=files)
    ] = None,
    to: Annotated[str | None, typer.Option("--export", help="print the blanket as csv, json or pipeline")] = None,
) -> None:
    """Find the features worth keeping, on all rows.

    By default (method auto) the smallest set with which models predict as well as with the best, within a minute or
    --time-limit; --method selects a Markov blanket search or any other method. --set folds=5 combines the blankets of
    five folds. To compare methods on held-out rows, use compare, or init and run.
    """
    from ..api.select_command import select as find
    from ..api.select_command import settings
    from ..ci.choice import AUTO
    from ..core.registry import look_up
    from ..reporting.export import OF_BLANKET, OF_RUN
    from ..search.workers import compile_kernels
    from ..selectors.judged.in_time import load_models

    if to is not None and to not in OF_BLANKET:
        of_run = " That form needs a finished run: use init, run and export --to." if to in OF_RUN else ""
        near = of_run or f" {closest(to, OF_BLANKET)}"
        raise ConfigError(f"--export is {to!r}, but must be one of {', '.join(OF_BLANKET)}.{near}".rstrip())
    check_page(page)
    look_in(Path())  # as beside a config
    dataset = dataset_spec(table, target, data_set or ())
    given, asked = settings(test_options or ()), {"method": method, **settings(options or ())}
    given_here = {"time_limit": time_limit, "metric": metric, "max_features": max_features, "n_features": n_features}
    asked |= {name: value for name, value in given_here.items() if value is not None}
    if method == "auto" and "budget" not in asked:
        asked.setdefault("time_limit", MOST_SECONDS)
    if ci_test is None and given:
        ci_test = getattr(look_up("blanketflow.selectors", method, "method"), "default_test", None)
    if ci_test == AUTO:
        if given:
            raise ConfigError("--test-set gives options to a CI test: name it with --ci-test, such as --ci-test g2.")
        asked["ci_test"] = AUTO
    test = {"type": ci_test, **given} if ci_test not in (None, AUTO) else {}
    compile_kernels()  # before a time limit counts
    if method == "auto":
        load_models()
    with heartbeat("select") as tell:
        found = find(dataset, asked, test, seed, cores, tell)
    for line in found.notes:
        note(line)
    if page is not None:
        write_page(page, found.page(redacted_text(table)))
    if to is not None:
        pour(OF_BLANKET[to](found.as_blanket(redacted_text(table))))
    elif as_json:
        show_json(found.as_dict())
    else:
        if is_terminal():
            draw(found)
        else:
            show(found.text())
        note(_next(found, asked.get("time_limit"), table, target, data_set or ()))


def draw(found: Selection) -> None:
    """Print the selection as a table."""
    from ..api.select_command import CURVE

    heading(found.text().partition("\n")[0])
    for line in found.remarks:
        show(line)
    for said in filter(None, [found.sentence, found.one_is_enough] if found.blanket else []):
        show(said)
    rows = [(row["feature"], row["role"], found.why(row)) for row in found.listed]
    if rows:
        show_table(["feature", "role", "why"], rows)
        if found.more:
            show(found.more)
    else:
        show(found.sentence or "No feature was found to depend on the target. Try a larger alpha or another CI test.")
    if found.several:
        heading(f"{len(found.blankets)} answers")
        for blanket in found.blankets:
            show(f"  {', '.join(blanket)}")
    columns, rows = found.curve
    if rows:
        show(CURVE)
        show_table(columns, rows, right=(0, 1, 2))
    if found.rests_on:
        show(found.rests_on)


def _next(found: Selection, limit: float | None, table: str, target: str | None, data_set: Sequence[str]) -> str:
    """Return a suggestion for the next step, with the command."""
    of = [redacted_text(table), *(["--target", target] if target is not None else [])]
    of += ["--data-set", *data_set] if data_set else []
    is_auto = found.method == "auto"
    if found.status == "timeout" and limit is not None:
        own = [] if is_auto else ["--method", found.method]
        what, name, more = "with more time", "select", [*own, "--time-limit", f"{max(10, math.ceil(10 * limit))}"]
    elif not found.blanket:
        what, name, more = "to see what to look at in the table", "inspect", []
    else:
        methods = ["auto", "hiton-mb", "--folds", "0"] if is_auto else [found.method, "auto"]
        what, name, more = "to judge this on rows that it has not seen", "compare", ["--methods", *methods]
    return f"Next, {what}: {shlex.join(['blanketflow', name, *of, *more])}"
