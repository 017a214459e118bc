"""From counts to the tables of docs/ci-tests.md: each replaces what stands between two comments of the page."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
from scipy.stats import binomtest

from blanketflow.core.cards import KINDS
from blanketflow.core.registry import discover

from .designs import ALTERNATIVES, NULLS
from .study import NULL_ROWS, POWER_ROWS, POWER_SET_SIZES

ALPHAS = {"05": 0.05, "01": 0.01}
CONFIDENCE = 0.99
#: Cells with fewer samples get no verdict.
JUDGED = 100


def rates(results: Path) -> pd.DataFrame:
    """Return the counts of the study with rates, Clopper-Pearson bounds, and whether a null is rejected too often."""
    table = pd.read_csv(results, keep_default_na=False)
    table["is_null"] = table["design"].isin(list(NULLS))
    table["design"] = table["design"].str.replace("_", " ")
    table["label"] = (table["test"] + " " + table["options"]).str.strip()
    table["is_unreliable"] = table["unreliable"] == table["samples"]
    for name, alpha in ALPHAS.items():
        table[f"rate_{name}"] = table[f"rejected_{name}"] / table["samples"]
        bounds = [
            binomtest(rejected, samples).proportion_ci(CONFIDENCE, method="exact")
            for rejected, samples in zip(table[f"rejected_{name}"], table["samples"], strict=True)
        ]
        table[f"low_{name}"], table[f"high_{name}"] = zip(*bounds, strict=True)
        table[f"too_many_{name}"] = table["is_null"] & (table[f"low_{name}"] > alpha)
    return table


def write(page: Path, table: pd.DataFrame) -> None:
    """Renew the tables of the page; the text between them is written by hand."""
    nulls = table[table["is_null"]]
    blocks = {
        "cards": cards(),
        "verdicts": verdicts(nulls),
        "false positives": false_positives(nulls),
        "power": power(table[~table["is_null"]]),
    }
    text = page.read_text(encoding="utf-8")
    for name, block in blocks.items():
        marks = f"<!-- {name} -->", f"<!-- end of {name} -->"
        pattern = re.compile(f"(?s){re.escape(marks[0])}.*?{re.escape(marks[1])}")
        text, count = pattern.subn(lambda _, m=marks, b=block: f"{m[0]}\n{b}\n{m[1]}", text)
        if count != 1:
            raise SystemExit(f"{page}: {marks[0]} and {marks[1]} must each occur once, in this order.")
    page.write_text(text, encoding="utf-8")


def cards() -> str:
    """Return what the card of each test says."""
    rows = []
    for test in discover("blanketflow.ci").values():
        card = test.card
        kinds = "any" if set(card.kinds) == set(KINDS) else ", ".join(card.kinds)
        classes = f", up to {card.max_classes} levels" if card.max_classes else ""
        yes = "yes" if card.symmetric else "no"
        rows.append([f"`{card.id}`", card.summary, kinds + classes, card.p_values, card.guarantee, yes, card.cost])
    return _markdown(["test", "what it does", "columns", "p-values", "guarantee", "symmetric", "cost"], rows)


def verdicts(nulls: pd.DataFrame) -> str:
    """Return one row per test with options, one column per null: calibrated, or its worst cell."""
    rows, shown = [], [null.replace("_", " ") for null in NULLS]
    for (test, options), of_variant in nulls.groupby(["test", "options"], sort=False):
        slowest = of_variant[of_variant["n"] == max(NULL_ROWS)]["seconds"].max()
        found = [_verdict(of_variant[of_variant["design"] == null]) for null in shown]
        rows.append([f"`{test}`", _code(options), *found, f"{1000 * slowest:.3g}"])
    judged = nulls[(nulls["samples"] >= JUDGED) & ~nulls["is_unreliable"]]
    marked = int(judged[[f"too_many_{name}" for name in ALPHAS]].to_numpy().sum())
    asked = len(ALPHAS) * len(judged)
    chance = f"{asked * (1 - CONFIDENCE) / 2:.0f}"
    note = f"\n\n{marked} of {asked} rates are above alpha; chance alone would put at most about {chance} there."
    return _markdown(["test", "options", *shown, f"ms per test, n = {max(NULL_ROWS)}"], rows) + note


def _verdict(part: pd.DataFrame) -> str:
    if not len(part):
        return ""
    judged = part[part["samples"] >= JUDGED]
    for name, alpha in ALPHAS.items():
        marked = judged[judged[f"too_many_{name}"]]
        if len(marked):
            worst = marked.loc[marked[f"low_{name}"].idxmax()]
            return f"**{100 * worst[f'rate_{name}']:.0f} % at {alpha:g}** (n = {worst['n']}, {worst['k']} given)"
    if not len(judged):
        return "too few samples"
    left_out = {"not reliable": judged["is_unreliable"].sum(), "with few samples": len(part) - len(judged)}
    notes = ", ".join(f"{count} of {len(part)} cells {why}" for why, count in left_out.items() if count)
    return "calibrated" + (f" ({notes})" if notes else "")


def false_positives(nulls: pd.DataFrame) -> str:
    """Return one table per test with options: rates in per cent with their intervals."""
    head = ["null", "given", *(f"n = {n}, {alpha:g}" for alpha in ALPHAS.values() for n in NULL_ROWS), "samples"]
    parts = []
    for (test, options), of_variant in nulls.groupby(["test", "options"], sort=False):
        rows = []
        for (design, k), part in of_variant.groupby(["design", "k"], sort=False):
            by_n = part.set_index("n")
            shown = [_cell(by_n, n, name) for name in ALPHAS for n in NULL_ROWS]
            rows.append([design, str(k), *shown, _span(part["samples"])])
        parts.append(f"### {test}" + (f": {_code(options)}" if options else "") + "\n\n" + _markdown(head, rows))
    return "\n\n".join(parts)


def power(alternatives: pd.DataFrame) -> str:
    """Return one table per alternative: the share of samples in which it is found at alpha 0.05, in per cent."""
    parts = []
    for design, k in POWER_SET_SIZES.items():
        rows = []
        shown = alternatives[alternatives["design"] == design.replace("_", " ")]
        for (test, options), part in shown.groupby(["test", "options"], sort=False):
            by_n = part.set_index("n")
            rates = [_cell(by_n, n, "05") for n in POWER_ROWS]
            rows.append([f"`{test}`", _code(options), *rates, _span(part["samples"])])
        meaning = ALTERNATIVES[design].__doc__.split(";")[0].strip().rstrip(".")
        title = f"### {design.replace('_', ' ')}\n\n{meaning}; {k} given.\n\n"
        parts.append(title + _markdown(["test", "options", *(f"n = {n}" for n in POWER_ROWS), "samples"], rows))
    return "\n\n".join(parts)


def _cell(by_n: pd.DataFrame, n: int, name: str) -> str:
    if n not in by_n.index:
        return ""
    row = by_n.loc[n]
    if row["is_unreliable"]:
        return "not reliable"
    rate, low, high = (100 * row[f"{what}_{name}"] for what in ("rate", "low", "high"))
    text = f"{rate:.1f} ({low:.1f}-{high:.1f})"
    if row[f"too_many_{name}"]:
        text = f"**{text}, too many: {rate / 100 / ALPHAS[name]:.1f} x alpha**"
    return text


def _span(samples: pd.Series) -> str:
    low, high = samples.min(), samples.max()
    return str(low) if low == high else f"{low}-{high}"


def _code(options: str) -> str:
    return " ".join(f"`{option}`" for option in options.split())


def _markdown(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)
