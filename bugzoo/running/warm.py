"""The caller's side of the warm process: start it once, send it jobs, stop it."""

import atexit
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

from bugzoo.machine import portable

_lock = threading.Lock()
_doors: dict[bool, "_Warm"] = {}


class _Warm:
    """One zygote process. `clean`: without the caller's environment, for other people's code."""

    def __init__(self, clean: bool) -> None:
        self.owner = os.getpid()
        self.door, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        environment = dict(os.environ)
        if clean:
            names = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "CUDA_VISIBLE_DEVICES")
            environment = {name: os.environ[name] for name in names if name in os.environ}
        # so that Python finds the same packages, even if bugzoo is only on the path
        root = str(Path(__file__).resolve().parents[2])
        environment["PYTHONPATH"] = os.pathsep.join([root, *filter(None, [environment.get("PYTHONPATH")])])
        environment["PYTHONUNBUFFERED"] = "1"
        environment["PYTHONIOENCODING"] = "utf-8:replace"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bugzoo.running.zygote", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,  # Ctrl-C in a terminal goes only to the caller, which then stops its jobs
        )
        theirs.close()

    def alive(self) -> bool:
        return self.owner == os.getpid() and self.process.poll() is None

    def close(self) -> None:
        self.door.close()
        if self.owner != os.getpid():
            return
        try:
            self.process.wait(3)
        except subprocess.TimeoutExpired:  # still importing
            self.process.kill()
            self.process.wait()


def warm_up(clean: bool = False) -> None:
    """Start the warm process now, so that the first job does not wait for imports (2 to 6 s)."""
    if portable():
        from bugzoo.running import portable as mode

        mode.warm_up()
    else:
        _door(clean)


def submit(folder: Path, cwd: str, relay: bool, clean: bool, after: str = "") -> socket.socket:
    """Start the job in `folder`, which calls `after`. Returns the channel to its supervisor."""
    ours, theirs = socket.socketpair()
    try:
        request = {"folder": str(folder), "cwd": cwd, "path": sys.path, "relay": relay, "after": after}
        message = json.dumps(request).encode()
        socket.send_fds(_door(clean).door, [message], [theirs.fileno()])
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return ours


def cool_down() -> None:
    """Stop the warm processes. Supervisors kill jobs that are still running."""
    with _lock:
        while _doors:
            _doors.popitem()[1].close()


def _door(clean: bool) -> _Warm:
    with _lock:
        if clean not in _doors or not _doors[clean].alive():
            if clean in _doors:
                with contextlib.suppress(OSError):
                    _doors.pop(clean).close()
            _doors[clean] = _Warm(clean)
        return _doors[clean]


atexit.register(cool_down)
