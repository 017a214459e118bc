"""Rule aggregate: which of the folds' sets is the blanket, and which others a method found."""

import json
from pathlib import Path

from blanketflow.aggregate import Member, aggregate, all_answers
from blanketflow.artefacts import Provenance, read_columns, read_provenance, write_columns, write_rows
from blanketflow.jobs import passed_on, recorded

BLANKET_TYPES = {"feature": "string", "chosen": "bool", "frequency": "double", "importance": "double", "role": "string"}
GROUP_TYPES = {"group": "string"}
FOLD_TYPES = {
    "fold": "string",
    "size": "int64",
    "z": "double",
    "chosen": "bool",
    "n_tests": "int64",
    "seconds": "double",
}
ANSWER_TYPES = {"blanket": "int64", "feature": "string", "rank": "int64", "count": "int64"}


def main(
    marginal: list[Path],
    grow: list[Path],
    shrink: list[Path],
    blanket: Path,
    by_fold: Path,
    answers: Path,
    folds: list[str],
    spec: str,
) -> None:
    """Write blanket.parquet, folds.parquet and blankets.parquet."""
    stages = [list(map(read_provenance, paths)) for paths in (marginal, grow, shrink) if paths]
    asked = json.loads(spec)
    total = Provenance(spec=spec, seed=asked["seed"])
    features, by_folds, found, types = [], [], [], BLANKET_TYPES
    with recorded(total):
        passed_on(total, stages[-1])
        decisions = [read_columns(path)[0] for path in shrink]
        if "group" in decisions[0]:
            types = BLANKET_TYPES | GROUP_TYPES
        kept = [_members(columns) for columns in decisions]
        combined = aggregate(kept, asked["aggregate"])
        features = combined.features
        found = all_answers(combined, [provenance.extra.get("answers") for provenance in stages[-1]])
        for i, name in enumerate(folds):
            own = [stage[i] for stage in stages]
            tests, seconds = sum(p.n_tests for p in own), sum(p.seconds for p in own)
            by_folds.append((name, len(kept[i]), combined.z[i], combined.best == i, tests, seconds))
        total.n_tests = sum(row[4] for row in by_folds)
    write_columns(blanket, {c: [f[c] for f in features] for c in types}, types, total)
    write_rows(by_fold, by_folds, FOLD_TYPES, total)
    write_rows(answers, found, ANSWER_TYPES, total)


def _members(columns: dict[str, list]) -> list[Member]:
    """Return the features that a fold keeps, most important first."""
    groups = columns.get("group", [""] * len(columns["feature"]))
    rows = zip(*(columns[name] for name in ("feature", "importance", "role")), groups, columns["kept"], strict=True)
    return sorted((Member(*row[:-1]) for row in rows if row[-1]), key=lambda m: -m.importance)


if "snakemake" in globals():
    from blanketflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
