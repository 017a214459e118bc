"""`make fuzz`: search for input that breaks a reader or a call, by atheris, and keep it in `found/`, made small.

Each target is searched in processes of its own: what hangs or kills one leaves its input behind, and the search goes
on. Every kind of break is kept once, told by its exception and where in blanketflow it came up.
"""

import argparse
import hashlib
import importlib
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).parent
TARGETS = ("tables", "config", "bif", "frames")
#: What is instrumented: the code that the targets go through, and no numba kernel.
WATCHED = [
    "blanketflow.data", "blanketflow.config.reading", "blanketflow.core", "blanketflow.workflow.plan",
    "blanketflow.search.aggregate", "blanketflow.workflow.suitability", "blanketflow.workflow.grain",
]  # fmt: skip
#: Largest input in bytes, and seconds after which libFuzzer gives one up.
MOST_BYTES, HANG_SECONDS = 4096, 120


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60, help="for all targets together")
    parser.add_argument("--runs", type=int, help="try so many inputs of each target, by one seed, and no more")
    parser.add_argument("--targets", nargs="+", choices=TARGETS, default=TARGETS)
    parser.add_argument("--corpus", type=Path, help="folder that keeps interesting inputs from one search to the next")
    parser.add_argument("--found", type=Path, default=HERE / "found", help="folder for what breaks a reader")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        search_here(asked.child, asked.corpus, asked.found, asked.minutes * 60, asked.runs)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        corpus = asked.corpus or Path(folder)
        seconds = asked.minutes * 60 / len(asked.targets)
        counts = [search(t, corpus / t, asked.found / t, seconds, asked.runs) for t in asked.targets]
    return 1 if any(counts) else 0


def search(target: str, corpus: Path, found: Path, seconds: float, runs: int | None) -> int:
    """Search one target, say what came of it, and return how many breaks were found."""
    corpus.mkdir(parents=True, exist_ok=True)
    found.mkdir(parents=True, exist_ok=True)
    known, deadline, tried, coverage = {*found.iterdir()}, time.monotonic() + seconds, 0, []
    while ((left := deadline - time.monotonic()) > 5 and not runs) or not coverage:
        command = [sys.executable, __file__, "--child", target, "--corpus", corpus, "--found", found]
        command += ["--minutes", max(left, 5) / 60, *(["--runs", runs] if runs else [])]
        same = os.environ | ({"PYTHONHASHSEED": "0"} if runs else {})
        ended = subprocess.run([*map(str, command)], stderr=subprocess.PIPE, text=True, errors="replace", env=same)
        said = ended.stderr
        tried += int((re.findall(r"^#(\d+)", said, re.MULTILINE) or ["0"])[-1])
        coverage += map(int, re.findall(r"cov: (\d+)", said))
        if not coverage:
            print(said, file=sys.stderr)
            raise SystemExit(f"{target}: the search did not start.")
        if ended.returncode:
            print("\n".join(said.splitlines()[-15:]), file=sys.stderr)
    new = sorted({*found.iterdir()} - known)
    print(f"{target}: {tried:,} inputs, coverage {coverage[0]} -> {coverage[-1]}, {len(new)} found", flush=True)
    for path in new:
        print(f"  {path}")
    return len(new)


def search_here(target: str, corpus: Path, found: Path, seconds: float, runs: int | None) -> None:
    """Search one target in this process, until time is up or all runs are made; atheris ends the process."""
    import atheris

    with atheris.instrument_imports(include=WATCHED):
        module = importlib.import_module(f"fuzz_{target}")
    for name, content in module.seeds().items():
        (corpus / name).write_bytes(content)
        module.one_input(content)  # what is imported late is imported, and each seed is good
    dictionary = corpus.with_suffix(".dict")
    dictionary.write_text("".join(f'"{_escaped(word)}"\n' for word in sorted(module.words())))
    kinds: set[str] = set()

    def one_input(data: bytes) -> None:
        kind = break_of(module.one_input, data)
        if kind is None or kind in kinds:
            return
        kinds.add(kind)
        from minimise import minimise

        small = minimise(data, lambda part: break_of(module.one_input, part) == kind)
        path = found / hashlib.blake2b(kind.encode(), digest_size=4).hexdigest()
        path.write_bytes(small)
        print(f"found {path}: {kind}", file=sys.stderr, flush=True)

    options = [
        *([f"-runs={runs}", "-seed=1"] if runs else [f"-max_total_time={int(seconds)}"]),
        f"-max_len={MOST_BYTES}", f"-timeout={HANG_SECONDS}", "-rss_limit_mb=8192", f"-dict={dictionary}",
        f"-artifact_prefix={found}/", "-report_slow_units=100000",
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *options, str(corpus)], one_input)
    atheris.Fuzz()


def break_of(one_input: object, data: bytes) -> str | None:
    """Return what an input breaks, in one line: the exception, and the last place of ours that it came through."""
    from oracle import Hang

    try:
        one_input(data)
    except (Exception, Hang) as error:
        frames = traceback.extract_tb(error.__traceback__)
        last = next((f for f in reversed(frames) if "blanketflow" in f.filename or "fuzz_" in f.filename), None)
        place = f"{Path(last.filename).name}:{last.name}: {last.line}" if last else "?"
        return f"{type(error).__name__} at {place}"
    return None


def _escaped(word: str) -> str:
    return "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\x{b:02x}" for b in word.encode())


if __name__ == "__main__":
    raise SystemExit(main())
