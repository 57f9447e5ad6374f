"""The warm process: it has imported torch and does nothing but fork a supervisor for each job.

It starts no thread and computes nothing with torch, because a fork of a process whose OpenMP threads have run hangs.
Started by `warm.py` as `python -m bugzoo.running.zygote FD`, FD being one end of a SOCK_SEQPACKET pair. Each message is
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
from functools import cache

from bugzoo.running.supervisor import supervise

IMPORTED = (
    "torchvision",
    "sklearn.datasets",
    "torch.distributed.launcher.api",
    "bugzoo.watching",
    "bugzoo.rerun.explain",
    "bugzoo.running.child",
)
"""What every child has without waiting."""


@cache
def prepare(after: str) -> None:
    """Import what a job calls when its script is over (module:function, of bugzoo alone), so that no child has to.

    A module's own `ready()`, where it has one, imports what it looks up later.
    """
    name = after.partition(":")[0]
    if name.split(".")[0] != "bugzoo":
        return
    with contextlib.suppress(Exception):  # the child tells what is wrong with it
        getattr(importlib.import_module(name), "ready", lambda: None)()
    gc.freeze()


def serve(connection: socket.socket) -> None:
    """Fork for each message until the parent is gone."""
    for name in IMPORTED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # forked children then leave the pages of imported modules alone
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
    os._exit(0)  # nothing to tidy up, and some libraries complain on the way out
