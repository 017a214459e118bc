"""The command line: ``blanketflow inspect``, ``init``, ``select``, ``compare``, ``run``, ``export``, ``list``...

There is one file per command. Everything that is printed goes through `terminal`. Packages that are slow to import
are imported inside the commands that use them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

#: Exit codes. `run` passes Snakemake's on.
DONE, FAILED, WRONG_USAGE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 done, 1 failed, 2 wrong usage."""
    from ..core.counted_warnings import warnings_told
    from ..core.errors import BlanketflowError
    from ..core.folders import OF_THE_DISK, not_written
    from ..workflow.jobs import fewer_collections
    from .app import make_app
    from .terminal import complain, complain_of, note, show_anything

    show_anything()
    try:
        with fewer_collections(), warnings_told(note):
            make_app()(args=[*(sys.argv[1:] if arguments is None else arguments)], prog_name="blanketflow")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else (DONE if ended.code is None else FAILED)
    except BlanketflowError as error:
        complain_of(error)
        return FAILED
    except OSError as error:
        if error.errno not in OF_THE_DISK:
            raise
        complain(str(not_written(error.filename or "a file", error)))
        return FAILED
    except MemoryError as error:
        complain(f"there is not enough memory ({error}). Use fewer rows, columns or repeats, or a larger machine.")
        return FAILED
    except KeyboardInterrupt:
        complain("stopped.")
        return 128 + 2  # the exit code that a shell reports for a command ended by SIGINT
    return DONE
