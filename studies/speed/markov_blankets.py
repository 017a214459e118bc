"""The Markov-blanket methods beside the peers: `python -m studies.speed.markov_blankets`; see README.md.

One process, one thread, CPU seconds. Every column of a network is the target in turn (`blanketflow.blankets`); binding
the test and coding the columns count. alpha 0.01, everything else as it is by default, but for one run of KIAMB. Peers
have the same rows and alpha, and conditioning sets of at most 3 where ours have.

A peer answers targets, drawn at random, until `--peer-seconds` are over, for each method and table; where that is not
all of them, their mean stands for the others, and the result says from how many. CausalFS 2.0 is a C++ program that
must be built by hand (`--causalfs CDD/main`); what it takes goes to a file of its own, since few will repeat it. R's
bnlearn answers all targets, where Rscript has it.

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
from threadpoolctl import threadpool_limits

import blanketflow as bf
from blanketflow.core.graph import DAG
from blanketflow.core.table import Table
from blanketflow.data.simulate import read_network
from studies.shared.clock import options
from studies.shared.record import OWN, Record
from studies.speed.rscript import bnlearn_seconds

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
#: By name: the peer, its limit of seconds a method and table, and where its numbers go.
Peers = dict[str, tuple[Peer, float, Record]]


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


def ours(method_id: str, table: Table, dag: DAG, repeats: int = REPEATS) -> list[Measured]:
    """Return a few runs, the fastest first."""
    return sorted((all_targets(method_id, table, dag) for _ in range(repeats)), key=lambda run: run.seconds)


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


def compare(
    records: Sequence[Record], network: str, methods: Sequence[str], table: Table, dag: DAG, peers: Peers, repeats: int
) -> None:
    """Record each method beside each peer, which has a record and a limit of seconds."""
    for method_id in methods:
        case = {"network": network, "rows": table.n_rows, "method": method_id}
        found = ours(method_id, table, dag, repeats)
        best = found[0]
        facts = {"targets": len(table), "tests": best.tests}
        facts |= {"precision": round(best.precision, 3), "recall": round(best.recall, 3)}
        for record in records:
            record.add("networks", OWN, [run.seconds for run in found], **case, facts=facts)
        for name, (peer, limit, record) in peers.items():
            try:
                seconds, tests, done = sampled(peer, method_id, len(table), limit)
            except LookupError:
                continue
            except Exception as error:  # a peer may fail in any way; the result says how
                print(f"{method_id}: {name}: {type(error).__name__}: {error}", file=sys.stderr)
                continue
            record.add("networks", name, [seconds], **case, facts={"targets": done, "tests": round(tests)})


def installed_peers(
    chosen: argparse.Namespace, records: Sequence[Record], folder: Path, table: Table, dag: DAG, *, slow: bool
) -> Peers:
    """Return the peers that are there, each with its seconds a method and its record; `slow` ones too if asked for."""
    found: Peers = {}
    makers: dict[str, Callable[[], Peer]] = {"bnlearn-port": lambda: bnlearn(table)}
    if slow:
        makers["pyCausalFS"] = lambda: pycausalfs(table)
    for name, make in makers.items():
        try:
            found[name] = (make(), chosen.peer_seconds, records[0])
        except ImportError:
            print(f"{name} is not installed: make setup-bench", file=sys.stderr)
    if chosen.causalfs:
        found["CausalFS"] = (causalfs(chosen.causalfs, folder, table, dag), chosen.peer_seconds, records[-1])
    return found


def of_r(record: Record, table: Table) -> None:
    """Record R's bnlearn on all targets, if Rscript has it."""
    frame = pd.DataFrame({c.name: pd.Categorical.from_codes(c.values, c.levels) for c in table.columns})
    frame = frame.loc[:, frame.nunique() > 1]
    names = {method_id: name for method_id, (name, _, _) in PEERS.items() if name}
    local = [name for method_id, name in names.items() if method_id in PARENTS_AND_CHILDREN]
    for name, seconds in bnlearn_seconds(frame, list(names.values()), local, ALPHA).items():
        method_id = next(i for i, known in names.items() if known == name)
        case = {"network": "alarm", "rows": table.n_rows, "method": method_id}
        record.add("networks", "bnlearn (R)", [seconds], **case, facts={"targets": frame.shape[1]})


def main() -> None:
    """Measure, and write markov_blankets.json, and markov_blankets-causalfs.json where it was asked for."""
    parser = options(__doc__)
    parser.add_argument("--causalfs", type=lambda text: Path(text).resolve(), help="CausalFS 2.0's program CDD/main")
    parser.add_argument("--peer-seconds", type=float, default=1.0, help="limit a peer, method and table; inf for none")
    chosen = parser.parse_args()
    records = [Record("markov_blankets", ["bnlearn-port", "pyCausalFS"], chosen.results)]
    if chosen.causalfs:
        records.append(Record("markov_blankets-causalfs", folder=chosen.results))
    alarm = read_network("alarm")
    all_targets("iamb", alarm.sample(100, seed=0), alarm.dag())  # loads the kernels
    with tempfile.TemporaryDirectory() as name, threadpool_limits(1):
        folder = Path(name)
        for n_rows in (100,) if chosen.tiny else (500, 5_000):
            table = alarm.sample(n_rows, seed=SEED)
            peers = installed_peers(chosen, records, folder, table, alarm.dag(), slow=not chosen.tiny)
            methods = ["iamb", "mmpc"] if chosen.tiny else list(PEERS)
            compare(records, "alarm", methods, table, alarm.dag(), peers, REPEATS)
        if chosen.tiny:
            return
        of_r(records[0], alarm.sample(5_000, seed=SEED))
        compare(records[:1], "alarm", list(PEERS), alarm.sample(50_000, seed=SEED), alarm.dag(), {}, 1)
        for network_name in LARGER:
            path = Path(os.environ.get("BLANKETFLOW_DATA", "."), "networks", f"{network_name}.bif.gz")
            if not path.is_file():
                print(f"{path} is not there: set BLANKETFLOW_DATA for {network_name}", file=sys.stderr)
                continue
            network = read_network(path)
            table = network.sample(5_000, seed=SEED)
            peers = installed_peers(chosen, records, folder, table, network.dag(), slow=False)
            methods = list(PEERS) if chosen.full else REPRESENTATIVE
            compare(records, network_name, methods, table, network.dag(), peers, 1)


if __name__ == "__main__":
    main()
