"""Source files of configured methods, CI tests, models and readers: the starting points of code digests."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.formats import find_format
from ..core.parameters import Configurable
from ..core.registry import look_up
from ..counts.without_rows import source_of_engine
from ..data.column_roles import kind_of_target
from .digest import Start

if TYPE_CHECKING:
    from ..data.sources import Source


def source_of(found: type) -> Start:
    """Return the file of a class, and its name there."""
    return Path(inspect.getfile(found)), found.__name__


def sources_of_configured(configured: Configurable) -> list[Start]:
    """Return the sources of a method or test and of the models, CI tests and engines that it names."""
    model = configured.options().get("model") if "model" in configured.parameters() else None
    name = model.get("type") if isinstance(model, Mapping) else model
    is_found = isinstance(name, str) and name not in getattr(configured, "own_models", ())
    found = [source_of(look_up("blanketflow.models", name, "model"))] if is_found else []
    test = configured.options().get("importance_test")
    found += [source_of(look_up("blanketflow.ci", test, "CI test"))] if isinstance(test, str) else []
    engine = source_of_engine(configured) if getattr(configured, "sums", "") else None
    return [source_of(type(configured)), *found, *([engine] if engine else [])]


def kind_of(spec: Mapping[str, Any]) -> list[Start]:
    """Return the source of the further kind of target that a data set's spec declares."""
    kind = kind_of_target(spec)
    return [source_of(look_up("blanketflow.targets", kind, "kind of target"))] if kind else []


def reader_of(source: Source) -> list[Path]:
    """Return the file of the reader of a source's format, if it has one."""
    return [find_format(source.kind).file] if source.is_file else []
