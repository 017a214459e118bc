# Fixes three faults of Snakemake's scheduler in the versions known to have them. They are in private methods that no
# plug-in or option reaches: a scheduler plug-in only chooses jobs, and `onstart` does not run in a workflow used as a
# module. Other versions are not changed; tests/workflow/test_scheduler.py checks whether they have the faults.
#
# inputs:  none
# outputs: none
#
# 1. The scheduler starts a timer after each round, whose round starts the next timer, so that every ended job leaves a
#    thread that fires each second until the run ends. One waiting timer is enough.
# 2. Its SIGTERM handler takes a lock that the interrupted code may hold, and the run hangs. A separate thread can wait
#    for that lock.
# 3. After a job it reads each input once per output for the checksums. A job of several selectors has a hundred inputs
#    and hundreds of outputs. Here each file is read once.

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
        timer.daemon = True  # the run may end before it fires
        timer.start()


def stop_by_thread(scheduler, *_):
    """Let the running jobs end, and start no others."""
    scheduler._user_kill = "graceful"
    threading.Thread(target=scheduler._open_jobs.release, daemon=True).start()


async def checksum_once(file, *asked, known={}, compute=_IOFile.checksum, **options):
    """The checksum of a file that was not written since it was computed last, without reading it again."""
    try:
        stat = None if file.is_storage else os.stat(file)
    except OSError:  # Snakemake reports missing files
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
