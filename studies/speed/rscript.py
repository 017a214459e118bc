"""Peers that are written for R, where Rscript and the package are there; nothing is said of them elsewhere."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

_BNLEARN = """
library(bnlearn)
arguments <- commandArgs(trailingOnly = TRUE)
table <- read.csv(arguments[1], colClasses = "factor")
alpha <- as.numeric(arguments[2]); is_local <- arguments[3] == "local"
for (method in arguments[-(1:3)]) {
    spent <- system.time(for (node in names(table)) {
        if (is_local) learn.nbr(table, node, method = method, test = "mi-adf", alpha = alpha, max.sx = 3)
        else learn.mb(table, node, method = method, test = "mi-adf", alpha = alpha)
    })
    cat(method, spent[["user.self"]] + spent[["sys.self"]], "\\n")
}
"""
_PRAZNIK = """
library(praznik)
arguments <- commandArgs(trailingOnly = TRUE)
n <- as.integer(arguments[2]); d <- as.integer(arguments[3]); k <- as.integer(arguments[4])
cells <- readBin(arguments[1], "integer", n * (d + 1), size = 4)
table <- as.data.frame(matrix(cells, n))
X <- table[, -1]; X[] <- lapply(X, factor); Y <- factor(table[, 1])
for (method in arguments[-(1:4)]) {
    spent <- system.time(get(method)(X, Y, k = k, threads = 1))
    cat(method, spent[["user.self"]] + spent[["sys.self"]], "\\n")
}
"""


def has(package: str) -> bool:
    """Return whether Rscript is there and has a package."""
    program = shutil.which("Rscript")
    if program is None:
        return False
    asked = [program, "-e", f"quit(status = !requireNamespace('{package}', quietly = TRUE))"]
    return subprocess.run(asked, capture_output=True).returncode == 0


def bnlearn_seconds(frame: pd.DataFrame, methods: list[str], local: list[str], alpha: float) -> dict[str, float]:
    """Return CPU seconds of bnlearn for all columns of a table of categories, by method; those of `local` learn PC."""
    if not has("bnlearn"):
        return {}
    found = {}
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "table.csv"
        frame.to_csv(path, index=False)
        for method in methods:
            found |= _run(_BNLEARN, [path, alpha, "local" if method in local else "blanket", method])
    return found


def praznik_seconds(X: np.ndarray, y: np.ndarray, n_features: int, methods: list[str]) -> dict[str, float]:
    """Return CPU seconds of praznik's rankings of columns of whole numbers, by method, without making factors."""
    if not has("praznik"):
        return {}
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "cells.bin"
        np.vstack([y, X.T]).astype(np.int32).tofile(path)
        return _run(_PRAZNIK, [path, *X.shape, n_features, *methods])


def _run(program: str, arguments: list) -> dict[str, float]:
    done = subprocess.run(["Rscript", "-e", program, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
    return {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines() if line.strip()}
