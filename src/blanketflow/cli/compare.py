"""``blanketflow compare``: compares methods without the workflow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..core.errors import ConfigError
from ..core.printable import listed
from ..core.registry import look_in
from ..core.rows import FORWARD
from ..core.seeds import DEFAULT_SEED
from .options import TABLE, AsJson, DataSet, Seed, Target, dataset_spec, files, method_ids, model_ids
from .terminal import heading, heartbeat, is_terminal, note, show, show_json, show_table

if TYPE_CHECKING:
    import pandas as pd

#: Largest number of printed features of a blanket.
_FEATURES = 8


def compare(
    tables: Annotated[list[str], typer.Argument(metavar="TABLE...", help=TABLE, autocompletion=files)],
    target: Target = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--methods",
            metavar="ID...",
            help="method ids, or method/test such as iamb/fisher-z",
            autocompletion=method_ids,
        ),
    ] = None,
    models: Annotated[
        list[str] | None,
        typer.Option("--models", metavar="ID...", help="models that score the blankets", autocompletion=model_ids),
    ] = None,
    evaluation: Annotated[int, typer.Option(help="outer folds of the evaluation; 0 for none", min=0)] = 5,
    time: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="time of the rows: test on each of --evaluation periods after the first"),
    ] = None,
    gap: Annotated[
        float, typer.Option(help="with --time: left out before the test rows, in days for dates", min=0)
    ] = 0,
    folds: Annotated[int, typer.Option(help="inner folds whose blankets are combined; 0 for none", min=0)] = 5,
    time_limit: Annotated[
        float | None, typer.Option(help="seconds allowed for growing, and for shrinking, on one fold", min=0.001)
    ] = None,
    data_set: DataSet = None,
    seed: Seed = DEFAULT_SEED,
    cores: Annotated[int, typer.Option(help="tasks that run at the same time; -1 for all cores", min=-1)] = 1,
    report: Annotated[Path | None, typer.Option(help="HTML file to write: one page that opens offline")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare methods on one or more tables.

    Runs the stages of the workflow without Snakemake and without stored results. Prints sizes, scores next to those of
    all features, and stability. A method has its own CI test and default options; iamb/fisher-z sets another test. For
    options, write a config with init.
    """
    from ..api.compare import compare_config
    from ..api.starting_config import dataset_id
    from ..search.workers import compile_kernels

    if cores == 0:
        raise ConfigError("--cores is 0, but must be 1 or more, or -1 for all cores.")
    if report is not None and (report.is_dir() or not report.parent.is_dir()):
        raise ConfigError(f"--report is {report}, but must name a file in a folder that exists.")
    if gap and time is None:
        raise ConfigError("--gap is for test rows that are later than the others. Add --time COLUMN.")
    look_in(Path())  # as beside a config
    asked = methods or ["hiton-mb", "ppfs", "mrmr"]
    limits = {} if time_limit is None else {"time_limit": time_limit}
    raw: dict[str, Any] = {
        "seed": seed,
        "datasets": {dataset_id(table): dataset_spec(table, target, data_set or (), True) for table in tables},
        "splits": {"evaluation": evaluation} if time is None else _forward(evaluation, time, gap),
        "folds": folds,
        "selectors": {name: spec | limits for name, spec in map(_selector, asked)} | {"all": {"method": "all"}},
    }
    if len(raw["datasets"]) < len(tables):
        raise ConfigError(f"several tables have the same name ({', '.join(raw['datasets'])}). Rename a file.")
    if len(raw["selectors"]) < len({*asked, "all"}) or len(set(asked)) < len(asked):
        raise ConfigError("--methods names a method twice. Remove one of them.")
    raw |= {"models": models} if models else {}
    compile_kernels()
    with heartbeat("compare"):
        found = compare_config(raw, n_jobs=cores, progress=is_terminal() and not as_json)
    if report is not None:
        found.report(report)
    if as_json:
        tables_found = {name: _rows(table) for name, table in found.tables.items()}
        show_json({**tables_found, "skipped": _rows(found.skipped), "outcomes": _rows(found.outcomes)})
        return
    _show(found)
    if report is not None:
        note(f"Report: {report}")
    else:
        show("\nFor all tables and charts, add --report report.html")


def _forward(parts: int, time: str, gap: float) -> dict[str, Any]:
    return {"evaluation": FORWARD, "parts": parts, "time": time, "gap": gap}


def _selector(asked: str) -> tuple[str, dict[str, str]]:
    """Return the id and keys of a selector from ``method`` (with its own test) or ``method/test``."""
    method, slash, test = asked.partition("/")
    return asked.replace("/", "-").replace(":", "-").lower(), {"method": method, **({"ci_test": test} if slash else {})}


def _show(found: Any) -> None:
    """Print sizes and scores, stability and the blankets."""
    summary = found.summary().reset_index()
    heading("Size of the blanket on all rows; scores on rows that the search did not see")
    show_table(list(map(str, summary.columns)), summary.astype(str).values.tolist())
    stability = found.stability
    if len(stability):
        heading("Stability (Nogueira) of the selected features across evaluation splits: 1 means always the same")
        rows = [
            (r.dataset, r.selector, f"{r.stability:.2f}", f"{r.between_groups:.2f}", f"{r.mean_size:.1f}", r.note)
            for r in stability.itertuples()
        ]
        heads = ["dataset", "selector", "stability", "between groups", "mean size", ""]
        show_table(heads, rows, right=(2, 3, 4))
    heading("Blankets on all rows, most important first")
    for (dataset, selector), part in found.blankets.groupby(["dataset", "selector"], sort=False):
        show(f"  {dataset} {selector}: {listed(part['feature'], _FEATURES)}")
    if len(found.drift):
        from ..reporting.report.drift import drift

        heading("Over time")
        for told in (drift(found.run, dataset) for dataset in found.run.cards):
            if told is not None:
                show(f"  {told.dataset}, features of {told.selector}: {told.sentence}")
    for line in found.notes():
        note(line)


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return table.astype(object).where(table.notna(), None).to_dict("records")
