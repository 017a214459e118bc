"""Probabilistic isolation by GS(3), RGS(3,1000) and Relieved on real data, as in Margaritis (2009), figure 2.

`python -m studies.near_parity.isolation` writes the last tables of README.md, from <set>/<set>.csv in the folder that
`BLANKETFLOW_DATA` names, or FOLDER; two minutes. With `--quick` it prints those of three sets.
"""

from __future__ import annotations

import argparse
import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from scipy import stats

import blanketflow as bf
from blanketflow.ci.base import CITest
from blanketflow.core.convert import as_table
from blanketflow.core.seeds import derive_rng, derive_seed
from blanketflow.core.table import Table
from blanketflow.search.run_fold import run_fold
from blanketflow.selectors.base import Method
from blanketflow.selectors.causal.gs import GSM, RGSMK
from blanketflow.selectors.filters.relief import Relieved
from studies.shared.page import row, write

PAGE = Path(__file__).parents[2] / "studies" / "near_parity" / "README.md"
#: Of the papers' sets those with levels only.
DATA_SETS = ("lung_cancer_uci", "promoters", "spect", "breast_cancer_wisconsin", "kr_vs_kp", "mushroom", "connect_4")
#: Rows at most, sets of columns a variable at most, and columns in a set at most.
ROWS, SETS, SIZE = 2000, 2000, 3
SEARCH = bf.get_ci_test("chi2")
#: Relieved ranks all features, so that only the threshold cuts, and asks no test.
METHODS: dict[str, tuple[Method, CITest | None]] = {
    "gs-m": (GSM(m=3), SEARCH),
    "rgs-mk": (RGSMK(m=3, k=1000), SEARCH),
    "relieved": (Relieved(n_features=100, threshold=0.03), None),
}


def main() -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=Path(os.environ.get("BLANKETFLOW_DATA", "data")))
    parser.add_argument("--quick", action="store_true", help="three data sets; the page stays as it is")
    given = parser.parse_args()
    found = pd.DataFrame(isolations(given.data, DATA_SETS[:3] if given.quick else DATA_SETS))
    found = found.pivot(index=["set", "target"], columns="method")
    blocks = {"isolation": means(found), "isolation pairs": comparisons(found)}
    print(*blocks.values(), sep="\n\n")
    if not given.quick:
        write(PAGE, blocks)


def isolations(folder: Path, names: tuple[str, ...]) -> Iterator[dict[str, object]]:
    """Find every variable's blanket, and measure how independent sets outside are of the variable given it.

    Isolation is the mean p-value of chi2, however thin the cells; 1 where nothing is outside. `p_seen` leaves out the
    sets without a degree of freedom, whose p-value is 1 whatever holds.
    """
    every_p = bf.get_ci_test("chi2", min_samples_per_cell=0)
    for name in names:
        table = read_levels(folder / name / f"{name}.csv")
        bound = every_p.bind(table)
        for target, (method_name, (method, test)) in itertools.product(table.names, METHODS.items()):
            features = table.select([column for column in table.names if column != target])
            outcome = run_fold(method, test, features, table[target], derive_seed("isolation", name, target))
            blanket = [s.feature for s in outcome.decisions if s.kept]
            sets = sets_of([column for column in features.names if column not in blanket], name, target)
            results = bound.test_many(sets, target, blanket)
            p, seen = pd.Series(results.p_value), results.dof > 0
            yield {
                "set": name,
                "rows": table.n_rows,
                "target": target,
                "method": method_name,
                "size": len(blanket),
                "p": p.mean() if sets else 1.0,
                "p_seen": p[seen].mean(),
                "seen": seen.mean() if sets else 0.0,
            }


def read_levels(path: Path) -> Table:
    """Read a CSV file as levels, an empty cell as one of its own; rows drawn, columns of one level left out."""
    frame = pd.read_csv(path, dtype=str, keep_default_na=False).replace("", "?")
    if len(frame) > ROWS:
        frame = frame.sample(ROWS, random_state=derive_rng(0, "isolation rows", path.stem))
    return as_table(frame.loc[:, frame.nunique() > 1])


def sets_of(outside: list[str], name: str, target: str) -> list[tuple[str, ...]]:
    """Return the sets of columns outside a blanket, or as many drawn of them."""
    sets = list(itertools.chain(*(itertools.combinations(outside, size) for size in range(1, SIZE + 1))))
    if len(sets) <= SETS:
        return sets
    drawn = derive_rng(0, "isolation", name, target).choice(len(sets), SETS, replace=False)
    return [sets[i] for i in drawn]


def parts(found: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Go through the data sets, and all of them together."""
    for name in dict.fromkeys(found.index.get_level_values("set")):
        yield name, found.loc[[name]]
    yield "all", found


def means(found: pd.DataFrame) -> str:
    """Return a row a data set: means of each method, those of `p_seen` of the variables where all have such sets."""
    lines = [row("data set", "rows, variables", "size", "seen", "isolation", "of sets seen"), row(*["---"] * 6)]
    for name, part in parts(found):
        shape = f"{len(part)}" if name == "all" else f"{part['rows'].iloc[0, 0]:,}, {len(part)}"
        shown = {"size": "{:.1f}", "seen": "{:.0%}", "p": "{:.3f}", "p_seen": "{:.3f}"}
        kept = {key: part[key].dropna()[list(METHODS)] for key in shown}
        cells = (" / ".join(kept[key].mean().map(form.format)) if len(kept[key]) else "" for key, form in shown.items())
        lines.append(row(name, shape, *cells))
    return "\n".join(lines)


def comparisons(found: pd.DataFrame) -> str:
    """Return a row a data set: on how many variables one method isolates better and worse than another, with p."""
    pairs = list(itertools.combinations(METHODS, 2))
    names = [f"{a} against {b}" for a, b in pairs]
    lines = [row("data set", *names, *(f"{one}, sets seen" for one in names)), row(*["---"] * 7)]
    for name, part in parts(found):
        lines.append(row(name, *(compared(part[key], *pair) for key in ("p", "p_seen") for pair in pairs)))
    return "\n".join(lines)


def compared(isolation: pd.DataFrame, a: str, b: str) -> str:
    """Return on how many variables a is better and worse than b, and p by Wilcoxon's signed-rank test."""
    gap = (isolation[a] - isolation[b]).dropna()
    p = f", p = {stats.wilcoxon(gap).pvalue:.2g}" if gap.any() else ""
    return f"{(gap > 0).sum()} / {(gap < 0).sum()}{p}"


if __name__ == "__main__":
    main()
