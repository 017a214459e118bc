"""The classes that a configured method, CI test or model is made of, in their files: where a code digest starts."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path

from ..core.parameters import Configurable
from ..core.registry import look_up
from ..counts.without_rows import source_of_engine
from .digest import Start


def source_of(found: type) -> Start:
    """Return the file of a class, and its name there."""
    return Path(inspect.getfile(found)), found.__name__


def sources_of_configured(configured: Configurable) -> list[Start]:
    """Return the sources of a method or test, and of what it finds by name: a model, a CI test, an engine on counts."""
    model = configured.options().get("model") if "model" in configured.parameters() else None
    name = model.get("type") if isinstance(model, Mapping) else model
    is_found = isinstance(name, str) and name not in getattr(configured, "own_models", ())
    found = [source_of(look_up("blanketflow.models", name, "model"))] if is_found else []
    test = configured.options().get("importance_test")
    found += [source_of(look_up("blanketflow.ci", test, "CI test"))] if isinstance(test, str) else []
    engine = source_of_engine(configured) if getattr(configured, "sums", "") else None
    return [source_of(type(configured)), *found, *([engine] if engine else [])]
