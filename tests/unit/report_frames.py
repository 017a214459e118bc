"""Small made-up frames of the shape that a finished run hands to compare and report."""

import numpy as np
import pandas as pd

from blanketflow.core.cards import Card
from blanketflow.data.findings import Finding
from blanketflow.reporting import plots
from blanketflow.reporting import tables as result_tables
from blanketflow.reporting.report import Run

HOSTILE = "<script>alert(1)</script>"
HOSTILE_FEATURE = '"></script><script>alert(2)</script><img src=x onerror=alert(3)>'
SPLITS = ("full", "cv-1", "cv-2", "cv-3", "cv-4", "cv-5")
FOLDS = ("1of5", "2of5", "3of5", "4of5", "5of5")
MODELS = ("tree", "svm", "knn")
METRICS = {"accuracy": 0.95, "log-loss": 0.2, "roc-auc": 0.97}
#: What the majority class scores.
PRIORS = {"accuracy": 0.627, "log-loss": 0.66, "roc-auc": 0.5}


def card(name, n_features, truth=None, **more):
    return {
        "name": name,
        "source": "made up",
        "n_rows": 569,
        "n_features": n_features,
        "kinds": {"numeric": n_features - 1, "categorical": 1},
        "task": "classification",
        "task_reason": f"target '{HOSTILE}' is categorical",
        "target": {"name": HOSTILE, "classes": {"benign": 357, HOSTILE: 212}},
        "n_groups": None,
        "notes": ["2 rows without a target were left out"],
        "missing": {"policy": "impute", "cells": 3, "columns": 1, "by_column": {HOSTILE: 3}},
        "constant": [],
        "duplicates": [{"kept": HOSTILE_FEATURE, "duplicate": "copy"}],
        "findings": [
            Finding("duplicate", (HOSTILE_FEATURE,), f"copy repeats {HOSTILE_FEATURE}", "Drop one.").as_dict()
        ],
        "truth": truth,
    } | more


def method_cards():
    return {
        "ppfs": Card(
            "ppfs", "PPFS", "causal", "Predictive permutation feature selection.",
            "Hassan et al. (2021), PPFS: predictive permutation feature selection. doi:10.48550/arXiv.2110.10713",
        ),
        "hiton-mb": Card(
            "hiton-mb", "HITON-MB", "causal", "Parents and children, then spouses.",
            "Aliferis et al. (2003), HITON. AMIA Annual Symposium Proceedings, 21-25.",
            guarantee="sound under faithfulness and correct tests", cost="O(d 2^max_k) tests",
        ),
        "all": Card("all", "All features", "reference", "Keeps every feature.", "none"),
        "ppi": Card("ppi", "PPI", "ci-test", "Permuted predictive importance.", "none", guarantee="not calibrated"),
        "g2": Card("g2", "G2", "ci-test", "Likelihood-ratio test.", "Agresti (2002)", guarantee="asymptotic"),
    }  # fmt: skip


def specs(selectors):
    ppi = {"type": "ppi", "n_repeats": 30, "model": "tree", "test_size": 0.2, "significance": "wilcoxon"}
    known = {
        "ppfs": {"method": "ppfs", "ci_test": ppi, "alpha": 0.05, "folds": 5, "aggregate": "best-blanket"},
        "all": {"method": "all", "folds": 0},
    }
    other = {"method": "hiton-mb", "ci_test": {"type": "g2", "bins": 5}, "alpha": 0.05, "max_k": 3, "folds": 5}
    return {name: known.get(name, other) for name in selectors}


def run(selectors=("ppfs", "hiton-mb", "all"), n_features=30, datasets=("breast-cancer", HOSTILE), models=MODELS):
    """Return the frames, cards and specs of a made-up run."""
    rng = np.random.default_rng(0)
    features = [HOSTILE_FEATURE, HOSTILE, *(f"feature number {j}" for j in range(2, n_features))]
    blankets, folds, members, evaluations = [], [], [], []
    for dataset in datasets:
        for at, selector in enumerate(selectors):
            size = n_features if selector == "all" else 3 + at % 12
            ids = ("0",) if selector == "all" else FOLDS
            for split in SPLITS:
                sets = {
                    fold: set(features) if selector == "all" else set(features[:2]) | set(rng.choice(features, size))
                    for fold in ids
                }
                winner = ids[min(2, len(ids) - 1)]
                for fold, chosen in sets.items():
                    key = {"dataset": dataset, "selector": selector, "split": split, "fold": fold}
                    cost = {"n_tests": 40 + at, "seconds": 0.5 + at}
                    folds.append(key | {"size": len(chosen), "z": 0.4, "chosen": fold == winner} | cost)
                    members += [key | {"feature": feature} for feature in sorted(chosen)]
                for feature in sorted(set().union(*sets.values())):
                    blankets.append(
                        {"dataset": dataset, "selector": selector, "split": split, "feature": feature}
                        | {"chosen": feature in sets[winner]}
                        | {"frequency": sum(feature in s for s in sets.values()) / len(ids)}
                        | {"importance": None if selector == "all" else float(rng.uniform(0.1, 9))}
                        | {"role": "member" if selector == "all" else str(rng.choice(["parent_or_child", "spouse"]))}
                        | {"stand_ins": [{"feature": HOSTILE, "share": 0.97, "low": 0.9, "high": 1.0}] * (at == 1)}
                    )
                if split == "full":
                    continue
                for model in models:
                    shift = rng.normal(0, 0.02) - 0.002 * at
                    for metric, centre in METRICS.items():
                        evaluations.append(
                            {"dataset": dataset, "selector": selector, "split": split, "model": model, "metric": metric}
                            | {"value": centre + shift + rng.normal(0, 0.01), "n_features": len(sets[winner])}
                            | {"prior": PRIORS[metric]}
                            | {"seconds": 0.2, "status": "ok", "reason": ""}
                        )
    outcomes = [{"dataset": datasets[0], "selector": selectors[0], "split": "cv-2", "stage": "shrink"}]
    outcomes[0] |= {"status": "timeout", "reason": f"stopped after 60 s {HOSTILE}"}
    skipped = [{"dataset": datasets[-1], "selector": "fisher", "reason": "fisher-z needs numeric features"}]
    truth = {"parents": features[:1], "children": features[1:2], "spouses": features[2:3], "blanket": features[:3]}
    return {
        "blankets": pd.DataFrame(blankets),
        "folds": pd.DataFrame(folds),
        "members": pd.DataFrame(members),
        "evaluations": pd.DataFrame(evaluations),
        "outcomes": pd.DataFrame(outcomes),
        "skipped": pd.DataFrame(skipped),
        "cards": {name: card(name, n_features, truth if i == 1 else None) for i, name in enumerate(datasets)},
        "selectors": specs(selectors),
        "method_cards": method_cards(),
        "provenance": {
            "blanketflow": "0.1.0",
            "python": "3.12.1",
            "packages": {"numpy": "2.1.0", "scikit-learn": "1.6.0"},
            "seed": 2026,
            "platform": "Linux x86-64",
            "config": "output: results\nseed: 2026\n",
        },
    }


def found(made):
    """Return what a made-up run found, as the functions of the result tables take it."""
    searches = made["folds"][["dataset", "selector", "split"]].drop_duplicates()
    ended = searches.assign(stage="select", status="ok", reason="", verdict="")
    return result_tables.Found(
        cards=made["cards"],
        blankets=made["blankets"],
        folds=made["folds"],
        evaluations=made["evaluations"],
        both_selections=made["evaluations"].assign(selected_on="training rows"),
        confirmed=pd.DataFrame(),
        ended=ended,
        skipped=[],
        selectors=made["selectors"],
        n_parts=5,
        scores=result_tables.scores(made["evaluations"], made["selectors"], 5),
        targets=made.get("targets", {}),
    )


def tables(made):
    """Return the result tables of a made-up run."""
    whole = found(made)
    return {name: table.make(whole) for name, table in result_tables.TABLES.items()}


def report_run(targets=None, **options):
    """Return a made-up `Run`."""
    made = run(**options) | ({"targets": targets} if targets else {})
    kept = {key: value for key, value in made.items() if key not in ("blankets", "evaluations")}
    return Run(tables=tables(made), **kept)


def drawn_as_svg(chart):
    """Return a chart as the text of an SVG element."""
    return plots.svg(plots.full_spec(chart))


def spec_on_page(chart):
    """Return the specification of a chart as a page holds it."""
    return plots.short_spec(plots.full_spec(chart))
