"""Generated files are in step with the declarations, and the example configs fit the schema."""

from pathlib import Path

import jsonschema
import pytest
import yaml

from blanketflow.config import schema
from blanketflow.config.keys import SELECTOR, SPLITS, TOP
from blanketflow.config.reading import read_config

REPO = Path(__file__).parents[2]
VALIDATOR = jsonschema.Draft202012Validator(schema.json_schema())
CONFIGS = [REPO / "config.yaml", *sorted((REPO / "config").rglob("*.yaml"))]


def test_committed_schema_and_docs_are_what_the_declarations_say():
    advice = "run `make docs` and commit the result"
    assert (REPO / "config" / "schema.json").read_text(encoding="utf-8") == schema.schema_text(), advice
    assert (REPO / "docs" / "config.md").read_text(encoding="utf-8") == schema.docs_text(), advice


@pytest.mark.parametrize("path", CONFIGS, ids=lambda p: p.name)
def test_example_configs_are_valid_by_schema_and_by_the_reader(path):
    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    VALIDATOR.validate(raw)
    read_config(raw)


def test_the_schema_refuses_what_the_reader_refuses():
    raw = {"datasets": {"a": {"source": "sklearn:wine"}}, "selectors": {"p": {"method": "ppfs", "alpha": 2}}}
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(raw)


def test_the_schema_is_one():
    VALIDATOR.check_schema(VALIDATOR.schema)


def test_the_worked_example_explains_every_key():
    text = (REPO / "config.yaml").read_text(encoding="utf-8")
    for key in (*TOP, *SPLITS, "method", "ci_test"):
        assert f"{key}:" in text, key
    assert set(SELECTOR) >= {"folds", "fold_rows", "aggregate"}
