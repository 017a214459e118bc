"""How far the seed moves PPFS on all rows: `nice python -m studies.papers.ppfs_seeds`, after paper_data.py.

Tables 2 to 5 of the paper, with their B and K: PPFS selects on all rows by one seed after the other, and the table's
model scores each selection on the same partitions of the rows. With K folds it is run by both readings of Algorithm 2:
a fold is all rows but its part (`train`), or its part. `--code PyImpetus` runs the authors' code on table 2 (`make
setup-bench`): it seeds its splits by 0 .. B-1, so here a seed also shuffles the rows. Results are kept in
results/ppfs_seeds.parquet; papers.py makes tables and the noise of seeds of them.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.metrics import accuracy_score, mean_squared_error
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier

import blanketflow as bf
from blanketflow.models import get_model
from studies.papers.page import write
from studies.papers.printed_tables import PrintedTable, read_printed
from studies.shared.page import row

Table = pd.DataFrame | scipy.sparse.csc_matrix
ROOT = Path(__file__).parents[2]
RESULT = Path(__file__).parent / "results" / "ppfs_seeds.parquet"
OURS, THEIRS = "blanketflow", "PyImpetus"
#: Folds, partitions and seeds of each table.
PROTOCOLS = {"2": (5, 10, 30), "3": (5, 10, 30), "4": (10, 2, 10), "5": (5, 10, 30)}
#: Seeds of PyImpetus, which takes 4 to 33 CPU seconds for one.
SEEDS_OF_THEIRS = {"statlog": 30, "ionosphere": 30, "sonar": 6, "wdbc": 30, "credit": 30, "ecoli": 20}
#: What a run is of.
KEY = ["code", "table", "dataset", "fold_rows"]


def table_of(name: str) -> tuple[Table, pd.Series]:
    """Return the features and the target of a data set in data/."""
    sparse = ROOT / "data" / f"{name}.npz"
    if sparse.exists():
        return scipy.sparse.load_npz(sparse).tocsc(), pd.read_csv(sparse.with_suffix(".y.csv"), dtype=str)["target"]
    frame = pd.read_parquet(ROOT / "data" / f"{name}.parquet")
    X, y = frame.drop(columns="target"), frame["target"]
    if name == "desharnais":
        X["Language"] = X["Language"].astype(str)
    return X.fillna(X.median(numeric_only=True)), y


def ours(X: Table, y: pd.Series, n_repeats: int, n_folds: int, fold_rows: str, seed: int) -> list[int]:
    """Return the columns that blanketflow selects."""
    test = bf.get_ci_test("ppi", n_repeats=n_repeats, model="tree")
    fitted = bf.PPFS(ci_test=test, n_folds=n_folds, fold_rows=fold_rows, random_state=seed).fit(X, y)
    return np.flatnonzero(fitted.get_support()).tolist()


def theirs(X: pd.DataFrame, y: pd.Series, n_repeats: int, n_folds: int, seed: int) -> list[int]:
    """Return the columns that PyImpetus selects from the shuffled rows."""
    from PyImpetus import PPIMBC

    codes = X.apply(lambda one: one if pd.api.types.is_numeric_dtype(one) else pd.factorize(one, sort=True)[0])
    order = np.random.default_rng(seed).permutation(len(y))
    tree = DecisionTreeClassifier(random_state=seed)
    asked = {"p_val_thresh": 0.05, "num_simul": n_repeats, "cv": n_folds, "n_jobs": 1, "verbose": 0}
    selector = PPIMBC(tree, random_state=seed, **asked)
    selector.fit(codes.iloc[order].astype(float), pd.factorize(y, sort=True)[0][order])
    return [X.columns.get_loc(name) for name in selector.MB]


def scores(X: Table, y: pd.Series, chosen: list[int], table: PrintedTable) -> list[float]:
    """Return the table's measure on each partition; without features that of naming the larger class or the mean."""
    n_folds, n_partitions, _ = PROTOCOLS[table.table]
    regression = table.measure == "root-mean-squared-error"
    if scipy.sparse.issparse(X):
        kept = X[:, chosen].toarray()
    else:
        kept = pd.get_dummies(X.iloc[:, chosen], dtype=float).to_numpy(dtype=float)
    target, found = np.asarray(y), []
    for seed in range(n_partitions):
        by_fold = []
        for train, test in KFold(n_folds, shuffle=True, random_state=seed).split(kept):
            if chosen:
                model = get_model(table.model).build("regression" if regression else "classification", seed)
                predicted = model.fit(kept[train], target[train]).predict(kept[test])
            else:
                usual = target[train].mean() if regression else pd.Series(target[train]).mode()[0]
                predicted = np.full(len(test), usual)
            measured = mean_squared_error if regression else accuracy_score
            by_fold.append(measured(target[test], predicted))
        mean = float(np.mean(by_fold))
        found.append({"error": 1 - mean, "root-mean-squared-error": mean**0.5}.get(table.measure, mean))
    return found


def jobs(code: str) -> Iterator[tuple[PrintedTable, str, str]]:
    """Yield each table with a data set and a reading of Algorithm 2."""
    for table in read_printed(ROOT / "studies" / "papers" / "published" / "ppfs.yaml"):
        if table.table in (PROTOCOLS if code == OURS else ("2",)):
            for name, options in table.options.items():
                yield table, name, "train"
                if code == OURS and int(options["n_folds"]):
                    yield table, name, "part"


def run(code: str, table: PrintedTable, name: str, fold_rows: str) -> pd.DataFrame:
    """Return a row for each seed and partition."""
    X, y = table_of(name)
    n_repeats, n_folds = (int(table.options[name][key]) for key in ("n_repeats", "n_folds"))
    rows: list[dict[str, object]] = []
    known: dict[tuple[int, ...], list[float]] = {}
    for seed in range(PROTOCOLS[table.table][2] if code == OURS else SEEDS_OF_THEIRS[name]):
        select = partial(ours, fold_rows=fold_rows) if code == OURS else theirs
        try:
            chosen = tuple(sorted(select(X, y, n_repeats, n_folds, seed=seed)))
        except ValueError as error:  # PyImpetus' where a class has rows in its test part only, as on ecoli
            if code == OURS:
                raise
            print(f"{name}, seed {seed}: no set, because {error}", file=sys.stderr)
            continue
        if chosen not in known:
            known[chosen] = scores(X, y, list(chosen), table)
        rows += [
            {"seed": seed, "n_features": len(chosen), "partition": partition, "value": value}
            for partition, value in enumerate(known[chosen])
        ]
    of = {"code": code, "table": table.table, "dataset": name, "fold_rows": fold_rows}
    return pd.DataFrame(rows).assign(**of, n_repeats=n_repeats, n_folds=n_folds)


def best_of_runs(kept: pd.DataFrame, printed: PrintedTable) -> str:
    """Return a table of how good the best of many runs looks: all of ours, and as many as there are of theirs."""
    heads = ("data", "printed", "ours: mean", "best of 300", "runs", "ours: best of them", "PyImpetus: mean")
    lines = [row(*heads, "best of them"), row(*["---"] * (len(heads) + 1))]
    of_table = kept[(kept["table"] == printed.table) & (kept["fold_rows"] == "train")]
    for name in printed.options:
        found = of_table[of_table["dataset"] == name]
        mine, their = found[found["code"] == OURS], found[found["code"] == THEIRS]
        first = mine[mine["seed"].isin(their["seed"])]
        cells = [f"{mine['value'].mean():.3f}", f"{mine['value'].max():.3f}", str(len(their))]
        compared = (first["value"].max(), their["value"].mean(), their["value"].max())
        cells += [f"{value:.3f}" if len(their) else "" for value in compared]
        lines.append(row(name, printed.cells[name, "ppfs"].value, *cells))
    return "\n".join(lines)


def both_readings(kept: pd.DataFrame, printed: dict[str, PrintedTable]) -> str:
    """Return a table of sizes and scores by both readings of Algorithm 2, where there are folds."""
    lines = [row("table", "data", "B, K", "printed", "all rows but the part", "the part"), row(*["---"] * 6)]
    sizes = {name: printed[number].cells[name, "ppfs"] for number in "67" for name in printed[number].options}
    for (number, name), found in kept[(kept["code"] == OURS) & (kept["n_folds"] > 0)].groupby(["table", "dataset"]):
        means = found.groupby("fold_rows")[["n_features", "value"]].mean()
        if len(means) < 2:  # one reading has not been run
            continue
        cells = [f"{means.loc[how, 'n_features']:.1f}: {means.loc[how, 'value']:.4g}" for how in ("train", "part")]
        said = f"{sizes[name].value:.0f}: {printed[number].cells[name, 'ppfs'].value:.4g}"
        lines.append(row(number, name, f"{found['n_repeats'].iloc[0]}, {found['n_folds'].iloc[0]}", said, *cells))
    return "\n".join(lines)


def main() -> None:
    """Run what is not kept yet, one data set after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--code", choices=(OURS, THEIRS), default=OURS, help="whose PPFS to run (default: ours)")
    parser.add_argument("--anew", action="store_true", help="run also what is kept")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for table, name, fold_rows in jobs(asked.code):
        kept = pd.read_parquet(RESULT) if RESULT.exists() else pd.DataFrame(columns=KEY)
        same = (kept[KEY] == [asked.code, table.table, name, fold_rows]).all(axis=1)
        if asked.anew or not same.any():
            started = time.process_time()
            found = run(asked.code, table, name, fold_rows)
            pd.concat([kept[~same], found], ignore_index=True).to_parquet(RESULT, index=False)
            print(f"{table.table} {name} {fold_rows}: {time.process_time() - started:.0f} CPU s", file=sys.stderr)
    printed = {table.table: table for table in read_printed(ROOT / "studies" / "papers" / "published" / "ppfs.yaml")}
    kept = pd.read_parquet(RESULT)
    write("ppfs seeds", best_of_runs(kept, printed["2"]))
    write("ppfs readings", both_readings(kept, printed))


if __name__ == "__main__":
    main()
