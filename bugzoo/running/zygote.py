"""The warm process: it has imported torch and only forks a supervisor for each job.

It starts no thread and computes nothing with torch: after OpenMP threads have run in a process, its forks hang.
`warm.py` starts it as `python -m bugzoo.running.zygote FD`. FD is one end of a SOCK_SEQPACKET pair. Each message is
JSON {"folder", "cwd", "path", "relay", "after"} with one file descriptor, the job's channel. It ends when the other end
closes.
"""

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import traceback
import warnings
from functools import cache

from bugzoo.running.supervisor import supervise

IMPORTED = (
    "torchvision",
    "torchvision.transforms.v2",
    "sklearn.datasets",
    "sklearn.model_selection",
    "torch.distributed.launcher.api",
    "bugzoo.watching",
    "bugzoo.rerun.explain",
    "bugzoo.running.child",
)
"""Modules that every child has already imported."""


@cache
def prepare(after: str) -> None:
    """Import the function that a job calls after its script (module:function, only from bugzoo), for all children.

    If the module has a function `ready()`, it imports the modules that are needed later.
    """
    name = after.partition(":")[0]
    if name.split(".")[0] != "bugzoo":
        return
    with contextlib.suppress(Exception):  # the child reports the error
        getattr(importlib.import_module(name), "ready", lambda: None)()
    gc.freeze()


def serve(connection: socket.socket) -> None:
    """Fork a supervisor for each message until the parent is gone."""
    for name in IMPORTED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # so that forked children share the memory pages of imported modules
    # Python 3.12 warns of forks beside threads: NumPy's BLAS has started some, which end themselves at a fork
    warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
    parent = os.getppid()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # supervisors need no reaping
    while os.getppid() == parent:
        ready, _, _ = select.select([connection], [], [], 1.0)
        if not ready:
            continue
        message, handles, _, _ = socket.recv_fds(connection, 65536, 1)
        if not message:
            return
        request = json.loads(message)
        prepare(request.pop("after"))
        if os.fork() == 0:
            code = 1
            try:
                connection.close()
                with socket.socket(fileno=handles[0]) as channel:
                    supervise(channel, **request)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        for handle in handles:
            os.close(handle)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as door:
        serve(door)
    os._exit(0)  # nothing to clean up, and some libraries print errors at exit
