"""Procedures that control the false discovery rate, on tables of twelve shapes: `python -m studies.discover`.

Goes on where the last run ended: discover.parquet has a row for each design, table and procedure. README.md shows the
means. Procedures of other packages are run where these are installed, with 60 CPU seconds for each table.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Collection
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import blanketflow as bf
from blanketflow.core.isolation import in_child
from blanketflow.core.limits import LimitReached
from blanketflow.core.seeds import seed_32
from studies.discover.designs import DESIGNS
from studies.discover.peers import PEERS, SURVIVAL_PEERS, Peer, compile_cox_lasso
from studies.error_control.page import interval
from studies.shared.in_parts import count_cpu_time, own_seconds
from studies.shared.page import row, write

HERE = Path(__file__).parent
RAW = HERE / "discover.parquet"
Q = 0.1
KEY = ["design", "table", "procedure"]
#: From this table on nothing was chosen or looked at before `discover` was fixed. These tables are counted apart.
FRESH = 1000
#: CPU seconds of a peer for one table.
MOST_SECONDS = 60.0
OURS: dict[str, Any] = {
    "discover": bf.Discover(q=Q),
    "dcrt, bh": bf.DCRT(alpha=Q),
    "dcrt, by": bf.DCRT(alpha=Q, correction="by"),
    "knockoffs": bf.Knockoffs(q=Q),
    "knockoffs, 5 draws": bf.Knockoffs(q=Q, draws=5),
    "ipss": bf.IPSS(q=Q),
    "stability-selection by noise": bf.StabilitySelection(threshold=None),
}
PACKAGES: dict[str, tuple[str, Peer]] = PEERS | SURVIVAL_PEERS
PROCEDURES = (*OURS, *PACKAGES)


def measured(design: str, number: int, procedure: str) -> dict[str, Any]:
    """Return the row of a procedure on one table; a peer without an answer in time keeps nothing."""
    X, y, relevant = DESIGNS[design].sample(design, number)
    seed, begin, status = seed_32("discover", design, number), own_seconds(), "ok"
    if procedure in OURS:
        kind = "survival" if isinstance(y, pd.DataFrame) else "auto"
        found = OURS[procedure].set_params(target_kind=kind, random_state=seed).fit(X, y)
        chosen = set(found.selected_features_)
    else:
        are_classes = not isinstance(y, pd.DataFrame) and y.dtype.kind == "U"
        codes = (y == "yes") * 1.0 if are_classes else np.asarray(y, dtype=float)
        if procedure in SURVIVAL_PEERS:
            compile_cox_lasso()
        begin, ask = own_seconds(), partial(_names, procedure, X, codes, seed)
        try:
            chosen = set(in_child(ask, MOST_SECONDS))
        except LimitReached:
            chosen, status = set(), "timeout"
    return {
        "design": design,
        "table": number,
        "procedure": procedure,
        "status": status,
        "false": len(chosen - relevant) / max(len(chosen), 1),
        "power": len(chosen & relevant) / len(relevant),
        "seconds": own_seconds() - begin,
    }


def _names(peer: str, X: pd.DataFrame, y: np.ndarray, seed: int) -> list[str]:
    return X.columns[PACKAGES[peer][1](X.to_numpy(dtype=float), y, Q, seed)].tolist()


def suits(design: str, procedure: str) -> bool:
    """Whether a procedure of ours, or a peer that is installed, takes the columns and the target of a design."""
    if procedure in OURS:
        return True
    X, y, _ = DESIGNS[design].sample(design, 0)
    takes = SURVIVAL_PEERS if isinstance(y, pd.DataFrame) else PEERS
    return procedure in takes and all(X.dtypes != "category") and find_spec(PACKAGES[procedure][0]) is not None


def write_page(raw: pd.DataFrame) -> None:
    """Write the tables of the page: the rate with its interval, and the power, of each procedure."""
    rates, powers = ([row("design", *OURS), row(*["---"] * (len(OURS) + 1))] for _ in range(2))
    fresh = [row("design", "tables", "false discovery rate", "power"), row(*["---"] * 4)]
    for design in DESIGNS:
        part = raw[(raw["table"] >= FRESH) & (raw["design"] == design)]
        fresh.append(row(design, len(part), _with_interval(part["false"]), f"{part['power'].mean():.2f}"))
    raw = raw[raw["table"] < FRESH]
    for design in DESIGNS:
        of = raw[raw["design"] == design]
        if of.empty:
            continue
        parts = {name: of[of["procedure"] == name] for name in PROCEDURES}
        ours = [parts[name] for name in OURS]
        rates.append(row(design, *(_with_interval(part["false"]) for part in ours)))
        powers.append(row(design, *(f"{part['power'].mean():.2f}" for part in ours)))
    n = raw.groupby("design")["table"].nunique()
    seconds = raw.groupby(["design", "procedure"])["seconds"].mean().unstack()["discover"]
    write(
        HERE / "README.md",
        {
            "counts": f"{n.min()} to {n.max()} tables of each design. `discover` takes {seconds.min():.1f} to "
            f"{seconds.max():.1f} CPU seconds.",
            "rates": "\n".join(rates),
            "powers": "\n".join(powers),
            "peers": _beside(raw, PEERS),
            "survival peers": _beside(raw, SURVIVAL_PEERS),
            "fresh": "\n".join(fresh),
        },
    )


def _with_interval(values: pd.Series) -> str:
    return f"{values.mean():.3f} ({interval(values, 3)})"


def _beside(raw: pd.DataFrame, peers: Collection[str]) -> str:
    """Return the table of peers, and of `discover` on the same tables, for the designs that these take."""
    lines = [row("design", "tables", "discover", *peers), row(*["---"] * (len(peers) + 3))]
    for design in DESIGNS:
        parts = [raw[(raw["design"] == design) & (raw["procedure"] == name)] for name in peers]
        if all(map(len, parts)):
            same = set.intersection(*(set(part["table"]) for part in parts))
            ours = raw[(raw["design"] == design) & (raw["procedure"] == "discover")]
            cells = [_of_peer(part[part["table"].isin(same)]) for part in (ours, *parts)]
            lines.append(row(design, len(same), *cells))
    return "\n".join(lines)


def _of_peer(part: pd.DataFrame) -> str:
    late = (part["status"] == "timeout").sum()
    if late == len(part):
        return f"no answer in {MOST_SECONDS:.0f} s"
    of = f"; {late} without an answer" if late else ""
    return f"{part['power'].mean():.2f} at {part['false'].mean():.3f} ({interval(part['false'], 3)}{of})"


def main() -> None:
    """Measure until the time or the tables are used up, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0, help="of CPU time; 0 writes the page only")
    parser.add_argument("--tables", type=int, default=200, help="tables of each design")
    parser.add_argument("--first", type=int, default=0, help=f"number of the first table, such as {FRESH}")
    parser.add_argument("--procedures", nargs="+", choices=PROCEDURES, default=PROCEDURES)
    parser.add_argument("--designs", nargs="+", choices=DESIGNS, default=DESIGNS)
    asked = parser.parse_args()
    rows = pd.read_parquet(RAW).to_dict("records") if RAW.exists() else []
    done = {(found["design"], found["table"], found["procedure"]) for found in rows}
    warnings.simplefilter("ignore")
    count_cpu_time()
    wanted = [(design, name) for design in asked.designs for name in asked.procedures if suits(design, name)]
    stop = own_seconds() + 60 * asked.minutes
    try:
        with threadpool_limits(1):
            for number in range(asked.first, asked.first + asked.tables):
                for design, name in wanted:
                    if (design, number, name) not in done and own_seconds() < stop:
                        rows.append(measured(design, number, name))
    finally:  # also of a run that is stopped
        pd.DataFrame(rows).sort_values(KEY).to_parquet(RAW, index=False)
    write_page(pd.DataFrame(rows))


if __name__ == "__main__":
    main()
