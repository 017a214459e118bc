"""A table whose names and labels attack whatever shows, writes or runs them; a method that fails with such words."""

import csv
from pathlib import Path

#: Markup, the end of a script, a URL that runs, a template, a formula, a shell, a path, a terminal, what is not shown.
NAMES = [
    "<script>alert('name')</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><svg onload=alert(2)>",
    "<!--<script>",
    "javascript:alert(3)",
    "{{7*7}}${7*7}{% raw %}",
    "datum.x ? alert(4) : window",
    "=cmd|' /C calc'!A0",
    "$(touch ran); `touch ran` | touch ran",
    "../../../outside",
    "{dataset} {wildcards} %s %(x)s",
    "a\x1b[2J\x1b]0;title\x07b",
    "gnp.\u202edetrever",
    "[red]rich[/red] \\[bold]",
    "__proto__",
    "a\u2028line\u2029ends",
    "&lt;b&gt; &amp;",
    "style=position:fixed;inset:0",
]
TARGET = "<b onmouseover=alert(5)>outcome</b>"
LABELS = ["<i>ill</i>\"'", "</title><script>alert(6)</script>"]
WORDS = "<img src='http://127.0.0.1:9/x' onerror=alert(7)>\x1b[31m</script>"

PLUG_IN = f'''
from blanketflow.core.cards import Card
from blanketflow.core.errors import DataError
from blanketflow.selectors.base import Method


class Fails(Method):
    """Fails with words that are markup."""

    card = Card(id="fails", name={WORDS!r}, family="filter", summary={WORDS!r}, reference={WORDS!r})
    default_test = None

    def grow(self, problem):
        raise DataError({WORDS!r})

    def shrink(self, problem, candidates):
        return candidates
'''


def write(folder: Path) -> None:
    """Write study.csv, my.yaml and my_method.py."""
    rows = [[(i * (j + 3) + i // 7) % 11 for j in range(len(NAMES))] + [LABELS[i % 11 > 4]] for i in range(110)]
    with open(folder / "study.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([[*NAMES, TARGET], *rows])
    (folder / "my_method.py").write_text(PLUG_IN, encoding="utf-8")
    (folder / "my.yaml").write_text(
        f"datasets: {{study: {{path: study.csv, target: {TARGET!r}}}}}\n"
        "selectors:\n"
        "  mine: {method: mrmr, n_features: 18}\n"
        "  fails: {method: 'my_method:Fails'}\n"
        "models: [naive-bayes]\n"
        "splits: {evaluation: 2}\n"
        "folds: 2\n"
        "grain: dataset\n",
        encoding="utf-8",
    )
