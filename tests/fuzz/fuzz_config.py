"""Target: the configuration, from the text of a file to the plan with all that rules ask of it."""

import json
import os
import tempfile
from pathlib import Path

import yaml
from oracle import bounded, refused_or

from blanketflow.config import keys as config_keys
from blanketflow.config import reading as config
from blanketflow.config.identifiers import IDENTIFIER
from blanketflow.core.formats import FORMATS
from blanketflow.workflow import plan
from blanketflow.workflow.specs import canonical_json

#: Data sets that the plan looks at here; a source of another kind could be a file or a server of this machine.
KNOWN = ("sklearn:", "simulate:")
BASIC = """
output: results
seed: 7
datasets:
  wine: {source: "sklearn:wine", drop: [], missing: drop}
  clinic: {source: "simulate:clinic", rows: 60, categorical: []}
splits: {evaluation: 3, repeats: 2, final: true, stratify: false}
folds: 0
fold_rows: part
ci_tests:
  quick: {type: ppi, n_repeats: 5, model: tree}
  g2: {type: g2, bins: 3, dof: nominal}
selectors:
  ppfs: {method: ppfs, ci_test: quick, alpha: 0.05}
  hiton: {method: hiton-mb, ci_test: g2, max_k: 2, folds: 2, aggregate: {frequency: 0.6}, grain: fold}
  jmi: {method: jmi, n_features: [1, 2], time_limit: 5.5}
aggregate: union
models: [tree]
metrics: auto
grain: auto
job_seconds: 5
"""
SMALL = "datasets: {a: {source: 'sklearn:wine'}}\nselectors: {b: {method: fcbf}}\n"
AS_JSON = (
    '{"datasets": {"a": {"source": "simulate:clinic", "rows": 50, "test_rows": 10}}, "splits": {"evaluation": 1}, '
    '"ci_tests": {"h": {"type": "hsic", "null": "gamma"}}, "selectors": {"b": {"method": "hsmb", "ci_test": "h"}}, '
    '"chunks": 2, "metrics": ["accuracy"]}'
)


def one_input(data: bytes) -> None:
    """Load a config as Snakemake does, and plan it."""
    plan_or_refuse(_loaded(data))


def plan_or_refuse(raw: object) -> None:
    """Plan what a config file holds, and ask the plan for all that the rules do; or see it refused."""
    with tempfile.TemporaryDirectory() as folder, bounded():
        os.environ["BLANKETFLOW_CACHE"] = folder
        read = refused_or(lambda: config.read_config(raw))
        if read is None or not all(str(spec["source"]).startswith(KNOWN) for spec in read.datasets.values()):
            return
        for section in (read.datasets, read.selectors, read.ci_tests):
            assert all(IDENTIFIER.fullmatch(name) for name in section), "an id that is none"
        made = refused_or(lambda: plan.make_plan(raw, lambda name: Path(__file__)))
        if made is not None:
            _ask(made)


def _loaded(data: bytes) -> object:
    """Return what Snakemake makes of a file: JSON if it is that, else YAML; None where it has its own message."""
    try:
        text = data.decode()
        try:
            return json.loads(text)
        except ValueError:
            return yaml.load(text, yaml.FullLoader)
    except Exception:
        return None


def _ask(made: plan.Plan) -> None:
    """Ask the plan for what the rules ask of it; each spec must be canonical JSON."""
    assert made.pairs
    grains = made.grains
    specs = [made.report_spec()]
    for dataset in made.config.datasets:
        assert made.splits(dataset)
        specs += [
            made.evaluate_spec(dataset),
            made.table_spec(dataset),
            made.splits_spec(made.numbers_of_folds(dataset)),
        ]
    for dataset, selector in made.pairs:
        specs += [made.method_spec(dataset, selector), made.aggregate_spec(dataset, selector)]
        assert made.folds(selector) and grains.of_selector(dataset, selector)
        made.code("grow", dataset=dataset, selector=selector)
        if test := made.test_id(dataset, selector):
            specs.append(made.test_spec(dataset, test))
            assert grains.of_test(dataset, test) and grains.chunks(dataset, test)
    for grain in ("split", "dataset"):
        assert {*grains.searched_folds(grain), *grains.tested_folds(grain)} <= {*range(1_000)}
    for spec in specs:
        assert canonical_json(json.loads(spec)) == spec, "a spec that is not canonical"


def seeds() -> dict[str, bytes]:
    """Return small good configs."""
    return {"basic": BASIC.encode(), "small": SMALL.encode(), "json": AS_JSON.encode()}


def words() -> set[str]:
    """Return what a mutation may insert: every key and id, and what YAML reads in its own way."""
    from blanketflow.core.metrics import METRICS
    from blanketflow.core.registry import discover

    keys = {*config_keys.TOP, *config_keys.DATASET, *config_keys.SPLITS, *config_keys.SELECTOR, *FORMATS, *METRICS}
    for package in ("blanketflow.ci", "blanketflow.selectors", "blanketflow.models"):
        for identifier, found in discover(package).items():
            keys |= {identifier, *found.parameters()}
    return keys | {
        "null", "~", "true", "no", ".nan", ".inf", "-.inf", "1e309", "0x10", "2001-01-01", "!!binary aGk=", "&a", "*a",
        "<<: *a", "!!set {a}", "? ", "[]", "{}", "99999999999999999999", "-1", "1e-400", "!!python/tuple [1, 2]",
        "\\u0000",
        "frequency", "intersection", "sklearn:iris", "simulate:", "rows: ", "evaluation: ", "method: ", "type: ",
    }  # fmt: skip
