"""Rule report: the page, its charts as files, and the run's provenance."""

import json
import platform
from pathlib import Path

from blanketflow import __version__, collect
from blanketflow.artefacts import write_json, write_text
from blanketflow.core.registry import discover
from blanketflow.report import Run, draw, render

PACKAGES = ("snakemake", "numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "lightgbm", "numba")


def main(
    cards: list[Path],
    blankets: list[Path],
    by_fold: list[Path],
    shrink: list[Path],
    evaluations: list[Path],
    tables: list[Path],
    report: Path,
    figures: Path,
    provenance: Path,
    spec: str,
) -> None:
    """Write report.html, figures/ and provenance.json."""
    import pandas as pd

    asked = json.loads(spec)
    facts = {
        "blanketflow": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "seed": asked["seed"],
        "packages": collect.versions(PACKAGES),
        "config": asked,
    }
    selectors = {
        name: {**(s := asked["selectors"][name]), **s["options"], "ci_test": asked["ci_tests"].get(s["ci_test"])}
        for name in asked["order"]["selectors"]
    }
    known = collect.cards(cards)
    found = {**discover("blanketflow.selectors"), **discover("blanketflow.ci")}
    run = Run(
        tables=collect.tables(tables),
        folds=collect.folds(by_fold),
        members=collect.members(shrink),
        outcomes=collect.outcomes(blankets, evaluations),
        skipped=pd.DataFrame(asked["skipped"], columns=["dataset", "selector", "reason"]),
        cards={name: known[name] for name in asked["order"]["datasets"]},
        selectors=selectors,
        method_cards={identifier: method.card for identifier, method in found.items()},
        provenance=facts,
    )
    drawn = draw(run)
    figures.mkdir(parents=True, exist_ok=True)  # also where there is nothing to draw
    for name, svg in drawn.items():
        write_text(figures / f"{name.replace('/', '-')}.svg", svg)
    write_text(report, render(run, drawn))
    write_json(provenance, facts)


if "snakemake" in globals():
    from blanketflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
