"""Procedures that control the false discovery rate, on tables of twelve shapes: `python -m studies.discover`.

Goes on where the last run ended: discover.parquet has a row for each design, table and procedure. README.md shows the
means.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
from threadpoolctl import threadpool_limits

import blanketflow as bf
from blanketflow.core.seeds import seed_32
from studies.discover.designs import DESIGNS
from studies.error_control.page import interval
from studies.shared.page import row, write

HERE = Path(__file__).parent
RAW = HERE / "discover.parquet"
Q = 0.1
KEY = ["design", "table", "procedure"]
PROCEDURES: dict[str, Any] = {
    "dcrt, bh": bf.DCRT(alpha=Q),  # what `discover` takes
    "dcrt, by": bf.DCRT(alpha=Q, correction="by"),
    "knockoffs": bf.Knockoffs(q=Q),
    "knockoffs, 5 draws": bf.Knockoffs(q=Q, draws=5),
    "ipss": bf.IPSS(q=Q),
}


def measured(design: str, number: int) -> list[dict[str, Any]]:
    """Return a row for each procedure on one table."""
    X, y, relevant = DESIGNS[design].sample(design, number)
    kind = "survival" if isinstance(y, pd.DataFrame) else "auto"
    rows = []
    for name, procedure in PROCEDURES.items():
        begin = time.process_time()
        selector = procedure.set_params(target_kind=kind, random_state=seed_32("discover", design, number))
        chosen = set(selector.fit(X, y).selected_features_)
        rows.append(
            {
                "design": design,
                "table": number,
                "procedure": name,
                "false": len(chosen - relevant) / max(len(chosen), 1),
                "power": len(chosen & relevant) / len(relevant),
                "seconds": time.process_time() - begin,
            }
        )
    return rows


def write_page(raw: pd.DataFrame) -> None:
    """Write the tables of the page: the rate with its interval, and the power, of each procedure."""
    heads = [row("design", *PROCEDURES), row(*["---"] * (len(PROCEDURES) + 1))]
    rates, powers = [*heads], [*heads]
    for design in DESIGNS:
        of = raw[raw["design"] == design]
        if of.empty:
            continue
        parts = [of[of["procedure"] == name] for name in PROCEDURES]
        rates.append(row(design, *(f"{part['false'].mean():.3f} ({interval(part['false'], 3)})" for part in parts)))
        powers.append(row(design, *(f"{part['power'].mean():.2f}" for part in parts)))
    n = raw.groupby("design")["table"].nunique()
    seconds = raw.groupby(["design", "procedure"])["seconds"].mean().unstack()["dcrt, bh"]
    write(
        HERE / "README.md",
        {
            "counts": f"{n.min()} to {n.max()} tables of each design. dCRT takes {seconds.min():.1f} to "
            f"{seconds.max():.1f} CPU seconds.",
            "rates": "\n".join(rates),
            "powers": "\n".join(powers),
        },
    )


def main() -> None:
    """Measure until the time or the tables are used up, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0, help="of CPU time; 0 writes the page only")
    parser.add_argument("--tables", type=int, default=200, help="tables of each design")
    asked = parser.parse_args()
    rows = pd.read_parquet(RAW).to_dict("records") if RAW.exists() else []
    done = {(found["design"], found["table"]) for found in rows}
    stop = time.process_time() + 60 * asked.minutes
    warnings.simplefilter("ignore")
    try:
        with threadpool_limits(1):
            for number in range(asked.tables):
                for design in DESIGNS:
                    if (design, number) not in done and time.process_time() < stop:
                        rows += measured(design, number)
    finally:  # also of a run that is stopped
        pd.DataFrame(rows).sort_values(KEY).to_parquet(RAW, index=False)
    write_page(pd.DataFrame(rows))


if __name__ == "__main__":
    main()
