"""Measures the Markov-blanket methods beside the peers: run it with `make bench`; docs/performance.md has the numbers.

One process, one thread, CPU seconds. Every column of a network is the target in turn (`blanketflow.blankets`); binding
the test and coding the columns count. alpha 0.01, everything else as it is by default, but for one run of KIAMB. Peers
have the same rows and alpha, and conditioning sets of at most 3 where ours have.

A peer answers targets, drawn at random, until `--peer-seconds` are over, for each method and table; where that is not
all of them, their mean stands for the others, and the table says from how many. Ratios are theirs over ours.

`andes`, `pigs` and `link` are read from the folder that the environment variable BLANKETFLOW_DATA names.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd

import blanketflow as bf
from blanketflow.core.graph import DAG
from blanketflow.core.table import Table
from blanketflow.data.simulate import read_network

ALPHA, SEED, REPEATS = 0.01, 2026, 3
PARENTS_AND_CHILDREN = ("mmpc", "hiton-pc", "si-hiton-pc", "pc-simple")
OPTIONS: dict[str, dict[str, object]] = {"kiamb": {"n_runs": 1}}
#: Methods run on the larger networks, unless `--full` asks for all.
REPRESENTATIVE = ("gs", "iamb", "mmpc", "hiton-mb", "ipc-mb")
LARGER = ("andes", "pigs", "link")

#: Our id: bnlearn's name, CausalFS's name, pyCausalFS's module below CBD.MBs and function.
PEERS: dict[str, tuple[str | None, str | None, str]] = {
    "gs": ("gs", "GSMB", "GSMB:GSMB"),
    "iamb": ("iamb", "IAMB", "IAMB:IAMB"),
    "inter-iamb": ("inter.iamb", "Inter_IAMB", "inter_IAMB:inter_IAMB"),
    "fast-iamb": ("fast.iamb", "Fast_IAMB", "fast_IAMB:fast_IAMB"),
    "iamb-npc": (None, None, "IAMBnPC:IAMBnPC"),
    "inter-iamb-npc": (None, None, "interIAMBnPC:interIAMBnPC"),
    "kiamb": (None, "KIAMB", "KIAMB:KIAMB"),
    "mmpc": ("mmpc", "MMPC", "MMMB.MMPC:MMPC"),
    "hiton-pc": (None, "HITON_PC", "HITON.HITON_PC:HITON_PC"),
    "si-hiton-pc": ("si.hiton.pc", "Semi_HITON_PC", "semi_HITON.semi_HITON_PC:semi_HITON_PC"),
    "pc-simple": (None, "PC_simple", "pc_simple:pc_simple"),
    "mmmb": (None, "MMMB", "MMMB.MMMB:MMMB"),
    "hiton-mb": (None, "HITON_MB", "HITON.HITON_MB:HITON_MB"),
    "pcmb": (None, "PCMB", "PCMB.PCMB:PCMB"),
    "ipc-mb": (None, "IPC_MB", "IPCMB.IPCMB:IPC_MB"),
    "stmb": (None, "STMB", "STMB:STMB"),
}

#: From a method's id and the positions of some targets to CPU seconds and number of tests.
Peer = Callable[[str, Sequence[int]], tuple[float, float]]


@dataclass
class Measured:
    """What a method cost for all targets, and how right it was over all of them together."""

    seconds: float
    tests: int
    precision: float
    recall: float


def all_targets(method_id: str, table: Table, dag: DAG) -> Measured:
    """Find every column's set."""
    begin = time.process_time()
    found = bf.blankets(table, method_id, "g2", alpha=ALPHA, **OPTIONS.get(method_id, {}))
    seconds = time.process_time() - begin
    is_local = method_id in PARENTS_AND_CHILDREN
    true = {t: dag.parents_and_children(t) if is_local else dag.markov_blanket(t)["blanket"] for t in found}
    hits = sum(len(set(found[t]) & set(true[t])) for t in found)
    n_found, n_true = sum(len(found[t]) for t in found), sum(map(len, true.values()))
    return Measured(seconds, found.n_tests, hits / max(n_found, 1), hits / max(n_true, 1))


def ours(method_id: str, table: Table, dag: DAG, repeats: int = REPEATS) -> Measured:
    """Return the fastest of a few runs."""
    return min((all_targets(method_id, table, dag) for _ in range(repeats)), key=lambda run: run.seconds)


def bnlearn(table: Table) -> Peer:
    """Return bnlearn's C code, called from Python; each call converts the table anew. It refuses constant columns."""
    import pybnlearn

    frame = pd.DataFrame({c.name: pd.Categorical.from_codes(c.values, c.levels) for c in table.columns})
    frame = frame.apply(lambda column: column.cat.remove_unused_categories())
    frame = frame.loc[:, frame.nunique() > 1]

    def run(method_id: str, targets: Sequence[int]) -> tuple[float, float]:
        name = PEERS[method_id][0]
        if name is None:
            raise LookupError("has no such method")
        local = method_id in PARENTS_AND_CHILDREN
        learn, options = (pybnlearn.learn_nbr, {"max_sx": 3}) if local else (pybnlearn.learn_mb, {})
        pybnlearn.reset_test_counter()
        begin = time.process_time()
        for target in (table.names[position] for position in targets):
            if target in frame:
                learn(frame, node=target, method=name, test="mi-adf", alpha=ALPHA, **options)
        return time.process_time() - begin, pybnlearn.test_counter()

    return run


def codes_of_present_levels(table: Table) -> np.ndarray:
    """Return the cells as codes 0, 1, ... without gaps, which is what the CausalFS packages read."""
    return np.column_stack([np.unique(column.values, return_inverse=True)[1] for column in table.columns])


def pycausalfs(table: Table) -> Peer:
    """Return pyCausalFS; one method wants text for column names."""
    import_module("pyCausalFS")
    codes = codes_of_present_levels(table).astype(int)
    frame = pd.DataFrame(codes, columns=[str(position) for position in range(codes.shape[1])])

    def run(method_id: str, targets: Sequence[int]) -> tuple[float, float]:
        module, function = PEERS[method_id][2].split(":")
        learn = getattr(import_module(f"pyCausalFS.CBD.MBs.{module}"), function)
        options = (0.8, True) if method_id == "kiamb" else () if method_id == "inter-iamb-npc" else (True,)
        begin, n_tests = time.process_time(), 0
        for target in targets:
            n_tests += learn(frame, target, ALPHA, *options)[-1]
        return time.process_time() - begin, n_tests

    return run


def causalfs(program: Path, folder: Path, table: Table, dag: DAG) -> Peer:
    """Return CausalFS's C++ program for discrete data; its own clock leaves the reading of files out."""
    for name in ("mb", "pc", "DAG", "indicator1", "indicator2"):
        (folder / name).mkdir(exist_ok=True)
    np.savetxt(folder / "data.txt", codes_of_present_levels(table), fmt="%d", delimiter="  ")
    position = {name: i for i, name in enumerate(table.names)}
    arcs = np.zeros((len(table), len(table)), dtype=int)
    for parent, child in dag.arcs:
        arcs[position[parent], position[child]] = 1
    np.savetxt(folder / "graph.txt", arcs, fmt="%d", delimiter="  ")

    def run(method_id: str, targets: Sequence[int]) -> tuple[float, float]:
        name = PEERS[method_id][1]
        if name is None:
            raise LookupError("has no such method")
        report = folder / "indicator1" / "indicator.out"
        report.unlink(missing_ok=True)
        asked = ",".join(map(str, targets))
        command = [program, "data.txt", "graph.txt", str(ALPHA), name, asked, "0.8", "3"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if not report.is_file():
            raise RuntimeError(f"stops: {done.stdout.splitlines()[-1]}")
        of_a_target = dict(line.split(":") for line in report.read_text().split())
        return float(of_a_target["time"]) * len(targets), float(of_a_target["G2"]) * len(targets)

    return run


def sampled(peer: Peer, method_id: str, n_targets: int, limit: float) -> tuple[float, float, int]:
    """Return seconds and tests for all targets, and for how many of them they were measured."""
    order = np.random.default_rng(SEED).permutation(n_targets).tolist()
    seconds = tests = done = 0
    while done < n_targets and seconds < limit:
        more = order[done : done + max(done, 1)] if limit < float("inf") else order
        took, made = peer(method_id, more)
        seconds, tests, done = seconds + took, tests + made, done + len(more)
    return seconds * n_targets / done, tests * n_targets / done, done


def cells_of(peer: Peer, method_id: str, n_targets: int, limit: float, own: Measured) -> list[str]:
    """Return a peer's cells of a row: seconds, tests, ratio."""
    try:
        seconds, tests, done = sampled(peer, method_id, n_targets, limit)
    except LookupError:
        return ["", "", ""]
    except Exception as error:  # a peer may fail in any way; the table says how
        print(f"{method_id}: {type(error).__name__}: {error}", file=sys.stderr)
        return ["fails", "", ""]
    some = "" if done == n_targets else f" ({done} of {n_targets})"
    return [f"{figure(seconds)}{some}", f"{tests:,.0f}", figure(seconds / own.seconds)]


def figure(number: float) -> str:
    """Return a number to two digits or whole.

    Examples
    --------
    >>> figure(0.0274), figure(2.74), figure(1234.5)
    ('0.027', '2.7', '1,234')
    """
    return f"{number:,.0f}" if number >= 10 else f"{number:.1f}" if number >= 1 else f"{number:.2g}"


def show(cells: Sequence[str]) -> None:
    """Print one line of a Markdown table."""
    print(f"| {' | '.join(cells)} |", flush=True)


def compare(
    title: str, methods: Sequence[str], table: Table, dag: DAG, peers: dict[str, tuple[Peer, float]], repeats: int
) -> None:
    """Print one table: each method beside each peer, which has a limit of seconds."""
    header = ["method", "CPU s", "tests", "us a test", "precision", "recall"]
    header += [cell for name in peers for cell in (f"{name} s", "tests", "ratio")]
    print(f"\n{title}: {len(table)} targets, {table.n_rows:,} rows\n")
    show(header)
    show(["---"] * len(header))
    for method_id in methods:
        own = ours(method_id, table, dag, repeats)
        row = [method_id, figure(own.seconds), f"{own.tests:,}", f"{own.seconds / own.tests * 1e6:.1f}"]
        row += [f"{own.precision:.2f}", f"{own.recall:.2f}"]
        for peer, limit in peers.values():
            row += cells_of(peer, method_id, len(table), limit, own)
        show(row)


def compare_rows(few: Table, many: Table, dag: DAG) -> None:
    """Print how seconds grow with rows."""
    print(f"\nalarm, {many.n_rows:,} rows: {many.n_rows / few.n_rows:g} times {few.n_rows:,}\n")
    show(["method", "CPU s", "tests", "us a test", "precision", "recall", "times as long", "times as long a test"])
    show(["---"] * 8)
    for method_id in PEERS:
        one, other = ours(method_id, few, dag), ours(method_id, many, dag, repeats=1)
        each, each_of_many = (run.seconds / run.tests for run in (one, other))
        row = [method_id, figure(other.seconds), f"{other.tests:,}", f"{each_of_many * 1e6:.0f}"]
        row += [f"{other.precision:.2f}", f"{other.recall:.2f}"]
        show([*row, figure(other.seconds / one.seconds), figure(each_of_many / each)])


def installed_peers(
    options: argparse.Namespace, folder: Path, table: Table, dag: DAG, *, slow: bool
) -> dict[str, tuple[Peer, float]]:
    """Return the peers that are there, each with its seconds a method; `slow` ones too if asked for."""
    found: dict[str, tuple[Peer, float]] = {}
    makers: dict[str, Callable[[], Peer]] = {"bnlearn": lambda: bnlearn(table)}
    if options.causalfs:
        makers["CausalFS"] = lambda: causalfs(options.causalfs, folder, table, dag)
    if slow:
        makers["pyCausalFS"] = lambda: pycausalfs(table)
    for name, make in makers.items():
        try:
            found[name] = (make(), options.peer_seconds)
        except ImportError:
            print(f"{name} is not installed: pip install 'blanketflow[bench]'", file=sys.stderr)
    return found


def main() -> None:
    """Measure and print Markdown tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--causalfs", type=lambda text: Path(text).resolve(), help="CausalFS 2.0's program CDD/main")
    parser.add_argument("--peer-seconds", type=float, default=1.0, help="limit a peer, method and table; inf for none")
    parser.add_argument("--full", action="store_true", help="all methods on the larger networks")
    options = parser.parse_args()

    alarm = read_network("alarm")
    all_targets("iamb", alarm.sample(100, seed=0), alarm.dag())  # loads the kernels
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for n_rows in (500, 5_000):
            table = alarm.sample(n_rows, seed=SEED)
            peers = installed_peers(options, folder, table, alarm.dag(), slow=True)
            compare("alarm", list(PEERS), table, alarm.dag(), peers, REPEATS)
        compare_rows(alarm.sample(5_000, seed=SEED), alarm.sample(50_000, seed=SEED), alarm.dag())
        for network_name in LARGER:
            path = Path(os.environ.get("BLANKETFLOW_DATA", "."), "networks", f"{network_name}.bif.gz")
            if not path.is_file():
                print(f"{path} is not there: set BLANKETFLOW_DATA for {network_name}", file=sys.stderr)
                continue
            network = read_network(path)
            table = network.sample(5_000, seed=SEED)
            peers = installed_peers(options, folder, table, network.dag(), slow=False)
            methods = list(PEERS) if options.full else REPRESENTATIVE
            compare(network_name, methods, table, network.dag(), peers, 1)


if __name__ == "__main__":
    main()
