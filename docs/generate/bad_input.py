"""The page of bad input: what is reported, by kind, with an example of each from tests/bad_input.yaml."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .markdown import table

#: By the key that says how a case ends: what happens.
OUTCOMES = {
    "refused": "raise an error before any job starts",
    "fails": "make the job that reads the table fail",
    "warns": "are reported by `blanketflow inspect` and the report, and the run continues",
    "reads": "are accepted",
    "means": "are accepted",
}
#: What is accepted without a word.
_ACCEPTED = ("reads", "means")
#: By section, the kinds of input and the case that is the example of each.
KINDS: Mapping[str, Mapping[str, str]] = {
    "Files": {
        "missing paths, folders, pipes, devices, broken links": "a file that is not there",
        "empty files": "a header only",
        "wrong or unknown encodings": "UTF-8 with a damaged character",
        "other encodings than UTF-8": "Latin-1",
        "files of another kind: HTML, JSON, PDF, archives, pickles": "a pickle",
        "a wrong extension; the content decides": "a CSV file named .parquet",
        "workbooks": "a formula that was never calculated",
        "damaged or truncated files": "a gzip file that is cut off",
        "the same, found only when the whole file is read": "a large gzip file that is cut off",
        "column types that are not supported": "a Parquet column of lists",
        "incomplete matrices": "an .npz file with fewer targets than rows",
        "errors in svmlight, ARFF, C4.5, Orange, MATLAB and SPSS files": "an ARFF file with a label that is "
        "not declared",
    },
    "Web addresses and secrets": {
        "passwords and tokens in a URL": "an api-key in a URL",
        "invalid URLs": "a port that is not a number",
    },
    "Columns and cells": {
        "rows with too many or too few cells": "a row with more cells than the header",
        "titles, footers and comments": "comments above the header",
        "row names and index columns": "row numbers without a name, as pandas writes them",
        "separators and quotes": "a quote that is not closed",
        "column names that are missing, repeated or look alike": "a name twice",
        "rows and cells of excessive size": "a line of 150 MB",
        "texts that mark missing cells": "- for missing cells",
        "a class named like a missing cell": "a class called None",
        "numbers with text among them": "text in a column of numbers",
        "decimal commas and separators of thousands": "commas before three digits",
        "infinite values": "an infinite cell",
        "identifiers, free text, constant and duplicate columns": "row numbers",
        "codes with leading zeros": "postal codes",
    },
    "Target, features, weights and groups": {
        "unknown columns": "a target that is no column",
        "unusable targets": "a target with a text of its own in each row",
        "classes that are too small": "a class of one row",
        "missing values of the target": "a target that some rows lack",
        "suspected leakage": "a feature that is the target in other words",
        "weights": "sampling weights below zero",
        "groups": "fewer groups than folds",
        "test rows": "all rows as test rows",
        "digests that do not match": "another file than sha256 states",
    },
    "Configuration": {
        "unknown keys": "an unknown key of a data set",
        "missing or contradictory keys": "both a source and a path",
        "values of the wrong type or out of range": "a negative seed",
        "invalid ids": "an id with a slash",
        "unsuitable output folders": "the folder of git as output",
        "aggregation rules and metrics": "a metric twice",
    },
    "YAML": {
        "syntax errors": "a bracket that is not closed",
        "repeated keys": "a key twice",
        "values that YAML reads as something else": "a time of minutes and seconds",
        "tags and documents of unbounded size": "a tag that would run code",
        "other valid forms": "a config in JSON",
    },
    "Splits and folds": {
        "numbers of folds": "more folds than rows",
        "classes too small for the folds": "a class smaller than the folds",
        "further result tables": "a further table without a class",
    },
    "Selectors, tests and models": {
        "unknown ids and options": "an unknown option",
        "option values out of range": "an alpha above 1",
        "a CI test that does not suit the method": "a CI test that does not measure what the method needs",
        "missing truth": "an oracle where the truth is not known",
        "plug-ins that cannot be loaded": "a plug-in whose class is not there",
        "incomplete plug-ins": "a method that is not complete",
    },
}


def bad_input_page(path: Path) -> str:
    """Return the page.

    Parameters
    ----------
    path : path
        tests/bad_input.yaml, which explains the form of a case.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C it takes a tenth of the time
    sections = yaml.load(path.read_text(encoding="utf-8"), loader)["sections"]  # noqa: S506 - either is safe
    ends = Counter(OUTCOMES[_end(case)] for section in sections for case in section["cases"])
    parts = [
        "# Bad input",
        "Bad input leads to one message that names the data set, the column or the key, and says what to do. This page "
        f"shows an example of each kind of input. `tests/bad_input.yaml` lists all {ends.total()} cases with their "
        "messages, and a test checks each of them: " + "; ".join(f"{n} {end}" for end, n in ends.most_common()) + ".",
        "In the examples the data set is called `study`, its target `outcome` and the selector `mine`. "
        "[The study of faults](../studies/faults/README.md#bad-input) describes how further cases are searched for.",
    ]
    for section in sections:
        cases = {case["case"]: case for case in section["cases"]}
        rows = [(kind, _outcome(cases[name])) for kind, name in KINDS[section["title"]].items()]
        parts += [f"## {section['title']}", table(["input", "what happens, for example"], rows)]
    return "\n\n".join(parts) + "\n"


def _end(case: Mapping[str, Any]) -> str:
    (key,) = set(OUTCOMES) & set(case)
    return key


def _outcome(case: Mapping[str, Any]) -> str:
    """Return how a case ends, with its message or, of accepted input, with how it is read."""
    key = _end(case)
    how = {"fails": "The job fails: ", "warns": "A finding: "}.get(key, "")
    if key not in _ACCEPTED:
        return f"{how}{_code(case[key])}"
    return f"Accepted: {case['case']}. {case.get('why', '')}".strip()


def _code(text: str) -> str:
    """Return text as code, whatever backticks it holds."""
    fence = "``" if "`" in text else "`"
    return f"{fence} {text} {fence}" if len(fence) > 1 else f"`{text}`"
