"""The files of this package that a configured method, CI test or model is made of: where a code digest starts."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path

from ..core.parameters import Configurable
from ..core.registry import look_up


def file_of(found: type) -> Path:
    """Return the file of a class."""
    return Path(inspect.getfile(found))


def files_of_configured(configured: Configurable) -> list[Path]:
    """Return the files of a method or test, and of the model and the CI test that it finds by name."""
    model = configured.options().get("model") if "model" in configured.parameters() else None
    name = model.get("type") if isinstance(model, Mapping) else model
    is_found = isinstance(name, str) and name not in getattr(configured, "own_models", ())
    found_files = [file_of(look_up("blanketflow.models", name, "model"))] if is_found else []
    test = configured.options().get("importance_test")
    found_files += [file_of(look_up("blanketflow.ci", test, "CI test"))] if isinstance(test, str) else []
    return [file_of(type(configured)), *found_files]
