"""The tables of an answer for papers, in LaTeX and as HTML that word processors paste: features kept, and scores."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from ...core.printable import printable
from ..formatting import NONE, ROLES, count, interval, mean_sd, metric_name, number, plain, signed
from .latex_text import in_latex

if TYPE_CHECKING:
    import pandas as pd

    from .exported_run import ExportedRun

#: Rows of a table that fits on a page, and letters of a column that needs no line breaks.
_ON_A_PAGE, _ON_A_LINE = 40, 40
_BROKEN = r">{\raggedright\arraybackslash}p{.33\linewidth}"
#: Size of the text of a table, and space between columns.
_NARROW = r"\footnotesize\setlength{\tabcolsep}{4pt}"
_INTERVAL = re.compile(r" \(\d\.\d\d to \d\.\d\d\)")


@dataclass(frozen=True)
class PaperTable:
    """A table: the columns `texts` are aligned to the left, the others to the right; `note` stands below it.

    A row of one cell is the title of the rows below it.
    """

    label: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    texts: Sequence[str]
    note: str = ""

    def latex(self) -> str:
        """Return the table for the packages array, booktabs and, beyond a page, longtable."""
        full = [cells for cells in self.rows if len(cells) > 1]
        aligned = "".join(
            "r" if name not in self.texts else _BROKEN if any(len(row[at]) > _ON_A_LINE for row in full) else "l"
            for at, name in enumerate(self.columns)
        )
        head, *rows = map(self._latex_row, (self.columns, *self.rows))
        titled = f"\\caption{{{in_latex(self.caption)}}}\n\\label{{tab:{re.sub(r'[^a-zA-Z0-9]+', '-', self.label)}}}"
        note = f"\n\n\\medskip\\noindent\\small {in_latex(self.note)}" if self.note else ""
        body = "\n".join([r"\midrule", *rows, r"\bottomrule"])
        if len(rows) > _ON_A_PAGE:
            begin = f"{{{_NARROW}\n\\begin{{longtable}}{{{aligned}}}\n{titled} \\\\\n\\toprule\n{head}\n\\midrule"
            body = body.removeprefix("\\midrule\n")
            return f"{begin}\n\\endhead\n{body}\n\\end{{longtable}}}}{note}\n"
        tabular = f"\\begin{{tabular}}{{{aligned}}}\n\\toprule\n{head}\n{body}\n\\end{{tabular}}"
        return f"\\begin{{table}}\n\\centering{_NARROW}\n{titled}\n{tabular}{note}\n\\end{{table}}\n"

    def _latex_row(self, cells: Sequence[str]) -> str:
        if len(cells) == 1:
            return f"\\multicolumn{{{len(self.columns)}}}{{l}}{{\\emph{{{in_latex(cells[0])}}}}} \\\\"
        return " & ".join(map(in_latex, cells)) + r" \\"

    def html(self) -> Markup:
        """Return the table with the lines of booktabs, in styles that word processors keep."""
        lines = [self._row("th", self.columns, "border-top:1.5pt solid;border-bottom:.75pt solid;")]
        last = len(self.rows) - 1
        lines += [
            self._row("td", row, "border-bottom:1.5pt solid;" if at == last else "") for at, row in enumerate(self.rows)
        ]
        caption = Markup("<caption>{}</caption>").format(printable(self.caption))
        note = Markup("<p>{}</p>\n").format(printable(self.note)) if self.note else Markup("")
        shown = Markup("\n").join(lines)
        return Markup('<table style="border-collapse:collapse">\n{}\n{}\n</table>\n{}').format(caption, shown, note)

    def _row(self, tag: str, cells: Sequence[str], border: str) -> Markup:
        cell = Markup('<{0}{4} style="{2}padding:2pt 6pt;text-align:{3}">{1}</{0}>')
        sides = ["left" if name in self.texts else "right" for name in self.columns][: len(cells)]
        span = Markup(' colspan="{}"').format(len(self.columns)) if len(cells) == 1 else ""
        parts = [cell.format(tag, printable(text), border, side, span) for text, side in zip(cells, sides, strict=True)]
        return Markup("<tr>{}</tr>").format(Markup("").join(parts))


def as_latex(exported: ExportedRun) -> str:
    """Return the tables of each data set for LaTeX."""
    tables = [table.latex() for table in tables_of(exported)]
    return "\n".join(["% \\usepackage{array, booktabs, longtable} in the preamble\n", *tables])


def as_html(exported: ExportedRun) -> str:
    """Return the tables of each data set as a page to copy from."""
    tables = Markup("\n").join(table.html() for table in tables_of(exported))
    head = '<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Tables</title>\n'
    return f"{head}<body>\n{tables}</body>\n</html>\n"


def tables_of(exported: ExportedRun) -> Iterator[PaperTable]:
    """Return the table of features and, if models were scored, the table of scores of each data set."""
    for dataset in exported.datasets:
        yield _features(exported, dataset)
        scores = _scores(exported, dataset)
        if scores.rows:
            yield scores


def _features(exported: ExportedRun, dataset: str) -> PaperTable:
    run, selector = exported.run, exported.chosen(dataset)
    found = run.blanket(dataset, selector)
    n_folds = int(found["n_folds"].max()) if len(found) else 0
    columns = {"feature": list(found["feature"])}
    if n_folds > 1:
        columns["selected in"] = [f"{round(share * n_folds)} of {n_folds} folds" for share in found["frequency"]]
    columns["importance"] = [number(value) for value in found["importance"]]
    if set(found["role"]) - {"member"}:
        columns["role"] = [ROLES.get(role, (role,))[0] for role in found["role"]]
    if any(found["stand_ins"]):
        columns["stand-ins"] = [_INTERVAL.sub("", said) for said in found["stand_ins"]]
    n = count(run.cards[dataset]["n_features"], "feature")
    caption = f"{dataset}: {len(found)} of {n} selected by {selector}." if selector else f"{dataset}: no result."
    card = run.method_cards.get(run.selectors[selector]["method"]) if selector else None
    notes = [f"Importance: {card.means_by_importance}" if card and card.means_by_importance and len(found) else ""]
    notes[0] += "; the mean over the folds that chose the feature" if notes[0] and n_folds > 1 else ""
    if "stand-ins" in columns:
        notes.append("Stand-ins could replace the feature; the number is the share of its information that they keep")
    rows = list(zip(*columns.values(), strict=True))
    texts = ("feature", "selected in", "role", "stand-ins")
    note = " ".join(f"{said}." for said in notes if said)
    return PaperTable(f"features-{dataset}", caption, list(columns), rows, texts, note)


def _scores(exported: ExportedRun, dataset: str) -> PaperTable:
    """Return the scores of the set beside those of all features and of none, by model and leading metric."""
    run, selector = exported.run, exported.chosen(dataset)
    metrics = run.main_metrics(dataset)
    scores = run.scores(dataset).dropna(subset=["mean"])
    scores = scores[scores["metric"].isin(metrics) & scores["selector"].isin([selector, run.baseline, run.nothing])]
    rows: list[tuple[str, ...]] = []
    n_splits, sizes = 0, set()
    for metric in metrics:
        rows.append((metric_name(metric),))
        for model in dict.fromkeys(scores["model"]):
            of = {row.selector: row for row in run.rows(scores, metric=metric, model=model).itertuples()}
            if selector in of:
                own = of[selector]
                others = [_mean(of.get(name)) for name in (run.baseline, run.nothing)]
                rows.append((model, _mean(own), *others, _to_all(own)))
                n_splits, sizes = max(n_splits, int(own.n_splits)), sizes | {own.n_features}
        rows = rows if len(rows[-1]) > 1 else rows[:-1]
    caption = f"{dataset}: scores with the features selected by {selector}, with all and with none."
    note = f"Mean ± standard deviation over {count(n_splits, 'split')}, each on rows that its selection had not seen; "
    note += "difference with its 95 % interval. "
    note += f"Mean number of selected features: {plain([number(size, 1) for size in sorted(sizes)])}."
    columns = ["model", "selected", "all features", "no feature", "selected minus all"]
    return PaperTable(f"scores-{dataset}", caption, columns, rows, ("model",), note)


def _mean(row: pd.Series | None) -> str:
    return NONE if row is None else mean_sd(row.mean, row.sd)


def _to_all(own: pd.Series) -> str:
    return signed(own.difference) + interval(own.difference_low, own.difference_high, signed).replace(
        "95 % interval ", ""
    )
