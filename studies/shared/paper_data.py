"""Put the data sets of studies/papers/configs/ where its configs look for them: `python -m studies.shared.paper_data`.

Each set that paper_data.yaml names becomes a file data/NAME.parquet, or data/NAME.npz with data/NAME.y.csv where it is
sparse. They are made from the folder that the environment variable BLANKETFLOW_DATA names, with one folder a set:
NAME.csv, or NAME.npz with NAME.y.csv, and NAME.split.csv where papers use the training part alone. A file that is there
already is left alone: so a file of your own takes a set's place, with the target in a column `target`. Where a set is
on OpenML its number stands beside it, and `source: openml:NUMBER` in a config takes the place of `path`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

REPO = Path(__file__).parents[2]
RECIPES = Path(__file__).with_suffix(".yaml")


def read(folder: Path, name: str) -> pd.DataFrame | None:
    """Return a dense set with its target; None where it is stored sparse."""
    import numpy as np

    table = folder / f"{name}.csv"
    if table.exists():
        return pd.read_csv(table, dtype=str, keep_default_na=False, na_values=[""])
    with np.load(folder / f"{name}.npz", allow_pickle=False) as stored:
        if "X" not in stored:
            return None
        names = stored["feature_names"].astype(str) if "feature_names" in stored else None
        frame = pd.DataFrame(stored["X"], columns=names)
    return frame.assign(target=target_of(folder, name))


def target_of(folder: Path, name: str) -> pd.Series:
    """Return the target beside a wide set."""
    return pd.read_csv(folder / f"{name}.y.csv", dtype=str)["target"]


def rows_of(folder: Path, name: str, recipe: dict[str, Any]) -> Any:
    """Return the rows that a paper used: all, or those of some parts of the source's own split, part by part."""
    parts = [recipe["part"]] if "part" in recipe else recipe.get("parts", [])
    if not parts:
        return slice(None)
    split = pd.read_csv(folder / f"{name}.split.csv")["split"]
    return [row for part in parts for row in split.index[split == part]]


def numbers(frame: pd.DataFrame, labels: set[str]) -> pd.DataFrame:
    """Return a frame with numbers where texts are numbers, but for the columns that hold labels."""
    for column in frame.columns.difference(list(labels)):
        try:
            frame[column] = pd.to_numeric(frame[column])
        except ValueError:
            continue
    return frame


def cut(values: pd.Series, by: int | str) -> pd.Series:
    """Return numbers as labels: of so many bins of equal width, above the median or not, or each value its own."""
    if by == "median":
        labels = (values > values.median()).map({True: "above", False: "not above"})
    else:
        labels = values.map(str) if by == "value" else pd.cut(values, int(by), labels=False).map("bin {}".format)
    return labels.where(values.notna())


def make_sparse(name: str, recipe: dict[str, Any], folder: Path, to: Path) -> None:
    """Write a sparse set; cut to what `occurs` it has ones for all that is not zero."""
    import scipy.sparse

    if recipe.get("cut", "occurs") != "occurs":
        sys.exit(f"{name} is stored sparse: its `cut` can be `occurs` alone, not {recipe['cut']}.")
    stored = recipe.get("from", name)
    kept = rows_of(folder, stored, recipe)
    matrix = scipy.sparse.load_npz(folder / f"{stored}.npz").tocsr()[kept]
    scipy.sparse.save_npz(to / f"{name}.npz", (matrix != 0).astype("uint8") if "cut" in recipe else matrix)
    target_of(folder, stored).iloc[kept].to_frame().to_csv(to / f"{name}.y.csv", index=False)


def make(name: str, recipe: dict[str, Any], source: Path, to: Path) -> None:
    """Write one set."""
    stored = recipe.get("from", name)
    folder = source / stored
    frame = read(folder, stored)
    if frame is None:
        make_sparse(name, recipe, folder, to)
        return
    kept = rows_of(folder, stored, recipe)
    regression = recipe.get("task") == "regression"
    labels = {*recipe.get("categorical", []), *([] if regression else ["target"])}
    frame = numbers(frame.iloc[kept].drop(columns=recipe.get("drop", [])).reset_index(drop=True), labels)
    for column, merged in recipe.get("merge", {}).items():
        frame[column] = frame[column].replace(merged)
    if recipe.get("complete_rows"):
        frame = frame.dropna().reset_index(drop=True)
    if recipe.get("one_hot"):
        frame = pd.get_dummies(frame.drop(columns="target"), dtype=int).assign(target=frame["target"])
    if "sample" in recipe:
        frame = frame.sample(recipe["sample"], random_state=0).reset_index(drop=True)
    if "cut" in recipe:
        for column in frame.columns.drop("target"):
            frame[column] = cut(frame[column], recipe["cut"])
    frame.to_parquet(to / f"{name}.parquet", index=False)


def main() -> None:
    """Make what is missing, and say what cannot be made."""
    source, to = os.environ.get("BLANKETFLOW_DATA"), REPO / "data"
    recipes = yaml.safe_load(RECIPES.read_text(encoding="utf-8"))
    missing = [n for n in recipes if not any((to / f"{n}.{ending}").exists() for ending in ("parquet", "npz"))]
    if missing and not (source and Path(source).is_dir()):
        sys.exit(
            f"data/ lacks {', '.join(missing)}. Set BLANKETFLOW_DATA to the folder of data sets, or write the files "
            f"yourself: the top of {Path(__file__).name} says how."
        )
    to.mkdir(exist_ok=True)
    for name in missing:
        make(name, recipes[name], Path(source or ""), to)
        print(f"data/{name} is written", file=sys.stderr)


if __name__ == "__main__":
    main()
