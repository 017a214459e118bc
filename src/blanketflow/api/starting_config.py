"""A commented starting config.yaml for a table: suitable selectors and their cost."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..config.identifiers import IDENTIFIER, LONGEST_ID
from ..core.cards import CLASSIFICATION, is_further_kind
from ..core.in_yaml import in_yaml
from ..core.printable import printable
from ..core.seeds import DEFAULT_SEED
from ..data.findings.follow_up import survival_key
from ..targets import get_target_kind
from ..targets.forms import as_written
from ..workflow.chosen_tests import smallest_fold
from ..workflow.plan import duration, make_plan, pair_seconds, run_seconds
from ..workflow.specs import Plan
from .advice import BLANKET, PREDICT, RANKING, Advice, blanket_advice
from .inspection import Inspection

#: Methods to compare with the advised ones: options and description, by id.
COMPARED: dict[str, tuple[dict[str, Any], str]] = {
    "ppfs": ({"method": "ppfs", "ci_test": "auto", "alpha": 0.05}, "what depends on the target, given all the others"),
    "all": ({"method": "all"}, "all features: the baseline of the others"),
}
#: With more columns `ppfs` admits dozens by chance unless its marginal tests are corrected.
MANY_FEATURES = 100
#: Selectors that would take longer, in CPU seconds, are left out (as comments).
TOO_LONG = 600.0
#: The largest number of columns that a comment names.
_NAMED = 30
#: Keys with lines of their own.
_OF_COLUMNS = ("drop", "categorical")


@dataclass(frozen=True)
class StartingConfig:
    """A starting config: text, data set, folder of results, and estimated CPU seconds."""

    text: str
    dataset: str
    output: str
    seconds: float


def starting_config(spec: Mapping[str, Any], seen: Inspection) -> StartingConfig:
    """Write a config for an inspected table.

    Columns that look like identifiers, dates, texts or follow-up times are dropped; comments name suspected leaks.
    """
    dataset = dataset_id(str(spec.get("path") or spec.get("source")))
    kept = {key: value for key, value in spec.items() if value not in (None, [], ()) or _takes_none(key, value)}
    drop = [*kept.get("drop", []), *_to_drop(seen)]
    kept |= seen.proposed
    kept |= {"drop": list(dict.fromkeys(drop))} if drop else {}
    raw: dict[str, Any] = {
        "output": f"results/{dataset}",
        "datasets": {dataset: kept},
        "splits": {"evaluation": _folds(seen, 5)},
        "folds": _folds(seen, 5, of=0.8),
        "selectors": {"blanket": {"method": BLANKET.method}},
        "models": _models(seen.task),
    }
    plan = make_plan(raw, Path)  # in which the test is chosen by which the search is
    facts, test = plan.facts[dataset], plan.config.test(dataset, "blanket")
    n_rows = smallest_fold(facts, plan.config, plan.selector("blanket"))
    advised = [PREDICT, blanket_advice(facts, n_rows, test), RANKING.of_table(facts.n_features)]
    raw["selectors"], meanings = _selectors(advised, facts.n_features)
    plan = make_plan(raw, Path)
    slow = [name for name in raw["selectors"] if name != "all" and pair_seconds(plan, dataset, name) > TOO_LONG]
    kept_selectors = [name for name in raw["selectors"] if name not in slow]
    plan = make_plan(raw | {"selectors": {name: raw["selectors"][name] for name in kept_selectors}}, Path)
    seconds = run_seconds(plan)
    return StartingConfig(_text(raw, plan, seen, dataset, meanings, slow, seconds), dataset, raw["output"], seconds)


def _models(task: str) -> list[str]:
    """Return the models that score the blankets."""
    if is_further_kind(task) and (suited := get_target_kind(task).models):
        return [*suited]
    return [*(["logistic", "naive-bayes"] if task == CLASSIFICATION else ["ridge"]), "tree", "svm", "knn"]


def dataset_id(path: str) -> str:
    """Return an id for a file or source.

    >>> dataset_id("data/My Study (2).csv.gz"), dataset_id("sklearn:wine"), dataset_id("https://host/t.csv?key=a/b")
    ('my-study-2', 'wine', 't')
    """
    if "://" in path:  # only the path, since results are named after it
        path = re.split("[?#;]", path.partition("://")[2])[0].rpartition("@")[2]
    name = path.rpartition(":")[2].replace("\\", "/").rstrip("/").rpartition("/")[2]
    stem = name.partition(".")[0] or name
    cleaned = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")[:LONGEST_ID]
    return cleaned if IDENTIFIER.fullmatch(cleaned) else "table"


def _to_drop(seen: Inspection) -> list[str]:
    """Return the columns to drop (identifiers, dates, texts and follow-up times), but never all columns."""
    kinds = ("identifier", "date", "text", "follow-up")
    found = list(dict.fromkeys(name for kind in kinds for name in seen.columns_found(kind)))
    return found if len(found) < seen.n_features else []


def _takes_none(key: str, value: Any) -> bool:
    """Whether a key says that no text is missing; an empty list is then not the default."""
    return key in ("missing_values", "more_missing_values") and value is not None


def _folds(seen: Inspection, wanted: int, of: float = 1.0) -> int:
    """Return the number of folds that the smallest class or the events allow; 0 if none."""
    smallest = min((seen.classes or {"": seen.n_rows if seen.events is None else seen.events}).values())
    most = min(wanted, int(smallest * of))
    return most if most >= 2 else 0


def _selectors(advised: Sequence[Advice], n_features: int) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the selectors by id, the advised ones first, with a description of each."""
    found, meanings = {}, {}
    for advice in advised:
        own = {"auto": {"folds": 0}, "mrmr": {}}.get(advice.method, {"ci_test": "auto"})
        found[advice.method] = {"method": advice.method, **own, **advice.options}
        meanings[advice.method] = advice.want
    for name, (options, meaning) in COMPARED.items():
        many = {"correction": "bh"} if name == "ppfs" and n_features > MANY_FEATURES else {}
        found[name], meanings[name] = options | many, meaning
    return found, meanings


def _text(
    raw: dict[str, Any],
    plan: Plan,
    seen: Inspection,
    dataset: str,
    meanings: Mapping[str, str],
    slow: list[str],
    seconds: float,
) -> str:
    spec, splits = raw["datasets"][dataset], raw["splits"]
    of_kind = f"a target of the kind {seen.task}" if seen.target_words else "a number"
    what = f"{len(seen.classes)} classes" if seen.classes else of_kind
    written = as_written(spec)
    lines = [
        f"# {dataset}: {seen.n_rows} rows, {seen.n_features} features, {printable(seen.target)} is {what}.",
        f"# About {duration(seconds)} of CPU time, divided by the cores: an estimate (docs/costs.md), data differ.",
        "# `blanketflow explain docs/config.md` explains every key; `blanketflow list` shows what else there is.",
        "",
        f"output: {raw['output']}   # folder of all results",
        f"seed: {DEFAULT_SEED}   # every random number is derived from it",
        "",
        "datasets:",
        f"  {dataset}:",
        *[f"    {key}: {in_yaml(value)}{_why(key, seen)}" for key, value in written.items() if key not in _OF_COLUMNS],
        *_kind_lines(spec, seen),
        *_column_lines(spec, splits, raw["folds"], seen),
        *[f"    # {printable(told)}" for told in plan.facts[dataset].told if told],
        *([f"    # {printable(key)}   # if they are"] if (key := plan.facts[dataset].missing_key) else []),
        "",
        "# Outer splits judge the blankets on rows that the search never saw; 0: none. The final one is on all rows.",
        f"splits: {in_yaml(splits)}",
        f"folds: {raw['folds']}   # inner folds whose blankets are combined; 0: one search on all training rows",
        "",
        *[f"# ci_test: auto is {test.id} here: {test.reason}." for test in plan.config.chosen.values()],
        "selectors:   # CPU time with its evaluation, estimated",
    ]
    for name, options in raw["selectors"].items():
        lines.append(_selector_line(name, options, meanings[name], plan, dataset, slow))
    lines += ["", f"models: {in_yaml(raw['models'])}   # judge the blankets on test rows; [] for none", ""]
    return "\n".join(lines)


def _kind_lines(spec: Mapping[str, Any], seen: Inspection) -> list[str]:
    """Return the line on the task, and a comment if the target looks like one of a further kind."""
    if is_further_kind(seen.task):
        return []
    told = [] if "task" in spec else [f"    task: {seen.task}   # {printable(seen.task_reason)}"]
    told += [
        f"    # {one.key}   # {printable(one.said)}"
        for one in seen.to_settle
        if one.kind in ("target-kind", "count-as-classes")
    ]
    times = seen.columns_found("follow-up")
    if len(times) == 1 and times[0] in spec.get("drop", []):
        key = survival_key(times[0], seen.target)
        told.append(f"    # {key}   # in place of target, with {printable(times[0])} no more under drop")
    return told


def _why(key: str, seen: Inspection) -> str:
    """Return a comment on a key that is proposed: what was seen, and what else it may be."""
    found = [one for one in seen.findings if one.kind == key.replace("_", "-")] if key in seen.proposed else []
    more = "what else may stand there: blanketflow explain docs/sources.md"
    return f"   # {printable(found[0].message)}; {more}" if found else ""


def _selector_line(name: str, options: dict[str, Any], meaning: str, plan: Plan, dataset: str, slow: list[str]) -> str:
    line = f"{name}: {in_yaml(options)}   # {meaning}"
    reason = next((skip.reason for skip in plan.skipped if skip.selector == name), None)
    if name in slow:
        return f"  # {line}; more than {duration(TOO_LONG)}, give it a time_limit: 60 (seconds per fold)"
    return f"  {line}; " + (f"skipped: {printable(reason)}" if reason else duration(pair_seconds(plan, dataset, name)))


def _column_lines(spec: Mapping[str, Any], splits: Mapping[str, int], folds: int, seen: Inspection) -> list[str]:
    """Return the lines on columns: those dropped, and comments on what the reader should decide.

    Comments can be uncommented alone or together: no key is duplicated, and no column has two meanings.
    """
    dropped, labels = spec.get("drop", []), spec.get("categorical", [])
    leaks = [name for name in seen.columns_found("leakage") if name not in dropped]
    settled = {*dropped, *labels, *leaks}
    codes = [name for name in seen.columns_found("code") if name not in settled]
    groups = [name for kind in ("group", "place") for name in seen.columns_found(kind) if name not in settled]
    lines = [
        *_list_lines(
            "drop",
            dropped,
            "suspected identifiers, dates, free text or follow-up times",
            leaks,
            "suspected leakage: do you know it before the target?",
        ),
        *_list_lines("categorical", labels, "", codes, "if this is a label without an order"),
    ]
    if groups and "groups" not in spec:
        lines.append(_groups_line(groups[0], splits["evaluation"], folds, seen))
    if not dropped and not leaks:
        lines.append("    # drop: []          # columns to leave out")
    if "categorical" not in spec and not codes:
        lines.append("    # categorical: []   # numeric-looking columns that are labels")
    return lines


def _list_lines(key: str, given: Sequence[str], told: str, suggested: Sequence[str], question: str) -> list[str]:
    """Return a key with its columns, and suggested ones as comments in the same list.

    >>> _list_lines("drop", ["id"], "numbers rows", ["x"], "a leak?")
    ['    drop:   # numbers rows', '      - id', '      # - x   # a leak?']
    >>> _list_lines("drop", [], "", ["x"], "a leak?")
    ['    # drop: [x]   # a leak?']
    """
    told, more = f"   # {told}" if told else "", len(suggested) - _NAMED
    question += f"; and {more} more" if more > 0 else ""
    suggested = suggested[:_NAMED]
    if not given:
        return [f"    # {key}: {in_yaml(suggested)}   # {question}"] if suggested else []
    if not suggested:
        return [f"    {key}: {in_yaml(given)}{told}"]
    kept = [f"      - {in_yaml(name)}" for name in given]
    return [f"    {key}:{told}", *kept, *(f"      # - {in_yaml(name)}   # {question}" for name in suggested)]


def _groups_line(name: str, evaluation: int, folds: int, seen: Inspection) -> str:
    """Return the suggestion to keep groups together; only a comment if there are fewer groups than folds."""
    n_groups = next((column.n_distinct for column in seen.columns if column.name == name), 0)
    n_in_training = n_groups - (-(-n_groups // evaluation) if evaluation else 0)
    if n_groups < evaluation or n_in_training < folds:
        what = f"{printable(name)} may say which rows belong together, but has only {n_groups} values"
        return f"    # {what}: fewer folds would be needed"
    return f"    # groups: {in_yaml(name)}   # if rows of one value belong together: one side of a split"
