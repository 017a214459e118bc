"""``blanketflow export``: a blanket of a finished run, for use in other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..core.errors import ConfigError
from .options import files
from .terminal import note, pour


def export(
    results: Annotated[Path, typer.Argument(help="folder of results", autocompletion=files)] = Path("results"),
    dataset: Annotated[str | None, typer.Option(help="id of the data set; optional if there is only one")] = None,
    selector: Annotated[str | None, typer.Option(help="id of the selector; optional if there is only one")] = None,
    to: Annotated[str, typer.Option(help="csv, json, or pipeline: Python source for scikit-learn")] = "csv",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="file to write, instead of printing")] = None,
    force: Annotated[bool, typer.Option("--force", help="replace the file if it exists")] = False,
) -> None:
    """Print a blanket as CSV, JSON or a pipeline.

    Prints the blanket that a finished run found on all rows. The pipeline is Python source with the column names and
    a function blanket_pipeline(model); nothing is pickled.
    """
    from ..data.artefacts import write_text
    from ..reporting.export import FORMS
    from ..workflow.read_results import read_blanket

    if to not in FORMS:
        raise ConfigError(f"--to is {to!r}, but must be one of {', '.join(FORMS)}.")
    if output is not None and output.exists() and not force:
        raise ConfigError(f"{output} already exists. Give another name with -o, or replace it with --force.")
    text = read_blanket(results, dataset, selector).text(to)
    if output is None:
        pour(text)
        return
    write_text(output, text)
    note(f"Wrote {output}." + (f" To use it: from {output.stem} import blanket_pipeline" if to == "pipeline" else ""))
