"""From result files to the tables of README.md: one function a table, Markdown out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.shared.record import OWN

Content = dict[str, Any]
Entry = dict[str, Any]


def figure(number: float) -> str:
    """Return a number as people read it: three digits, no exponent.

    Examples
    --------
    >>> figure(0.0274), figure(2.746), figure(96.84), figure(1234.5)
    ('0.0274', '2.75', '96.8', '1,230')
    """
    if number == 0:
        return "0"
    shown = float(f"{number:.3g}")
    if abs(shown) >= 100:
        return f"{shown:,.0f}"
    decimals = max(0, 2 - int(np.floor(np.log10(abs(shown)))))
    return f"{shown:.{decimals}f}"


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def entries(content: Content, table: str, package: str | None = None, **case: Any) -> list[Entry]:
    """Return the measurements of a table, of a package, and of cases that hold some values."""
    return [m for m in content["measurements"] if _fits(m, table, package, case)]


def ratio(content: Content, table: str, package: str, case: dict[str, Any]) -> str:
    """Return how many times as long a peer took, with its spread; nothing where that is not known."""
    for entry in content["ratios"]:
        if entry["table"] == table and entry["package"] == package and entry["case"] == case:
            low, high = figure(entry["low"]), figure(entry["high"])
            spread = f" ({low} - {high})" if low != high else ""
            return f"{figure(entry['median'])}{spread}"
    return ""


def _fits(entry: Entry, table: str, package: str | None, case: dict[str, Any]) -> bool:
    if entry["table"] != table or (package is not None and entry["package"] != package):
        return False
    return all(entry["case"].get(key) == value for key, value in case.items())


def _unique(values: Sequence[Any]) -> list[Any]:
    return list(dict.fromkeys(values))


# --- PPFS -------------------------------------------------------------------------------------------------------------


def aim(table: str, case: dict[str, Any]) -> int | None:
    """Return the least ratio to PyImpetus aimed at: of classification in a warm process, and of the longest command."""
    if table == "warm":
        return None if "diabetes" in case["data"] else {5: 100, 30: 150}.get(case["B"])
    return 40 if (case["B"], case["K"]) == (30, 5) else None


def ppfs(content: Content, table: str = "warm") -> str:
    """Return PPFS beside PyImpetus, cell by cell."""
    rows = []
    for own in entries(content, table, OWN):
        case = own["case"]
        theirs = next(iter(entries(content, table, "PyImpetus", **case)), None)
        cells = [case["data"], str(case["B"]), str(case["K"]), _seconds(own)]
        wanted = aim(table, case)
        cells += [_seconds(theirs) if theirs else "", ratio(content, table, "PyImpetus", case)]
        cells += [str(wanted) if wanted and theirs else ""]
        if table == "warm":
            cells += [f"{own['facts']['features']}, {theirs['facts']['features'] if theirs else '-'}"]
        else:
            cells += [f"{figure(own['facts']['wall_s'])}, {figure(theirs['facts']['wall_s']) if theirs else '-'}"]
        rows.append(cells)
    last = "features kept (ours, theirs)" if table == "warm" else "wall s (ours, theirs)"
    return markdown(["table", "B", "K", "blanketflow, CPU s", "PyImpetus, CPU s", "ratio", "aim", last], rows)


def _seconds(entry: Entry) -> str:
    return f"{figure(entry['median'])} ({len(entry['runs'])})"


# --- growth, cores, memory --------------------------------------------------------------------------------------------


def slope(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Return the exponent of growth: the slope of a line through logarithms, by least squares.

    Examples
    --------
    >>> round(slope([1, 10, 100], [2, 20, 200]), 6)
    1.0
    """
    x, y = np.log(sizes), np.log(seconds)
    return float(np.cov(x, y)[0, 1] / np.var(x, ddof=1))


def growth(content: Content) -> str:
    """Return slopes over n, d and B: of all sizes, and of the larger half."""
    works = _unique([m["case"]["work"] for m in content["measurements"] if m["table"].startswith("growth")])
    rows = []
    for work in works:
        cells = [f"`{work}`"]
        for varied in ("n", "d", "B"):
            found = entries(content, f"growth in {varied}", OWN, work=work)
            if len(found) < 2:
                cells += ["", ""]
                continue
            sizes, seconds = [m["case"][varied] for m in found], [min(m["runs"]) for m in found]
            half = len(sizes) // 2
            larger = f", {slope(sizes[half:], seconds[half:]):.2f}" if len(sizes[half:]) > 1 else ""
            span = f"{figure(seconds[0])} - {figure(seconds[-1])} s, {varied} = {sizes[0]:,} - {sizes[-1]:,}"
            cells += [f"{slope(sizes, seconds):.2f}{larger}", span]
        rows.append(cells)
    return markdown(["work", "slope in n", "", "slope in d", "", "slope in B", ""], rows)


def cores(content: Content) -> str:
    """Return wall seconds by the number of cores, and how many times as fast the most are, work by work."""
    measured = entries(content, "cores")
    counts = sorted({one["case"]["n_jobs"] for one in measured})
    rows = []
    for work, data in dict.fromkeys((one["case"]["work"], one["case"]["data"]) for one in measured):
        found = {one["case"]["n_jobs"]: one for one in measured if one["case"]["work"] == work}
        if len(found) == len(counts):
            walls = [min(found[n]["runs"]) for n in counts]
            times = " / ".join(f"{walls[0] / wall:.2f}" for wall in walls[1:])
            load = figure(max(one["facts"]["load"] for one in found.values()))
            rows.append([f"`{work}`", data, *map(figure, walls), times, load])
    return markdown(["work", "table", *(f"wall s, {n}" for n in counts), "times as fast", "load before"], rows)


def memory(content: Content) -> str:
    """Return CPU seconds and memory of wide tables."""
    rows = []
    for m in entries(content, "memory"):
        case, facts = m["case"], m["facts"]
        shape = f"{case['n']:,} x {case['d']:,}"
        rows.append([f"`{case['work']}`", shape, case["cells"], figure(m["median"])])
        rows[-1] += [figure(facts["matrix_mb"]), figure(facts["peak_mb"])]
    return markdown(["work", "table", "cells", "CPU s", "matrix, MB", "peak of the process, MB"], rows)


def limits(content: Content) -> str:
    """Return the distance from what memory delivers."""
    best = {m["case"]["kernel"]: max(m["runs"]) for m in entries(content, "bandwidth")}
    told = ", ".join(f"{kernel} {figure(rate)}" for kernel, rate in best.items())
    rows = []
    for m in entries(content, "distance"):
        facts = m["facts"]
        rows.append([m["case"]["work"], figure(facts["bytes"] / 1e6), figure(min(m["runs"]))])
        rows[-1] += [figure(facts["gb_per_s"]), f"{100 * facts['share']:.2g} %"]
    head = ["work", "must be read, MB", "CPU s", "GB/s", "of the best read"]
    return f"Memory on one core, GB/s: {told}.\n\n" + markdown(head, rows)


# --- NIPS 2003 --------------------------------------------------------------------------------------------------------


def nips2003(content: Content, printed: dict[str, tuple]) -> str:
    """Return times and sizes of PPFS beside what its paper prints."""
    rows = []
    for m in entries(content, "whole", OWN):
        case, facts = m["case"], m["facts"]
        first = entries(content, "marginal stage", OWN, **case)[0]
        grown = ", ".join(map(str, facts["grown"])) or "0"
        wall = figure(facts["wall_s"])
        if "two_cores_wall_s" in facts:
            wall += f"; two cores {figure(facts['two_cores_wall_s'])}"
        status = "" if facts["status"] == "ok" else f" ({facts['status']})"
        size = str(printed[case["data"]][-1]) if case["data"] in printed else ""
        rows.append(
            [
                f"{case['data']} {case['n']:,} x {case['d']:,}",
                f"{case['B']}, {case['K']}",
                figure(min(first["runs"])),
                f"{figure(m['median'])}{status}",
                wall,
                grown,
                f"{facts['kept']}",
                size,
            ]
        )
    head = ["data", "B, K", "marginal stage, CPU s", "whole, CPU s", "wall s", "grown (by fold)", "kept", "paper: kept"]
    return markdown(head, rows)


def nips2003_errors(content: Content, printed: dict[str, tuple]) -> str:
    """Return errors beside what the paper prints."""
    whats = ("all features", "selected inside the folds", "selected on all rows", "validation part")
    rows = []
    for m in entries(content, "whole", OWN):
        case = m["case"]
        for model in ("svm", "tree"):
            cells = [case["data"], model]
            for what in whats:
                found = entries(content, "error", model, **case, features=what)
                cells.append(f"{found[0]['median']:.3f}" if found else "")
            _, _, everything, selected, _ = printed.get(case["data"], (0, 0, None, None, 0))
            known = model == "svm" and everything is not None
            rows.append([*cells, f"{everything:.3f}, {selected:.3f}" if known else ""])
    return markdown(["data", "model", *whats, "paper, svm: all, PPFS"], rows)


# --- CI tests, blankets -----------------------------------------------------------------------------------------------


def ci_tests(content: Content) -> str:
    """Return microseconds per test beside the peers."""
    peers = _unique([m["package"] for m in entries(content, "alarm") if m["package"] != OWN])
    rows = []
    for k in _unique([m["case"]["given"] for m in entries(content, "alarm")]):
        cells = [str(k)]
        for test, how in (("g2", "in batch"), ("chi2", "in batch"), ("g2", "one at a time")):
            found = entries(content, "alarm", OWN, test=test, given=k, how=how)
            cells.append(figure(found[0]["median"]) if found else "")
        for peer in peers:
            found = entries(content, "alarm", peer, given=k, how="in batch")
            cells.append(figure(found[0]["median"]) if found else "")
            for how in ("in batch", "one at a time"):
                cells.append(ratio(content, "alarm", peer, {"test": "g2", "given": k, "how": how}))
        rows.append(cells)
    head = ["given", "`g2` in batch", "`chi2` in batch", "`g2` alone"]
    head += [cell for peer in peers for cell in (peer, "ratio in batch", "ratio alone")]
    return markdown(head, rows)


def ci_packages(content: Content) -> str:
    """Return milliseconds per test of ours and of each package's test that is like it."""
    rows = []
    for m in entries(content, "tests", OWN, how="in batch"):
        name, k = m["case"]["test"], m["case"]["given"]
        alone = entries(content, "tests", OWN, test=name, given=k, how="one at a time")[0]
        ours = [f"`{name}`", str(k), figure(m["median"]), figure(alone["median"])]
        for other in entries(content, "tests", test=name, given=k, how="in batch"):
            if (package := other["package"]) == OWN:
                continue
            times = [ratio(content, "tests", package, one["case"]) for one in (m, alone)]
            apart = other["facts"].get("apart")
            rows.append([*ours, package, figure(other["median"]), *times, f"{apart:.0e}" if apart is not None else ""])
    head = ["test", "given", "in batch, ms", "alone, ms", "package", "its test, ms", "ratio in batch", "ratio alone"]
    return markdown([*head, "p apart by at most"], rows)


def fisher_z(content: Content) -> str:
    """Return microseconds per test of Fisher's z, and grow-shrink over a whole network."""
    rows = []
    for k in _unique([m["case"]["given"] for m in entries(content, "ecoli70")]):
        both = [entries(content, "ecoli70", OWN, given=k, how=how) for how in ("in batch", "one at a time")]
        rows.append([str(k), *(figure(found[0]["median"]) for found in both)])
    text = markdown(["given", "`fisher-z` in batch", "`fisher-z` alone"], rows)
    for own in entries(content, "whole network", OWN):
        case = own["case"]
        times = ratio(content, "whole network", "bnlearn-port", case)
        text += f"\n\n`{case['work']}`: {figure(own['median'])} CPU s; bnlearn's C code takes {times} times as long."
    return text


def kernel_tests(content: Content) -> str:
    """Return milliseconds per HSIC test, exact and with trace errors."""
    found = entries(content, "tests", OWN)
    errors = _unique([m["case"]["trace_error"] for m in found])
    rows = []
    for k in _unique([m["case"]["given"] for m in found]):
        both = [entries(content, "tests", OWN, given=k, trace_error=error)[0] for error in errors]
        rows.append([str(k), *(figure(m["median"]) for m in both)])
    return markdown(["given", *(f"`trace_error: {error:g}`" if error else "exact" for error in errors)], rows)


def kernel_rankings(content: Content) -> str:
    """Return seconds of the rankings by HSIC, exact and with trace errors."""
    rows = []
    for m in entries(content, "rankings", OWN):
        case, kept = m["case"], m["facts"].get("n", "")
        error = case.get("trace_error", "")
        rows.append(
            [f"`{case['method']}`", case["shape"], f"{error:g}" if error else "exact", figure(m["median"]), str(kept)]
        )
    return markdown(["method", "table", "trace error", "CPU s", "features kept"], rows)


def networks(content: Content, network: str, rows_of: int) -> str:
    """Return each method on a network beside the peers."""
    chosen = entries(content, "networks", network=network, rows=rows_of)
    peers = _unique([m["package"] for m in chosen if m["package"] != OWN])
    rows = []
    for own in (m for m in chosen if m["package"] == OWN):
        case, facts = own["case"], own["facts"]
        cells = [f"`{case['method']}`", figure(own["median"]), f"{facts['tests']:,}"]
        cells += [figure(own["median"] / facts["tests"] * 1e6), f"{facts['precision']:.2f} / {facts['recall']:.2f}"]
        for peer in peers:
            found = next((m for m in chosen if m["package"] == peer and m["case"] == case), None)
            if found is None:
                cells += ["", ""]
                continue
            done = found["facts"]["targets"]
            some = "" if done >= facts["targets"] - 5 else f" ({done})"
            cells += [f"{figure(found['median'])}{some}", ratio(content, "networks", peer, case)]
        rows.append(cells)
    head = ["method", "CPU s", "tests", "us per test", "precision / recall"]
    return markdown(head + [cell for peer in peers for cell in (f"{peer}, s", "ratio")], rows)


# --- filters ----------------------------------------------------------------------------------------------------------


def filters(content: Content) -> str:
    """Return rankings over the number of columns: ours, and the ratio of each peer."""
    peers = _unique([m["package"] for m in entries(content, "width") if m["package"] != OWN])
    widths = _unique([m["case"]["columns"] for m in entries(content, "width")])
    rows = []
    for method in _unique([m["case"]["method"] for m in entries(content, "width")]):
        cells = [f"`{method}`"]
        for width in widths:
            case = {"columns": width, "method": method}
            own = next(iter(entries(content, "width", OWN, **case)), None)
            if own is None:
                cells += ["", "", ""]
                continue
            cells += [figure(own["median"]), figure(own["facts"]["fit_s"])]
            told = []
            for peer in peers:
                found = entries(content, "width", peer, **case)
                if found:
                    told.append(f"{peer} {figure(found[0]['median'])} s: {ratio(content, 'width', peer, case)}")
            cells.append("; ".join(told))
        rows.append(cells)
    head = ["method"]
    for width in widths:
        head += [f"{width:,}: CPU s", "`fit`", "others, and the ratio"]
    return markdown(head, rows)


def forms(content: Content) -> str:
    """Return rankings over the kind of columns."""
    methods = _unique([m["case"]["method"] for m in entries(content, "form")])
    rows = []
    for form in _unique([m["case"]["form"] for m in entries(content, "form")]):
        cells = [form]
        for method in methods:
            own = entries(content, "form", OWN, form=form, method=method)
            cells.append(figure(own[0]["median"]) if own else "")
            theirs = entries(content, "form", "FEAST", form=form, method=method)
            if any(m["package"] == "FEAST" for m in entries(content, "form")):
                cells.append(figure(theirs[0]["median"]) if theirs else "")
        rows.append(cells)
    has_feast = any(m["package"] == "FEAST" for m in entries(content, "form"))
    head = [cell for method in methods for cell in ([f"`{method}`", "FEAST"] if has_feast else [f"`{method}`"])]
    return markdown(["columns", *head], rows)


def filter_memory(content: Content) -> str:
    """Return memory of the filters on wide tables."""
    rows = []
    for m in entries(content, "memory"):
        case, facts = m["case"], m["facts"]
        rows.append([f"{case['columns']:,}", f"`{case['method']}`", figure(m["median"])])
        rows[-1] += [str(facts["extra_mb"]), str(facts["packed_mb"])]
    return markdown(["columns", "method", "CPU s", "MB beyond the matrix", "bit-packed table, MB"], rows)


def other_rankings(content: Content) -> str:
    """Return rankings without mutual information, and kernels."""
    rows = []
    for own in entries(content, "others", OWN):
        case = own["case"]
        peers = [m for m in entries(content, "others", **case) if m["package"] != OWN]
        told = "; ".join(f"{m['package']} {figure(m['median'])} s" for m in peers)
        rows.append([f"`{case['method']}`", case["shape"], figure(own["median"]), told])
    return markdown(["method", "table", "CPU s", "peers"], rows)


# --- workflow ---------------------------------------------------------------------------------------------------------


def workflow(content: Content) -> str:
    """Return the workflow's CPU over that of the library, and what a second core brings."""
    rows = []
    for own in entries(content, "workflow", OWN):
        case = own["case"]
        one, two = (entries(content, "workflow", name, **case)[0] for name in ("snakemake", "snakemake, 2 cores"))
        again = entries(content, "nothing to do", "snakemake", **case)[0]
        speedup = entries(content, "cores", "2 cores", **case)[0]["facts"]["speedup"]
        cells = [f"{case['config']}", figure(own["median"]), figure(one["median"])]
        cells += [f"{one['median'] / own['median']:.2f}", f"{two['median'] / own['median']:.2f}"]
        cells += [f"{figure(one['facts']['wall_s'])}, {figure(two['facts']['wall_s'])}", f"{speedup:.2f}"]
        rows.append([*cells, figure(again["median"])])
    head = ["config", "library, CPU s", "Snakemake, CPU s", "ratio", "ratio, 2 cores", "wall s, 1 and 2 cores"]
    return markdown([*head, "times as fast", "again, nothing to do, CPU s"], rows)


def single_jobs(content: Content) -> str:
    """Return where the CPU seconds of single jobs go."""
    found = entries(content, "single job", OWN)
    if not found:
        return ""
    parts = [part for part in found[0]["facts"] if part != "own"]
    rows = [
        [m["case"]["job"], figure(m["median"]), *(figure(m["facts"][part]) for part in parts), figure(_own(m))]
        for m in found
    ]
    return markdown(["job", "CPU s", *parts, "all but work"], rows)


def _own(entry: Entry) -> float:
    return entry["median"] - entry["facts"]["work"]


def starts(content: Content) -> str:
    """Return what starting and planning take."""
    rows = [[f"`{m['case']['program']}`", figure(m["median"])] for m in entries(content, "start")]
    for m in entries(content, "within a run"):
        rows.append([f"{m['case']['job']}, within a run of {m['facts']['jobs']} jobs", figure(m["median"])])
    for m in entries(content, "dry run"):
        rows.append([f"dry run, {m['case']['jobs']:,} jobs", figure(m["median"])])
    return markdown(["what", "CPU s"], rows)


def walls(content: Content) -> str:
    """Return what one config takes here and on Slurm, and what a Slurm job costs beside its rules."""
    rows = []
    for m in entries(content, "walls"):
        facts = m["facts"]
        told = [
            figure(facts[key]) if key in facts else "" for key in ("slurm_jobs", "lasted_s", "rules_s", "overhead_s")
        ]
        rows.append([m["package"], figure(m["median"]), *told])
    head = ["where", "wall s", "Slurm jobs", "s in Slurm, in all", "s in rules, in all", "overhead s per job"]
    return markdown(head, rows)


def plan_scale(content: Content) -> str:
    """Return what planning a whole study takes, for each way of joining its work."""
    rows = []
    for m in entries(content, "dry run"):
        facts, case = m["facts"], m["case"]
        joined = "`" + ", ".join(f"{key}: {value}" for key, value in case.items() if key != "datasets") + "`"
        told = [
            f"{facts['jobs']:,}",
            figure(m["median"]),
            figure(facts["cpu_s"]),
            f"{facts['estimated_cpu_hours']:,.0f}",
        ]
        rows.append([joined, *told])
    return markdown(["work of a job", "jobs", "wall s of the dry run", "its CPU s", "estimated CPU hours"], rows)


def wide_jobs(content: Content) -> str:
    """Return what each job on a table of millions of columns asks for, and what a real one of that size held."""
    held = {m["case"]["stage"].partition("_dataset")[0]: m for m in entries(content, "one chunk")}
    real = {"ci_test_chunk": held.get("ci_test")}
    rows = []
    for m in entries(content, "wide jobs"):
        stage, one = m["case"]["stage"], real.get(m["case"]["stage"])
        measured = [figure(one["median"]), figure(one["facts"]["cpu_s"])] if one else ["", ""]
        asked = [figure(m["median"]), str(m["facts"]["minutes_asked"]), figure(m["facts"]["seconds"])]
        rows.append([f"`{stage}`", *asked, *measured])
    return markdown(["job", "MB asked", "minutes asked", "estimated CPU s", "MB held", "CPU s"], rows)


def runs(contents: dict[str, Content]) -> str:
    """Return when and where each benchmark was run."""
    rows = []
    for content in contents.values():
        where, have = content["machine"], content["versions"]
        told = f"{where['processor']}, {where['cores']} cores, {where['memory_gb']:g} GB"
        python = f"{where['python']}, numpy {have.get('numpy')}, numba {have.get('numba')}"
        rows.append([f"`{content['command']}`", content["date"], figure(content["seconds"]), told, python])
        rows[-1].append(f"{where['load']:g}")
    return markdown(["command", "date", "wall s", "machine", "Python", "load before"], rows)
