"""From counts to the tables of README.md: each replaces what stands between two comments of the page."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import beta

from blanketflow.ci.choice import AUTO, CORRECTED_G2, ROWS_PER_CELL, Choice
from blanketflow.ci.rates import CALIBRATED, CONSERVATIVE, INVALID, NOT_SHOWN, POWER, VERDICTS, Rate
from studies.calibration.designs import ALTERNATIVES, FAMILIES, NULLS
from studies.calibration.study import (
    ALPHAS,
    COUNTS,
    KEY,
    NULL_ROWS,
    NULL_SAMPLES,
    POWER_ROWS,
    POWER_SET_SIZES,
    TOLERATED,
)

CONFIDENCE = 0.99
#: A test is conservative if its upper bound is at most this times alpha.
HALF = 0.5
#: What `auto` takes and the study measures only there.
OF_AUTO = (Choice("g2", "", CORRECTED_G2), Choice("mi-permutation", "", {"asymptotic_from": ROWS_PER_CELL}))
#: Rows at which the power of these tests is compared with that of fisher-z where relations are linear.
COMPARED_ROWS, COMPARED = 500, ("spline", AUTO)
LINEAR = ("linear negative", "linear mixed signs", "linear weak")
#: What no test that auto takes follows: steps with fewer rows than this.
STEPS_FROM = 500
#: The share of samples from which on auto is said to take a test in a cell.
MOSTLY = 0.95


def rates(results: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the cells of the study with rates, exact bounds and verdicts; and the same of each choice of auto."""
    table = pd.read_parquet(results)
    table["design"] = table["design"].str.replace("_", " ")
    table["seconds"] = table["microseconds"] * table["samples"] / 1e6
    cells = table.groupby(KEY, sort=False)[COUNTS].sum().reset_index()
    return tuple(_judged(part) for part in (cells, table[table["test"] == AUTO].copy()))


def _judged(table: pd.DataFrame) -> pd.DataFrame:
    table["seconds"] /= table["samples"]
    table["is_null"] = table["design"].isin([null.replace("_", " ") for null in NULLS])
    table["label"] = (table["test"] + " " + table["options"]).str.strip()
    table["is_unreliable"] = table["unreliable"] == table["samples"]
    samples = table["samples"].to_numpy()
    for name, alpha in ALPHAS.items():
        rejected = table[f"rejected_{name}"].to_numpy()
        table[f"rate_{name}"] = rejected / samples
        table[f"low_{name}"], table[f"high_{name}"] = bounds(rejected, samples)
        # At the smaller alpha fewer samples show nothing, even if the rate is right.
        is_judged = table["is_null"] & ((alpha == max(ALPHAS.values())) | (samples >= NULL_SAMPLES[name]))
        table[f"verdict_{name}"] = np.where(is_judged, verdict(rejected, samples, alpha), "")
    verdicts = table[[f"verdict_{name}" for name in ALPHAS]].to_numpy()
    table["verdict"] = ""
    for worse in VERDICTS:
        table.loc[(verdicts == worse).any(axis=1) & ~table["is_unreliable"], "verdict"] = worse
    return table


def bounds(rejected: np.ndarray, samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and the upper exact bound (Clopper and Pearson) of rates, each with `CONFIDENCE`.

    Examples
    --------
    >>> bounds(np.array([0]), np.array([10]))[1].round(3)  # 1 - 0.01 ** (1 / 10)
    array([0.369])
    """
    low = beta.ppf(1 - CONFIDENCE, rejected, samples - rejected + 1)
    high = beta.ppf(CONFIDENCE, rejected + 1, samples - rejected)
    return np.where(rejected == 0, 0.0, low), np.where(rejected == samples, 1.0, high)


def verdict(rejected: np.ndarray, samples: np.ndarray, alpha: float) -> np.ndarray:
    """Return what counts under a null show.

    Examples
    --------
    >>> verdict(np.array([200, 260, 300, 2]), np.array([4000, 4000, 4000, 40]), 0.05).tolist()
    ['calibrated', 'invalid', 'invalid', 'not shown']
    """
    low, high = bounds(rejected, samples)
    others = np.where(low > alpha, INVALID, NOT_SHOWN)
    return np.where(high <= HALF * alpha, CONSERVATIVE, np.where(high <= TOLERATED * alpha, CALIBRATED, others))


def by_family(cells: pd.DataFrame, choices: pd.DataFrame) -> pd.DataFrame:
    """Return what the package has of the study: of each family of nulls the worst design, and all alternatives."""
    shares = choices["samples"] / choices.groupby(KEY)["samples"].transform("sum")
    of_auto = [
        choices[(choices["chosen"] == choice.test_id) & (shares >= MOSTLY)].assign(
            test=choice.test, options=" ".join(f"{name}={value}" for name, value in choice.options.items())
        )
        for choice in OF_AUTO
    ]
    table = pd.concat([cells, *of_auto]).drop_duplicates(KEY)
    table = table[~table["is_unreliable"]]
    families = {null.replace("_", " "): name for name, family in FAMILIES.items() for null in family}
    table["family"] = table["design"].map(families).fillna(POWER)
    table["severity"] = table["verdict"].map(dict(zip(VERDICTS, range(len(VERDICTS)), strict=True)))
    where = ["test", "options", "family", "n", "k"]
    table["slowest"] = table.groupby([*where, "is_null"])["seconds"].transform("max")
    nulls = table[table["is_null"]].sort_values(["severity", "low_05", "design"]).groupby(where).tail(1)
    found = pd.concat([nulls, table[~table["is_null"]]])
    found = found.assign(
        rows=found["n"],
        given=found["k"],
        rejected=found["rate_05"].round(4),
        upper=found["high_05"].round(4),
        microseconds=[float(f"{1e6 * seconds:.3g}") for seconds in found["slowest"]],
    )
    return found.sort_values([*where, "design"])[list(Rate._fields)].reset_index(drop=True)


def write(page: Path, table: pd.DataFrame, choices: pd.DataFrame) -> None:
    """Renew the tables of the page; the text between them is written by hand."""
    nulls = table[table["is_null"]]
    blocks = {
        "verdicts": verdicts(nulls),
        "reach": reach(nulls[nulls["test"] == AUTO], choices[choices["is_null"]]),
        "false positives": false_positives(nulls),
        "beside fisher-z": beside_fisher_z(table[~table["is_null"]]),
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


def verdicts(nulls: pd.DataFrame) -> str:
    """Return one row per test with options, one column per family of nulls: calibrated, or its worst cell."""
    rows = []
    for (test, options), of_variant in nulls.groupby(["test", "options"], sort=False):
        slowest = of_variant[of_variant["n"] == 1000]["seconds"].max()
        families = ([null.replace("_", " ") for null in family] for family in FAMILIES.values())
        found = [_verdict(of_variant[of_variant["design"].isin(family)]) for family in families]
        rows.append([f"`{test}`", _code(options), *found, f"{1000 * slowest:.3g}"])
    return _markdown(["test", "options", *FAMILIES, "ms per test, n = 1000"], rows)


def _verdict(part: pd.DataFrame) -> str:
    judged = part[part["verdict"] != ""]
    if not len(judged):
        return "not reliable" if len(part) else ""
    others = judged[~judged["verdict"].isin((CONSERVATIVE, CALIBRATED))]
    count = len(judged) - len(others)
    not_reliable = f" ({len(part) - len(judged)} of {len(part)} cells not reliable)" if len(part) > len(judged) else ""
    if not len(others):
        return (CALIBRATED if (judged["verdict"] == CALIBRATED).any() else CONSERVATIVE) + not_reliable
    too_often = others[others["verdict"] == INVALID]
    name, worst = _worst(too_often if len(too_often) else others)
    what = f"{100 * worst[f'rate_{name}']:.{0 if len(too_often) else 1}f} % at {ALPHAS[name]:g}"
    what = f"**{what}**" if len(too_often) else f"not shown: {what}"
    where = f"{worst['design']}, n = {worst['n']}, {worst['k']} given, {worst['samples']} samples"
    return f"{what} ({where}); {count} of {len(judged)} calibrated{not_reliable}"


def _worst(cells: pd.DataFrame) -> tuple[str, pd.Series]:
    """Return the cell whose lower bound is the most times alpha, and the name of that alpha."""
    times = pd.DataFrame(
        {name: (cells[f"low_{name}"] / alpha).where(cells[f"verdict_{name}"] != "") for name, alpha in ALPHAS.items()}
    )
    name = times.max().idxmax()
    return name, cells.loc[times[name].idxmax()]


def false_positives(nulls: pd.DataFrame) -> str:
    """Return one table per test with options: rates in per cent."""
    parts = []
    for (test, options), of_variant in nulls.groupby(["test", "options"], sort=False):
        shown = [(name, n) for name in ALPHAS for n in NULL_ROWS if _has(of_variant, name, n)]
        rows = [
            [design, str(k), *(_rate(part[part["n"] == n], name) for name, n in shown), _span(part["samples"])]
            for (design, k), part in of_variant.groupby(["design", "k"], sort=False)
        ]
        head = ["null", "given", *(f"n = {n}, {ALPHAS[name]:g}" for name, n in shown), "samples"]
        parts.append(f"### {test}" + (f": {_code(options)}" if options else "") + "\n\n" + _markdown(head, rows))
    return "\n\n".join(parts)


def _has(of_variant: pd.DataFrame, name: str, n: int) -> bool:
    return bool((of_variant["n"] == n).any() and (of_variant[f"verdict_{name}"] != "").any())


def _rate(cell: pd.DataFrame, name: str) -> str:
    """Return a rate in per cent: bold where a test rejects too often, slanted where nothing is shown."""
    if not len(cell):
        return ""
    row = cell.iloc[0]
    if row["is_unreliable"]:
        return "not reliable"
    mark = {INVALID: "**", NOT_SHOWN: "*"}.get(row[f"verdict_{name}"], "")
    return f"{mark}{100 * row[f'rate_{name}']:.1f}{mark}" if row[f"verdict_{name}"] else ""


def reach(cells: pd.DataFrame, choices: pd.DataFrame) -> str:
    """Return what auto takes in each cell and how often that rejects, and which cells are not calibrated."""
    rows = []
    for (design, k), part in cells.groupby(["design", "k"], sort=False):
        of_design = choices[(choices["design"] == design) & (choices["k"] == k)]
        shown = [
            f"{_taken(of_design[of_design['n'] == n])}: {_rate(part[part['n'] == n], '05')}"
            if (part["n"] == n).any()
            else ""
            for n in NULL_ROWS
        ]
        rows.append([design, str(k), *shown])
    table = _markdown(["null", "given", *(f"n = {n}" for n in NULL_ROWS)], rows)
    is_excepted = (cells["design"] == "steps") & (cells["n"] < STEPS_FROM)
    judged = cells[~is_excepted & (cells["verdict"] != "")]
    others = judged[judged["verdict"].isin((NOT_SHOWN, INVALID))]
    names = [f"{row['design']} ({row['n']} rows, {row['k']} given)" for _, row in others.iterrows()]
    found = (
        f"Of {len(judged)} cells, without steps with fewer than {STEPS_FROM} rows, {len(others)} are not shown to be "
        f"calibrated ({100 * len(others) / max(len(judged), 1):.1f} %)"
    )
    return f"{table}\n\n{': '.join([found, *([', '.join(names)] if names else [])])}."


def _taken(choices: pd.DataFrame) -> str:
    """Return the tests that auto took in a cell, with their shares if there are several."""
    shares = choices.groupby("chosen")["samples"].sum().sort_values(ascending=False) / choices["samples"].sum()
    if shares.iloc[0] >= MOSTLY:
        return shares.index[0]
    return ", ".join(f"{test} {100 * share:.0f} %" for test, share in shares.items() if share > 1 - MOSTLY)


def beside_fisher_z(alternatives: pd.DataFrame) -> str:
    """Return the power of tests that follow bends where nothing bends, beside that of fisher-z."""
    at = alternatives[(alternatives["n"] == COMPARED_ROWS) & (alternatives["options"] == "")]
    power = at.pivot_table(index="design", columns="test", values="rate_05")
    rows = [
        [design, f"{100 * base:.1f}", *(_beside(power, design, test, base) for test in COMPARED)]
        for design in LINEAR
        if not np.isnan(base := power.get("fisher-z", pd.Series(dtype=float)).get(design, np.nan))
    ]
    return _markdown([f"n = {COMPARED_ROWS}", "`fisher-z`", *(f"`{test}`" for test in COMPARED)], rows)


def _beside(power: pd.DataFrame, design: str, test: str, base: float) -> str:
    found = power.get(test, pd.Series(dtype=float)).get(design, np.nan)
    return "" if np.isnan(found) else f"{100 * found:.1f} ({100 * (found - base):+.1f})"


def power(alternatives: pd.DataFrame) -> str:
    """Return one table per alternative: the share of samples in which it is found at alpha 0.05, in per cent."""
    parts = []
    for design, k in POWER_SET_SIZES.items():
        rows = []
        shown = alternatives[alternatives["design"] == design.replace("_", " ")]
        for (test, options), part in shown.groupby(["test", "options"], sort=False):
            by_n = part.set_index("n")
            rates = [_cell(by_n, n) for n in POWER_ROWS]
            rows.append([f"`{test}`", _code(options), *rates, _span(part["samples"])])
        meaning = ALTERNATIVES[design].__doc__.split(";")[0].strip().rstrip(".")
        title = f"### {design.replace('_', ' ')}\n\n{meaning}; {k} given.\n\n"
        parts.append(title + _markdown(["test", "options", *(f"n = {n}" for n in POWER_ROWS), "samples"], rows))
    return "\n\n".join(parts)


def _cell(by_n: pd.DataFrame, n: int) -> str:
    if n not in by_n.index:
        return ""
    row = by_n.loc[n]
    if row["is_unreliable"]:
        return "not reliable"
    rate, low, high = (100 * row[f"{what}_05"] for what in ("rate", "low", "high"))
    return f"{rate:.1f} ({low:.1f}-{high:.1f})"


def _span(samples: pd.Series) -> str:
    low, high = samples.min(), samples.max()
    return str(low) if low == high else f"{low}-{high}"


def _code(options: str) -> str:
    return " ".join(f"`{option}`" for option in options.split())


def _markdown(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)
