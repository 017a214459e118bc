# Two faults of Snakemake's scheduler (seen in 9.27), mended for the run that loads this workflow.
#
# inputs:  none
# outputs: none
#
# It wakes itself by a timer after each round, and the timer's round starts the next timer. So every job that ended
# left one more that rings each second until the run is over: a thread a job. One that waits is enough.
#
# Its handler of SIGTERM takes a lock that the interrupted code may hold, and then the run hangs. Told by a thread of
# its own, it waits for that lock like anybody else.

import threading

from snakemake.scheduling.job_scheduler import JobScheduler


def wake_once(scheduler, seconds):
    """Have the scheduler look again in some seconds, unless it will already."""
    waiting = vars(scheduler).setdefault("waiting_timers", set())

    def wake():
        waiting.discard(seconds)
        scheduler._open_jobs.release()

    if seconds not in waiting:
        waiting.add(seconds)
        timer = threading.Timer(seconds, wake)
        timer.daemon = True  # the end of a run need not wait for it
        timer.start()


def stop_by_thread(scheduler, *_):
    """Let the jobs that run end, and start no others."""
    scheduler._user_kill = "graceful"
    threading.Thread(target=scheduler._open_jobs.release, daemon=True).start()


JobScheduler._schedule_reevalutation = wake_once
JobScheduler.exit_gracefully = stop_by_thread
