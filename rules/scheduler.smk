# Mends three faults of Snakemake's scheduler, in the versions that are known to have them (9.27, the latest one in
# November 2026). They are in private methods, and no plug-in or option reaches all: a scheduler plug-in only chooses
# jobs, and `onstart` does not run in a workflow that is used as a module. Other versions are left alone;
# tests/workflow/test_scheduler.py then says whether they still have the faults.
#
# inputs:  none
# outputs: none
#
# 1. The scheduler wakes itself by a timer after each round, and the timer's round starts the next timer. So every job
#    that ended left one more thread that rings each second until the run is over. One timer that waits is enough.
# 2. Its handler of SIGTERM takes a lock that the interrupted code may hold, and then the run hangs. A thread of its own
#    can wait for that lock.
# 3. When a job has ended it reads each of its inputs once for each of its outputs, to note their checksums. A job of
#    several selectors has a hundred inputs and some hundred outputs. Files that are the same one are read once.

import os
import snakemake
import threading

from snakemake.io import _IOFile
from snakemake.scheduling.job_scheduler import JobScheduler


def wake_once(scheduler, seconds):
    """Have the scheduler look again in some seconds, unless a timer for that is already waiting."""
    waiting = vars(scheduler).setdefault("waiting_timers", set())

    def wake():
        waiting.discard(seconds)
        scheduler._open_jobs.release()

    if seconds not in waiting:
        waiting.add(seconds)
        timer = threading.Timer(seconds, wake)
        timer.daemon = True  # the run may end before it rings
        timer.start()


def stop_by_thread(scheduler, *_):
    """Let the running jobs end, and start no others."""
    scheduler._user_kill = "graceful"
    threading.Thread(target=scheduler._open_jobs.release, daemon=True).start()


async def checksum_once(file, *asked, known={}, compute=_IOFile.checksum, **options):
    """The checksum of a file that was not written since it was computed last, without reading it again."""
    try:
        stat = None if file.is_storage else os.stat(file)
    except OSError:  # Snakemake says what is not there
        stat = None
    if stat is None:
        return await compute(file, *asked, **options)
    written = stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns
    key = (str(file), asked, *sorted(options.items()))
    if known.get(key, ("",))[0] != written:
        known[key] = written, await compute(file, *asked, **options)
    return known[key][1]


if snakemake.__version__.startswith("9.27."):
    _IOFile.checksum = checksum_once
    JobScheduler._schedule_reevalutation = wake_once
    JobScheduler.exit_gracefully = stop_by_thread
