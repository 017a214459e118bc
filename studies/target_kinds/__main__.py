"""Times, counts, orders, shares and positive numbers: are their blankets found, and are chosen features good?

`python -m studies.target_kinds --data FOLDER` searches simulated networks, whose blankets are known (simulated.csv),
and chooses features of published tables beside methods that people use (public.csv), and writes the tables of
README.md. It goes on where the last run stopped. `--page` writes the page only. README.md says how the tables and
the packages are got.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import pandas as pd

from studies.shared.page import write
from studies.target_kinds import page, public, simulated

HERE = Path(__file__).parent
SIMULATED, PUBLIC, FACTS = (HERE / name for name in ("simulated.csv", "public.csv", "sets.csv"))
RESIDUALS, PAGE = HERE / "residuals.csv", HERE / "README.md"


def blocks() -> dict[str, str]:
    """Return the tables of the page."""
    n, failures = simulated.oracle_failures()
    networks = page.read_simulated(SIMULATED)
    right = f"{n - len(failures)} of {n}"
    said = f"With the oracle, {right} searches find exactly the blanket of the graph (`max_k: null`)."
    made = {
        "oracle": said,
        "iamb": page.forms_table(networks, "iamb"),
        "hiton-mb": page.forms_table(networks, "hiton-mb"),
        "gains": page.gains_table(networks),
        "searches": page.searches_table(networks),
        "kinds": page.kinds_table(networks),
    }
    found, facts = page.read_public(PUBLIC), pd.read_csv(FACTS, index_col="set", keep_default_na=False)
    times = list(facts.index[facts["kind"] == "survival"])
    others = [name for name in facts.index if name not in times]
    compared = list(page.compared(found, facts, page.JUDGES))
    by_harrell = [c for c in page.compared(found, facts, page.HARRELL) if c.data in times]
    made |= {
        "sets": page.sets_table(facts),
        "aims": page.sentence(found, compared),
        "times": page.summary_table(compared, times, page.JUDGES),
        "others": page.summary_table(compared, others, page.JUDGES),
        "harrell": page.summary_table(by_harrell, times, page.HARRELL),
        "residuals": page.residuals_table(pd.read_csv(RESIDUALS), facts),
        "losses": page.losses_table([*compared, *by_harrell]),
        "shares": page.shares_table(found),
        "linear scores": page.scores_table(found, "linear"),
        "boosted scores": page.scores_table(found, "boosted"),
    }
    return made


def main() -> None:
    """Measure unless only the page is asked for, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("target-kinds-data"), help="the folder that data.R wrote")
    parser.add_argument("--methods", nargs="+", default=public.METHODS, help="measure some on the published tables")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many CPU seconds a part")
    parser.add_argument("--page", action="store_true", help="write the page from results that are there")
    asked = parser.parse_args()
    if not asked.page:
        warnings.simplefilter("ignore")  # unreliable tests of few rows: their answers are what is measured
        simulated.measure(SIMULATED, asked.seconds)
        public.facts(asked.data).to_csv(FACTS, index=False)
        public.seen_in_residuals(asked.data).to_csv(RESIDUALS, index=False)
        public.measure(PUBLIC, asked.data, asked.methods, asked.seconds)
    write(PAGE, blocks())


if __name__ == "__main__":
    main()
