"""How far the partition alone moves a score: `nice python -m studies.papers.partition_noise`, after paper_data.py.

The runs of configs/ with one partition of the rows tell nothing of that, and the spread over its folds is wider.
So some selectors of each config are run here on further partitions: each from its own seed, all else as in the config.
Kept is a row for each partition, data set, selector, model and metric, in results/partition_noise.parquet, which
papers.py takes its noise from. A data set that is there is left alone: `--anew` measures it again.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from blanketflow.api.compare import compare_config

ROOT = Path(__file__).parents[2]
RESULT = Path(__file__).parent / "results" / "partition_noise.parquet"
PARTITIONS = 5
#: The config, the selectors whose scores are measured, and data sets that would take hours.
RUNS = {
    "unified-view": (("iamb", "mrmr-10"), ()),
    "unified-view-wide": (("iamb", "mrmr-10"), ()),
    "ppfs-wide": (("ppfs-5-0", "ppfs-10-5"), ()),
}


def measured(run: str, dataset: str, config: dict[str, Any]) -> pd.DataFrame:
    """Return the scores and sizes of a data set on each partition."""
    parts = []
    for partition in range(PARTITIONS):
        found = compare_config({**config, "seed": config["seed"] + 1 + partition})
        scores = found.scores[found.scores["selector"] != "none"]
        of = ["selector", "model", "metric", "mean", "n_features"]
        parts.append(scores[of].rename(columns={"mean": "value"}).assign(partition=partition))
    return pd.concat(parts, ignore_index=True).assign(run=run, dataset=dataset)


def narrowed(config: dict[str, Any], dataset: str, selectors: tuple[str, ...]) -> dict[str, Any]:
    """Return a paper's config with one data set, some selectors and no selection on all rows."""
    chosen = {
        name: spec
        for name, spec in config["selectors"].items()
        if name in selectors and dataset in spec.get("datasets", [dataset])
    }
    specs = {name: {key: value for key, value in spec.items() if key != "datasets"} for name, spec in chosen.items()}
    specs["all"] = {"method": "all", "datasets": []}  # the baseline, which takes longer than all else
    kept = {key: value for key, value in config.items() if key not in ("tables", "output", "grain")}
    splits = {**config["splits"], "final": False, "optimistic": False}
    return kept | {"datasets": {dataset: config["datasets"][dataset]}, "selectors": specs, "splits": splits}


def main() -> None:
    """Measure what is missing, data set by data set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--anew", action="store_true", help="measure every data set, also those that are kept")
    kept = pd.read_parquet(RESULT) if RESULT.exists() and not parser.parse_args().anew else pd.DataFrame()
    for run, (selectors, dear) in RUNS.items():
        config = yaml.safe_load((ROOT / "studies" / "papers" / "configs" / f"{run}.yaml").read_text(encoding="utf-8"))
        for dataset in config["datasets"]:
            if dataset in dear or (len(kept) and ((kept["run"] == run) & (kept["dataset"] == dataset)).any()):
                continue
            started = time.process_time()
            kept = pd.concat([kept, measured(run, dataset, narrowed(config, dataset, selectors))], ignore_index=True)
            kept.to_parquet(RESULT, index=False)
            print(f"{run} {dataset}: {time.process_time() - started:.0f} CPU s", file=sys.stderr)


if __name__ == "__main__":
    main()
