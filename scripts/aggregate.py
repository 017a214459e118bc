"""Rule aggregate: which of the folds' sets is the blanket."""

import json
from pathlib import Path

from blanketflow.aggregate import Member, aggregate
from blanketflow.artefacts import Provenance, read_columns, read_provenance, write_columns
from blanketflow.jobs import recorded, require

BLANKET_TYPES = {"feature": "string", "chosen": "bool", "frequency": "double", "importance": "double", "role": "string"}
FOLD_TYPES = {
    "fold": "string",
    "size": "int64",
    "z": "double",
    "chosen": "bool",
    "n_tests": "int64",
    "seconds": "double",
}


def main(
    marginal: list[Path],
    grow: list[Path],
    shrink: list[Path],
    blanket: Path,
    by_fold: Path,
    folds: list[str],
    spec: str,
) -> None:
    """Write blanket.parquet and folds.parquet."""
    stages = [list(map(read_provenance, paths)) for paths in (marginal, grow, shrink) if paths]
    asked = json.loads(spec)
    total = Provenance(spec=spec, seed=asked["seed"])
    features, by_folds = [], []
    with recorded(total):
        kept = []
        for path in shrink:
            columns, provenance = read_columns(path)
            require(provenance)
            rows = zip(*(columns[name] for name in ("feature", "importance", "role", "kept")), strict=True)
            members = [Member(feature, importance, role) for feature, importance, role, is_kept in rows if is_kept]
            kept.append(sorted(members, key=lambda m: -m.importance))
        combined = aggregate(kept, asked["aggregate"])
        features = combined.features
        for i, name in enumerate(folds):
            own = [stage[i] for stage in stages]
            tests, seconds = sum(p.n_tests for p in own), sum(p.seconds for p in own)
            by_folds.append((name, len(kept[i]), combined.z[i], combined.best == i, tests, seconds))
        total.n_tests = sum(row[4] for row in by_folds)
    write_columns(blanket, {c: [f[c] for f in features] for c in BLANKET_TYPES}, BLANKET_TYPES, total)
    columns = dict(zip(FOLD_TYPES, zip(*by_folds, strict=True) if by_folds else [[]] * len(FOLD_TYPES), strict=True))
    write_columns(by_fold, columns, FOLD_TYPES, total)


if "snakemake" in globals():
    from blanketflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
