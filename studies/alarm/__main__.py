"""The ALARM study beside its publication: `python -m studies.alarm` after a run of alarm-study.yaml.

Renews the tables of README.md. The printed numbers are those of published.yaml; selectors
that the run does not have are left out.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

ROOT = Path(__file__).parents[2]
PAGE, PRINTED = ROOT / "studies" / "alarm" / "README.md", ROOT / "studies" / "alarm" / "published.yaml"
TABLES = Path("results") / "alarm-study" / "tables"
SAMPLES = 10
#: What the columns are called on the page, where that is not what the result tables call it.
NAMES = {
    "n_pc": "parents and children",
    "n_spouses": "spouses",
    "n_false": "false positives",
    "pc_precision": "precision",
    "pc_recall": "recall",
}
#: A mean agrees with the printed one where they differ by at most so many standard errors of their difference.
STANDARD_ERRORS = 2


def main() -> None:
    """Write the tables of the page."""
    measured = measurements(TABLES)
    text = PAGE.read_text(encoding="utf-8")
    for printed in yaml.safe_load(PRINTED.read_text(encoding="utf-8")):
        marks = f"<!-- table {printed['table']} -->", f"<!-- end of table {printed['table']} -->"
        pattern = re.compile(f"(?s){re.escape(marks[0])}.*?{re.escape(marks[1])}")
        block = "\n".join([marks[0], beside(printed, measured), marks[1]])
        text, count = pattern.subn(lambda _, block=block: block, text)
        if count != 1:
            raise SystemExit(f"{PAGE}: {marks[0]} and {marks[1]} must each occur once, in this order.")
    PAGE.write_text(text, encoding="utf-8")


def measurements(tables: Path) -> pd.DataFrame:
    """Return mean, sd and number of samples by rows of a sample, selector and what was measured."""
    scores, truth = (pd.read_parquet(tables / f"{name}.parquet") for name in ("scores", "truth"))
    accuracy = scores[scores["metric"] == "accuracy"].rename(columns={"model": "measure", "mean": "value"})
    accuracy = accuracy.assign(value=100 * accuracy["value"])
    recovery = truth.drop(columns="split").melt(["dataset", "selector"], var_name="measure")
    columns = ["dataset", "selector", "measure", "value"]
    both = pd.concat([accuracy[columns], recovery[columns]])
    both["rows"] = both["dataset"].str.extract(r"^alarm-(\d+)-\d+$").astype(int)
    return both.groupby(["rows", "selector", "measure"])["value"].agg(["mean", "std", "count"])


def beside(printed: dict[str, Any], measured: pd.DataFrame) -> str:
    """Return one table in Markdown: our mean and sd, the printed ones below, and whether they agree."""
    columns = [name.split() for name in printed["columns"]]
    have = set(measured.index.get_level_values("selector"))
    head = [f"{NAMES.get(measure, measure)}, {int(rows):,} rows" for rows, measure in columns]
    lines = [["selector", *head], ["---"] * (len(columns) + 1)]
    for selector, numbers in printed["rows"].items():
        if selector in have:
            pairs = zip(columns, numbers, strict=True)
            found = [_cell(measured.loc[int(rows), selector, measure], text) for (rows, measure), text in pairs]
            lines.append([f"`{selector}`", *found])
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    left_out = [f"`{selector}`" for selector in printed["rows"] if selector not in have]
    title = f"Table {printed['table']}: {printed['title']}.\n\n"
    return title + table + (f"\n\nNot run: {', '.join(left_out)}." if left_out else "")


def _cell(ours: pd.Series, text: str) -> str:
    mean, sd = (float(number) for number in text.split(" ± "))
    if ours["count"] != SAMPLES:
        raise SystemExit(f"{TABLES}: {ours.name} has {ours['count']:.0f} samples, not {SAMPLES}: see the run's report.")
    error = math.sqrt((ours["std"] ** 2 + sd**2) / SAMPLES)
    difference = ours["mean"] - mean
    agrees = abs(difference) <= STANDARD_ERRORS * error + 1e-9
    verdict = "" if agrees else " **higher**" if difference > 0 else " **lower**"
    decimals = 3 if ours.name[-1].endswith(("precision", "recall")) else 2
    return (
        f"{ours['mean']:.{decimals}f} ± {ours['std']:.{decimals}f}{verdict}"
        f"<br>printed {mean:.{decimals}f} ± {sd:.{decimals}f}"
    )


if __name__ == "__main__":
    main()
