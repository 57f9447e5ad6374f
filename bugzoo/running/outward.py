"""Record what a script writes, connects to and starts, and block connections and programs after its last statement.

Python's audit events report, from the first line on, files opened for writing, removed or renamed, connections and
started programs, in the script's process and in its loader workers. After the last statement bugzoo re-runs parts of
the script. So `close_up` closes its connections and blocks new ones: no request is sent a second time.
"""

import contextlib
import fcntl
import multiprocessing.process
import os
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from bugzoo.machine import portable
from bugzoo.running.writes import NOTES, read

_CHANGING = {
    "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown",
    "shutil.rmtree", "shutil.move", "sqlite3.connect", "tempfile.mkdtemp", "tempfile.mkstemp",
}  # fmt: skip
_STARTING = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn", "os.startfile"}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_OWN = ("/dev/", "/proc/", "/sys/")
_WORKERS = ("/pymp-", "/torch-shm-")
"""Temporary folders that loader workers of multiprocessing and torch use to pass tensors."""
_MOST = 5000
"""How many files in the script's folders are compared by time."""


class Outward:
    """Records a script's effects outside, in its process, from before its first line. `alone`: it has no other ranks."""

    def __init__(self, folder: Path, alone: bool, *places: str) -> None:
        self.folder, self.alone = folder, alone
        self.own = (*_OWN, str(folder), "pipe:", "socket:")
        self.notes = os.open(folder / NOTES, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self.said: set[str] = set()
        self.closed = ""
        """Why connections and programs are blocked. "" while they are allowed."""
        self.places = [Path(place) for place in places]
        self.before = self._stamps()
        tempfile.gettempdir()  # the first call in a process writes a file there to try the folder: not the script's doing
        sys.addaudithook(self._heard)
        _note_archives(self)

    def note(self, kind: str, what: object) -> None:
        """Record the first event of a kind. A forked worker records its own."""
        if kind not in self.said:
            self.said.add(kind)
            with contextlib.suppress(OSError, ValueError):
                os.write(self.notes, f"{kind} {_one_line(what)}\n".encode(errors="replace"))

    def _heard(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = args
            if isinstance(flags, int) and flags & _WRITING and isinstance(path, str | bytes | os.PathLike):
                self._wrote(path)
        elif event in _CHANGING:
            self._wrote(args[0] if args else event)
        elif event == "socket.connect":
            if leads_out(args[1]):
                self.note("connected", args[1])
                self._refuse("connects to", args[1])
        elif event in _STARTING:
            self.note("started", args[0] if args else event)
            self._refuse("starts", args[0] if args else event)
        elif event == "os.kill" and self.closed and args[0] not in _children():
            self._refuse("signals process", args[0])

    def _wrote(self, path: Any) -> None:
        with contextlib.suppress(TypeError, ValueError):
            name = os.path.abspath(os.fsdecode(path))
            if not name.startswith(self.own) and not any(marker in name for marker in _WORKERS):
                self.note("wrote", name)

    def _refuse(self, does: str, what: object) -> None:
        if self.closed:
            self.note("refused", f"{does} {what}")
            raise PermissionError(f"bugzoo: {self.closed}; what {does} {what!r} is not done a second time")

    def found(self) -> dict[str, str]:
        """Return {"wrote", "connected", "started": the first of each}. This includes libraries that write from C code."""
        for name in _open_for_writing():
            if not name.startswith(self.own):
                self.note("wrote", name)
        if "wrote" not in self.said:
            after = self._stamps()
            changed = [name for name in {*after, *self.before} if after.get(name) != self.before.get(name)]
            for name in sorted(changed)[:1]:
                self.note("wrote", name)
        for _, peer in connections(self.alone):
            self.note("connected", peer)
        return read(self.folder)

    def close_up(self) -> None:
        """Close outgoing connections, and block new ones and new programs from now on."""
        self.closed = "the script has ended"
        for handle, _ in connections(self.alone):
            with contextlib.suppress(OSError), socket.socket(fileno=os.dup(handle)) as connection:
                connection.shutdown(socket.SHUT_RDWR)

    def _stamps(self) -> dict[str, tuple[int, int]]:
        """Return size and time of each file in the script's folders."""
        stamps: dict[str, tuple[int, int]] = {}
        for place in self.places:
            with contextlib.suppress(OSError), os.scandir(place) as entries:
                for entry, _ in zip(entries, range(_MOST), strict=False):
                    with contextlib.suppress(OSError):
                        status = entry.stat(follow_symlinks=False)
                        stamps[entry.path] = status.st_size, status.st_mtime_ns
        return stamps


def _one_line(what: object) -> str:
    return " ".join(str(what).split())[:200]


def _note_archives(outward: Outward) -> None:
    """Also record torch.save, which writes in C++ without an audit event."""
    import torch

    original = torch.serialization._open_zipfile_writer_file.__init__

    def noted(self: Any, name: Any, *args: Any, **kwargs: Any) -> None:
        outward._wrote(name)
        original(self, name, *args, **kwargs)

    torch.serialization._open_zipfile_writer_file.__init__ = noted  # pyright: ignore


def leads_out(address: Any) -> bool:
    """Return whether a socket's address is outside: not a socket between local workers of torch and multiprocessing."""
    if isinstance(address, str | bytes):
        name = os.fsdecode(address)
        return bool(name) and not name.startswith("\0") and not any(marker in name for marker in _WORKERS)
    return bool(address)


def connections(alone: bool = True) -> Iterator[tuple[int, str]]:
    """Yield (handle, peer) of each socket that leads out of this process. The loopback counts only if it is `alone`."""
    addresses: set[Any] = set()
    peers: list[tuple[int, Any]] = []
    for handle in _handles():
        with contextlib.suppress(OSError):
            if stat.S_ISSOCK(os.fstat(handle).st_mode):
                with socket.socket(fileno=os.dup(handle)) as connection:
                    addresses.add(connection.getsockname())
                    peers.append((handle, connection.getpeername()))
    for handle, peer in peers:
        loopback = not alone and isinstance(peer, tuple) and peer[0] in ("127.0.0.1", "::1", "::ffff:127.0.0.1")
        if peer not in addresses and not loopback and leads_out(peer):
            yield handle, str(peer)


def _open_for_writing() -> Iterator[str]:
    """Yield regular files that are open for writing in this process, including memory-mapped ones with an open handle."""
    for handle in _handles():
        with contextlib.suppress(OSError):
            if stat.S_ISREG(os.fstat(handle).st_mode) and fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE:
                yield path_of(handle)


def path_of(handle: int) -> str:
    """The path of an open file; "" where the system does not say it."""
    if not portable():
        return os.readlink(f"/proc/self/fd/{handle}")
    if (ask := getattr(fcntl, "F_GETPATH", None)) is not None:  # macOS
        return fcntl.fcntl(handle, ask, bytes(1024)).rstrip(b"\0").decode(errors="replace")
    return next((file.path for file in psutil.Process().open_files() if file.fd == handle), "")


def _handles() -> list[int]:
    if portable():
        return [int(name) for name in os.listdir("/dev/fd")]
    with contextlib.suppress(OSError):
        return [int(name) for name in os.listdir("/proc/self/fd")]
    return []


def _children() -> set[int]:
    return {child.pid for child in multiprocessing.process.active_children() if child.pid} | {os.getpid(), 0}
