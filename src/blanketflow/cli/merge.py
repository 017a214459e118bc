"""``blanketflow merge``: adds the counts of several places and searches on the sum."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from ..core.errors import ConfigError, UnreliableWarning
from ..core.printable import printable
from .options import AsJson, files, method_ids, test_ids
from .terminal import note, show, show_json


def merge(
    parts: Annotated[list[Path], typer.Argument(metavar="FILE...", help="what was counted", autocompletion=files)],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Parquet file of the sum")] = None,
    earlier: Annotated[
        Path | None, typer.Option(help="the sum of earlier exchanges, to which these tables are added")
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="search with this method, an id from blanketflow list", autocompletion=method_ids)
    ] = None,
    ci_test: Annotated[
        str | None,
        typer.Option(help="g2, chi2, fisher-z or lr-mixed (default: the method's own)", autocompletion=test_ids),
    ] = None,
    options: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="options of the method, such as alpha=0.01")
    ] = None,
    test_options: Annotated[
        list[str] | None,
        typer.Option("--test-set", metavar="KEY=VALUE", help="options of --ci-test, such as directions=linear"),
    ] = None,
    ask: Annotated[
        Path | None, typer.Option(help="JSON file for the next exchange, written if the search needs more tables")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Add the counts of several places, and search on the sum.

    Prints the selected features. If the search needs more tables, --ask FILE writes an agreement for them: count by it
    at every place, then merge with --earlier.
    """
    from ..api.get_selector import get_selector
    from ..api.select_command import settings
    from ..api.statistics import fit_statistics
    from ..api.statistics import merge as merged
    from ..ci import get_ci_test
    from ..counts.sufficient_statistics import TablesNotCounted, read_statistics_of, write_agreement, write_statistics

    if method is None and output is None:
        raise ConfigError("give -o FILE for the sum, --method for a search on it, or both.")
    if test_options and ci_test is None:
        raise ConfigError("--test-set gives options to a CI test: name it with --ci-test.")
    found = merged(parts)
    if earlier is not None:
        found = read_statistics_of(earlier).joined(found)
    note(f"{found.n_rows:,} rows of {len(parts)} files, {found.told()}.")
    for columns in found.refused:
        note(f"refused: {printable(', '.join(columns))}")
    if output is not None:
        write_statistics(output, found)
    if method is None:
        return
    configured = get_ci_test(ci_test, **settings(test_options)) if ci_test and test_options else ci_test
    asked = {} if configured is None else {"ci_test": configured}
    try:
        with warnings.catch_warnings(action="ignore", category=UnreliableWarning):  # the status is printed
            fitted = fit_statistics(get_selector(method, **asked, **settings(options or ())), found)
    except TablesNotCounted as error:
        if ask is None:
            raise
        write_agreement(ask, found.agreement.asking(error.column_sets))
        note(f"Wrote {ask}: {len(error.column_sets)} more tables are needed.")
        raise typer.Exit(1) from None
    told = {
        "target": found.agreement.target,
        "method": method,
        "ci_test": fitted.ci_test_.card.id if fitted.ci_test_ else None,
        "n_rows": found.n_rows,
        "n_tests": fitted.n_tests_,
        "status": fitted.status_,
        "reason": fitted.reason_,
        "features": fitted.selected_features_,
        "refused": [list(columns) for columns in found.refused],
    }
    if as_json:
        show_json(told)
        return
    show(printable(f"{told['target']}: {len(fitted.selected_features_)} features, {fitted.n_tests_} tests"))
    if fitted.status_ != "ok":
        show(printable(f"{fitted.status_}: {fitted.reason_}"))
    for name in fitted.selected_features_:
        show(f"  {printable(name)}  {fitted.roles_[name]}")
