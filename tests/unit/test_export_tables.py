"""The tables for papers: their cells, names of any kind as text, and LaTeX that compiles where there is one."""

import dataclasses
import re
import shutil
import subprocess

import pandas as pd
import pytest

from blanketflow.reporting.export import OF_RUN, ExportedRun
from report_frames import HOSTILE, HOSTILE_FEATURE, report_run

NAN = float("nan")
STAND_IN = "x_7 0.93 (0.86 to 0.97)"


def of_frames(blankets, scores, **more):
    """A made-up run with these tables; PPFS is among its cards, and its folds are five."""
    run = report_run(selectors=("ppfs", "all"), datasets=("breast-cancer",), **more)
    frames = {}
    for name, rows in {"blankets": blankets, "scores": scores}.items():
        known = run.tables[name]
        frames[name] = pd.DataFrame(
            [{**dict.fromkeys(known.columns), "dataset": "breast-cancer", **row} for row in rows]
        )
    run = dataclasses.replace(run, tables={**run.tables, **frames})
    return ExportedRun(run, ["breast-cancer"], "ppfs")


@pytest.fixture(scope="module")
def small():
    ppfs = {"selector": "ppfs", "n_folds": 5}
    score = {"metric": "accuracy", "model": "tree", "n_splits": 5}
    return of_frames(
        [
            ppfs | {"feature": "x_1", "importance": 3.14159, "frequency": 1.0, "role": "parent", "stand_ins": STAND_IN},
            ppfs | {"feature": "50 %", "importance": 0.5, "frequency": 0.6, "role": "spouse", "stand_ins": ""},
        ],
        [
            score | {"selector": "ppfs", "mean": 0.9, "sd": 0.01, "n_features": 2.2}
            | {"difference": -0.0123, "difference_low": -0.03, "difference_high": 0.005},
            score | {"selector": "all", "mean": 0.9123, "sd": 0.02, "n_features": 30.0},
        ],
    )  # fmt: skip


#: Written by hand from the numbers above.
LATEX = r"""% \usepackage{array, booktabs, longtable} in the preamble

\begin{table}
\centering\footnotesize\setlength{\tabcolsep}{4pt}
\caption{breast-cancer: 2 of 30 features selected by ppfs.}
\label{tab:features-breast-cancer}
\begin{tabular}{llrll}
\toprule
feature & selected in & importance & role & stand-ins \\
\midrule
x\_1 & 5 of 5 folds & 3.142 & parent & x\_7 0.93 \\
50 \% & 3 of 5 folds & 0.500 & spouse &  \\
\bottomrule
\end{tabular}

\medskip\noindent\small Importance: ln(1/p) of the test that admitted it, in nats: 3.0 for p = 0.05, 6.9 for p = 0.001; the mean over the folds that chose the feature. Stand-ins could replace the feature; the number is the share of its information that they keep.
\end{table}

\begin{table}
\centering\footnotesize\setlength{\tabcolsep}{4pt}
\caption{breast-cancer: scores with the features selected by ppfs, with all and with none.}
\label{tab:scores-breast-cancer}
\begin{tabular}{lrrrr}
\toprule
model & selected & all features & no feature & selected minus all \\
\midrule
\multicolumn{5}{l}{\emph{accuracy}} \\
tree & 0.900 $\pm$ 0.010 & 0.912 $\pm$ 0.020 & -- & $-$0.012 ($-$0.030 to +0.005) \\
\bottomrule
\end{tabular}

\medskip\noindent\small Mean $\pm$ standard deviation over 5 splits, each on rows that its selection had not seen; difference with its 95 \% interval. Mean number of selected features: 2.2.
\end{table}
"""  # noqa: E501


def test_the_tables_in_latex(small):
    assert OF_RUN["latex"](small) == LATEX


def test_the_tables_for_word_processors(small):
    page = OF_RUN["html"](small)
    features, scores = [
        [re.findall(r"<t[hd] [^>]*>(.*?)</t[hd]>", row) for row in re.findall("<tr>(.*?)</tr>", table)]
        for table in re.findall("<table.*?</table>", page, re.DOTALL)
    ]
    assert features[0] == ["feature", "selected in", "importance", "role", "stand-ins"]
    assert features[1:] == [
        ["x_1", "5 of 5 folds", "3.142", "parent", "x_7 0.93"],
        ["50 %", "3 of 5 folds", "0.500", "spouse", ""],
    ]
    difference = "-0.012 (-0.030 to +0.005)".replace("-", "\N{MINUS SIGN}")
    assert scores[1] == ["accuracy"] and page.count(' colspan="5"') == 1
    assert scores[2] == ["tree", "0.900 ± 0.010", "0.912 ± 0.020", "\N{EN DASH}", difference]


def cells_of(latex):
    """The number of cells of each row of a LaTeX table but titles, by table."""
    bodies = re.findall(r"\\toprule\n(.*?)\\bottomrule", latex, re.DOTALL)
    rows = [[row for row in body.split(r" \\")[:-1] if r"\multicolumn" not in row] for body in bodies]
    return [{len(re.findall(r"(?<!\\)&", row)) + 1 for row in of} for of in rows]


def test_names_of_any_kind_are_text():
    run = report_run()
    exported = ExportedRun(run, [*run.cards])
    latex, html = OF_RUN["latex"](exported), OF_RUN["html"](exported)
    assert "<script" not in html and "<img" not in html and "&lt;script&gt;" in html
    assert HOSTILE not in latex and r"\textless{}script\textgreater{}alert(1)" in latex
    assert HOSTILE_FEATURE not in html + latex
    assert all(len(n_cells) == 1 for n_cells in cells_of(latex)) and len(cells_of(latex)) == 4
    assert latex.count(r"\begin{") == latex.count(r"\end{")


def test_a_table_beyond_a_page_is_broken():
    run = report_run(n_features=60)
    latex = OF_RUN["latex"](ExportedRun(run, ["breast-cancer"], "all"))
    assert r"p{.33\linewidth}r}" in latex and r"\endhead" in latex and latex.count("feature number") == 58


def test_a_run_without_scores_has_no_table_of_scores(small):
    without = of_frames(small.run.tables["blankets"].to_dict("records"), [])
    without = dataclasses.replace(
        without,
        run=dataclasses.replace(without.run, tables={**without.run.tables, "scores": small.run.tables["scores"][:0]}),
    )
    assert OF_RUN["latex"](without).count(r"\begin{table}") == 1


def compiled(tables, folder):
    preamble = r"\documentclass{article}\usepackage{array,booktabs,longtable}\begin{document}"
    (folder / "t.tex").write_text(f"{preamble}\n{tables}\\end{{document}}\n", encoding="utf-8")
    call = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    return subprocess.run(call, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex")
@pytest.mark.parametrize("n_features", [30, 60])
def test_latex_compiles(n_features, tmp_path):
    run = report_run(n_features=n_features)
    tables = OF_RUN["latex"](ExportedRun(run, [*run.cards], "all"))
    done = compiled(tables, tmp_path)
    assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex")
def test_no_table_is_wider_than_the_page(small, tmp_path):
    blankets, scores = (small.run.tables[name].to_dict("records") for name in ("blankets", "scores"))
    near = ", ".join(f"mean concave points {at} 0.93 (0.86 to 0.97)" for at in range(6))
    blankets = [row | {"feature": "worst concave points", "stand_ins": near} for row in blankets]
    tables = OF_RUN["latex"](of_frames(blankets, [row | {"model": "naive-bayes"} for row in scores]))
    done = compiled(tables, tmp_path)
    assert "Overfull" not in done.stdout, done.stdout[-2000:]
