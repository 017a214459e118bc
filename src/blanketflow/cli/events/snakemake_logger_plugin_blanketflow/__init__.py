"""Writes Snakemake's events to a file as JSON lines, for the progress display of ``blanketflow run``.

Snakemake finds logger plug-ins by name on the import path, to which ``blanketflow run`` adds this folder.
"""

import json
import time
from dataclasses import dataclass, field
from logging import LogRecord

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase

#: The fields of an event that are written.
FIELDS = ("jobid", "job_id", "jobs", "rule_name", "wildcards", "log", "stats", "cores", "nodes", "exception")


@dataclass
class LogHandlerSettings(LogHandlerSettingsBase):
    """Options of the plug-in."""

    path: str = field(default="", metadata={"help": "File that events are written to.", "required": True})


class LogHandler(LogHandlerBase):
    """Writes one line per event, without delay."""

    writes_to_stream = False
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        """Open the file."""
        self._file = open(self.settings.path, "a", encoding="utf-8", buffering=1)  # noqa: SIM115

    def emit(self, record: LogRecord) -> None:
        """Write one event."""
        event = getattr(record, "event", None)
        if event is None:
            return
        known = {name: getattr(record, name) for name in FIELDS if getattr(record, name, None) is not None}
        if str(known.get("rule_name", "")).startswith("several_"):  # its name does not say what it does
            known["output"] = getattr(record, "output", ())
        line = {"event": str(event), "time": time.monotonic(), "message": record.getMessage(), **known}
        self._file.write(json.dumps(line, default=_plain) + "\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


def _plain(value: object) -> object:
    return dict(value) if hasattr(value, "items") else list(value) if hasattr(value, "__iter__") else str(value)
