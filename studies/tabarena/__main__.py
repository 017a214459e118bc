"""Feature selectors by TabArena's protocol: `python -m studies.tabarena`.

Each selector keeps five numbers of features of each set, which three models judge on unseen rows; selects among columns
with shuffled copies; and selects on bootstrap samples. Rounds follow each other, so that a run that is stopped has the
same of all sets. What is in results/tabarena/rows.jsonl, at the top of the repository, is not measured again. `--page`
writes the raw results and the page. The sets are in the folder that BLANKETFLOW_DATA names.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from blanketflow.core.seeds import seed_32
from studies.shared.in_parts import count_cpu_time, own_seconds
from studies.tabarena import interface, theirs
from studies.tabarena.data import in_turn, read, rows_of
from studies.tabarena.judges import JUDGES, scores

ROWS = Path(__file__).parents[2] / "results" / "tabarena" / "rows.jsonl"
RAW = Path(__file__).parent / "results" / "tabarena.parquet"
#: Of ours beside those that TabArena has too: the adapter's class of each.
OURS = {
    "auto": "AutoSelector",
    "auto, exact": "AutoExactSelector",
    "hiton-mb": "HITONMBSelector",
    "iamb": "IAMBSelector",
    "stmb": "STMBSelector",
}
CLASS_OF = OURS | {
    "CMIM": "CMIMSelector",
    "DISR": "DISRSelector",
    "JMI": "JMISelector",
    "MarkovBlanket": "KollerSahamiSelector",
    "mRMR": "MRMRSelector",
    "ReliefF": "ReliefSelector",
}
#: Methods whose answer at one number of features does not begin with that at a smaller one.
NOT_NESTED = {"auto", "auto, exact", "MarkovBlanket"}
#: Rounds: what is done, and which split, bootstrap sample, or share of copies in percent.
ROUNDS = [("score", 0), ("noise", 100), ("bootstrap", 0), ("bootstrap", 1), ("bootstrap", 2), ("noise", 50)]
ROUNDS += [("noise", 75), ("score", 1), ("score", 2), ("bootstrap", 3)]


def main() -> None:
    """Measure what is missing, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=10, help="CPU seconds of one selection")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin nothing later")
    parser.add_argument("--sets", nargs="+", default=in_turn())
    parser.add_argument("--rounds", type=int, default=len(ROUNDS), help="how many rounds")
    parser.add_argument("--page", action="store_true", help="write the page")
    asked = parser.parse_args()
    if asked.page:
        from studies.tabarena.page import write_page

        write_page(ROWS)
        return
    warnings.simplefilter("ignore")
    count_cpu_time()
    end = time.monotonic() + 60 * asked.minutes
    ROWS.parent.mkdir(parents=True, exist_ok=True)
    done = {(one["round"], one["set"], one["of"], one["method"]) for one in lines()}
    for what, of in ROUNDS[: asked.rounds]:
        for name in asked.sets:
            missing = [m for m in methods(what) if (what, name, of, m) not in done]
            if missing and time.monotonic() < end:
                begin = own_seconds()
                measure(what, name, of, missing, asked.limit)
                print(what, of, name, f"{own_seconds() - begin:.0f} CPU s", flush=True)


def methods(what: str) -> list[str]:
    """Return the methods of a round."""
    others = [name for name in (*theirs.WAYS, "Consistency") if what == "score" or name not in theirs.WRAPPERS]
    return [*others, *CLASS_OF, *(["all"] if what == "score" else [])]


def lines() -> list[dict[str, Any]]:
    """Return what was measured; on a machine that has not measured yet, it is that of the raw results."""
    if not ROWS.exists() and RAW.exists():
        raw = pd.read_parquet(RAW)
        stored = raw.assign(features=raw["features"].str.split(" ")).astype(object)
        found = [{name: value for name, value in one.items() if name == "features" or pd.notna(value)} for one in
                 stored.to_dict("records")]  # fmt: skip
        ROWS.write_text("".join(json.dumps({"budget": None, "selected": None} | one) + "\n" for one in found))
    text = ROWS.read_text(encoding="utf-8") if ROWS.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


def measure(what: str, name: str, of: int, missing: list[str], limit: float) -> None:
    """Let methods select on one table, judge what they keep in rounds of scores, and write it down at once."""
    data, seed = read(name), seed_32("tabarena", what, name, of)
    learn, ask = rows_of(data, of if what == "score" else 0)
    X, y = data.X.iloc[learn].reset_index(drop=True), data.y.iloc[learn].reset_index(drop=True)
    rng = np.random.default_rng(seed)
    if what == "noise":
        X, _ = interface.with_noise(X, of / 100, rng)
    elif what == "bootstrap":
        drawn = rng.integers(0, len(X), len(X))
        X, y = X.iloc[drawn].reset_index(drop=True), y.iloc[drawn].reset_index(drop=True)
        varies = [column for column in X if X[column].nunique() > 1]
        X = X[[varies[at] for at in rng.permutation(len(varies))]]
    judged: dict[frozenset[str], list[float]] = {}
    for method in missing:
        found = []
        for one in selected(method, what, X, y, data.is_class, seed, limit):
            found.append({"round": what, "set": name, "of": of, "method": method, "d": X.shape[1], **one})
            if what == "score":
                features, n = one["features"], one["selected"]
                of_sets = {"": features} | ({"own ": features[:n]} if n is not None else {})
                for prefix, chosen in of_sets.items():
                    key = frozenset(chosen)
                    if key not in judged:
                        kept = data.X[sorted(chosen, key=list(data.X).index)]
                        judged[key] = scores(kept, data.y, data.is_class, learn, ask)
                    rounded = [round(score, 4) for score in judged[key]]
                    found[-1] |= {prefix + judge: score for judge, score in zip(JUDGES, rounded, strict=True)}
        # All at once: what is there of a method counts as whole.
        with ROWS.open("a", encoding="utf-8") as stream:
            stream.write("".join(json.dumps(one) + "\n" for one in found))


def selected(
    method: str, what: str, X: pd.DataFrame, y: pd.Series, is_class: bool, seed: int, limit: float
) -> Iterator[dict[str, Any]]:
    """Yield what a method keeps at each number of features that TabArena asks for.

    `selected` says how many of these, the first ones, a method of ours selected itself.
    """
    sizes, begin = interface.budgets(X.shape[1]), own_seconds()
    if method == "all":
        yield {"budget": None, "size": X.shape[1], "features": list(X), "selected": None, "at_random": 0, "seconds": 0}
    elif method in CLASS_OF:
        nested = method not in NOT_NESTED
        asked = range(len(sizes)) if nested or what == "score" else [interface.MIDDLE]
        fits: dict[int, Any] = {}
        for place in asked:
            size = sizes[-1] if nested else sizes[place]
            begin = begin if nested else own_seconds()
            if size not in fits:
                fits[size] = fitted(method, size, X, y, is_class, seed, limit)
            features, n_selected, at_random = fits[size]
            seconds = own_seconds() - begin
            kept = features[: sizes[place]]
            own = {"selected": min(n_selected, len(kept)), "at_random": max(0, at_random - (size - len(kept)))}
            yield {"budget": place, "size": sizes[place], "features": kept, **own, "seconds": round(seconds, 2)}
    else:
        given = theirs.Given(X, y, is_class, seed, sizes, limit)
        found = theirs.kept(method, given)
        seconds = round(own_seconds() - begin, 2)
        for place, size in enumerate(sizes):
            features, at_random = found[size]
            own = {"selected": None, "at_random": at_random, "seconds": seconds}
            yield {"budget": place, "size": size, "features": features, **own}


def fitted(
    method: str, size: int, X: pd.DataFrame, y: pd.Series, is_class: bool, seed: int, limit: float
) -> tuple[list[str], int, int]:
    """Return the features that a method of ours keeps, how many it selected itself, and how many are random."""
    interface.stand_in()
    from studies.tabarena import blanketflow_selectors

    selector = getattr(blanketflow_selectors, CLASS_OF[method])(size, random_state=seed)
    kind = ("binary" if y.nunique() == 2 else "multiclass") if is_class else "regression"
    kept = list(selector.fit_transform(X, y, time_limit=limit, problem_type=kind))
    return kept, selector.n_selected, selector.n_at_random


if __name__ == "__main__":
    main()
