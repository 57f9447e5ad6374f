"""An overlay file system: a script can change all files that it sees, and the files on the disk stay unchanged (Linux).

A process enters its own user and mount namespaces and puts an overlay over every writable folder. The lower folder is
the real one, the upper folder is an empty temporary one. The script can read, append, rename and remove files, and
nothing reaches the lower folder. No privilege is needed, and the process keeps its user and group ids.

The kernel has three rules. The process must have one thread, so this happens before torch starts its threads. An
overlay cannot cover a folder that contains another mount: its parts are covered one by one, and files next to them
become read-only. And an upper folder cannot be inside the folder that it covers, so a second place is needed.
"""

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bugzoo.machine import portable
from bugzoo.running import identity, mounts
from bugzoo.running.mounts import Mount
from bugzoo.running.writes import LAYERS

_PSEUDO = {
    "proc", "sysfs", "devtmpfs", "devpts", "cgroup", "cgroup2", "securityfs", "debugfs", "tracefs", "bpf", "mqueue", "pstore",
    "hugetlbfs", "configfs", "fusectl", "binfmt_misc", "autofs", "efivarfs", "rpc_pipefs", "nsfs",
}  # fmt: skip
"""File systems without user files."""
_LIVE = ("/run", "/dev/shm")
"""Sockets and shared memory of running programs. A copy in an overlay would not work."""
_ENTRIES = 20_000
"""How many files of the script's own folders are checked for their owner."""
_SOCKETS = 200
"""How many entries of a temporary folder are searched for sockets."""


NO_OVERLAY = "BUGZOO_NO_OVERLAY"
"""An environment variable: run scripts without an overlay, as on a machine whose kernel does not allow one."""


FOREIGN = "{} belongs to another user and can be written"


class OverlayError(RuntimeError):
    """This machine does not allow an overlay. Nothing is covered."""


def second_place(own: Path) -> Path | None:
    """Make a folder outside the part of the disk that holds `own`, for the overlay over that part. None if impossible."""
    first = own.parts[1] if len(own.parts) > 1 else ""
    for place in (Path("/var/tmp"), Path("/tmp"), Path.home(), Path.cwd()):
        place = place.resolve()
        if place.parts[1:2] != (first,) and os.access(place, os.W_OK):
            with contextlib.suppress(OSError):
                return Path(tempfile.mkdtemp(prefix=".bugzoo-", dir=place))
    return None


def foreign(*places: str) -> str:
    """Return the first file or folder that another user owns and this user may write: an overlay cannot copy it.

    Returns "" without one. Root's namespace holds all users, so root can copy every file.
    """
    user = os.geteuid()
    left = _ENTRIES if user else 0
    for place in places:
        for folder, folders, names in os.walk(place):
            for path in (folder, *(os.path.join(folder, name) for name in names)):
                left -= 1
                if left < 0:
                    return ""
                with contextlib.suppress(OSError):
                    if os.lstat(path).st_uid != user and os.access(path, os.W_OK) and not os.path.islink(path):
                        return path
            folders[:] = [name for name in folders if not name.startswith(".")]
    return ""


def impossible(*work: str) -> str:
    """Return why no overlay is possible over the folders `work`, "" if it is. It is tried in a child process."""
    if os.environ.get(NO_OVERLAY):
        return f"{NO_OVERLAY} is set"
    if portable():
        return "bugzoo runs in portable mode"
    if other := foreign(*work):
        return FOREIGN.format(other)
    folder = Path(tempfile.mkdtemp(prefix="bugzoo-"))
    second = second_place(folder)
    try:
        (folder / LAYERS).mkdir()
        return tried(folder, folder / LAYERS, second)
    finally:
        for place in filter(None, (folder, second)):
            remove(place)


def tried(own: Path, layers: Path, other: Path | None) -> str:
    """Return why `cover` fails on this machine, "" if it works. Tried in a child, because namespaces cannot be left.

    Ubuntu, for example, allows the namespaces but no mount inside them.
    """
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        answer = b"it was cut short"
        try:
            cover(own, layers, other, mark="trial-")
            answer = b""
        except (OverlayError, OSError) as error:
            answer = str(error).encode()[:1000]
        finally:
            os.write(theirs, answer or b"\0")
            os._exit(0)
    os.close(theirs)
    with open(ours, "rb") as pipe:
        answer = pipe.read() or b"it was cut short"
    os.waitpid(child, 0)
    return answer.decode(errors="replace").strip("\0")


def cover(own: Path, layers: Path, other: Path | None, mark: str = "") -> dict[str, Any]:
    """Enter namespaces in which everything but `own` is covered. Upper folders are in `layers`, inside `own`, and `other`.

    Returns "lowers", the covered folder of each layer by name, and "read_only", folders that could not be covered and
    are now read-only. The process must have one thread. Raises OverlayError if the kernel or a container forbids it.
    """
    try:
        identity.unshare_as_oneself(mounts.NEWUSER | mounts.NEWNS)
        mounts.mount("none", "/", "", mounts.REC | mounts.PRIVATE)
    except OSError as error:
        raise OverlayError(f"{error.filename or 'a namespace of its own'}: {error.strerror}") from None
    # open handles now: the kernel mounts only this namespace's, and paths change after the first overlay is mounted
    job = os.open(own, os.O_PATH | os.O_DIRECTORY)
    bases = [(place, os.open(place, os.O_PATH | os.O_DIRECTORY)) for place in (layers, other) if place is not None]
    there = mounts.mounted()
    whole, parts = _plan(there)
    laid = [_Layer(lower, _base(lower, bases), f"{mark}{number}") for number, lower in enumerate(whole)]
    sockets = [(path, os.open(path, os.O_PATH)) for path in _sockets()]
    refused: dict[str, str] = {}
    for layer in laid:
        try:
            layer.lay()
        except OSError as error:
            refused[layer.lower] = error.strerror or "refused"
    if len(refused) == len(laid):
        why = "".join(f" ({why})" for why in list(refused.values())[:1])
        raise OverlayError(f"no overlay can be mounted here{why}")
    for path, handle in sockets:
        with contextlib.suppress(OSError):
            mounts.mount(f"/proc/self/fd/{handle}", path, "", mounts.BIND)
    for place, handle in ((own, job), *bases[1:]):
        mounts.mount(f"/proc/self/fd/{handle}", str(place), "", mounts.BIND)
    lost = sorted({*parts, *refused})
    for place in {_mount_of(folder, there) for folder in lost}:
        _lock(place)
    layers_open = (handle for layer in laid for handle in layer.handles)
    for handle in (job, *(handle for _, handle in (*bases, *sockets)), *layers_open):
        os.close(handle)
    locked = [folder for folder in lost if folder != "/" and not any(folder.startswith(f"{other}/") for other in lost)]
    return {"lowers": {layer.name: layer.lower for layer in laid}, "read_only": locked}


class _Layer:
    """One overlay, with open handles on its three folders."""

    def __init__(self, lower: str, base: int, name: str) -> None:
        self.lower, self.name = lower, name
        self.handles = [os.open(lower, os.O_PATH | os.O_DIRECTORY)]
        status = os.stat(lower)
        for part in ("upper", "work"):
            os.mkdir(f"{name}-{part}", 0o700, dir_fd=base)
            self.handles.append(os.open(f"{name}-{part}", os.O_PATH | os.O_DIRECTORY, dir_fd=base))
        # the covered folder gets the permissions of its upper folder
        os.chmod(f"/proc/self/fd/{self.handles[1]}", stat.S_IMODE(status.st_mode))

    def lay(self) -> None:
        lower, upper, work = (f"/proc/self/fd/{handle}" for handle in self.handles)
        options = f"lowerdir={lower},upperdir={upper},workdir={work},userxattr"
        mounts.mount("overlay", self.lower, "overlay", 0, options)


def _plan(there: list[Mount]) -> tuple[list[str], list[str]]:
    """Return (folders to cover as a whole, folders of which only parts can be covered), of all writable folders."""
    whole: list[str] = []
    parts: list[str] = []
    taken = {mount.place for mount in there}

    def descend(place: str) -> None:
        below = place.rstrip("/") + "/"
        if place != "/" and not any(other.startswith(below) for other in taken):
            whole.append(place)
            return
        parts.append(place)
        with contextlib.suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False) and entry.path not in taken:
                    descend(entry.path)

    for mount in there:
        live = any(mount.place == place or mount.place.startswith(place + "/") for place in _LIVE)
        if mount.kind not in _PSEUDO and not mount.read_only and not live and os.path.isdir(mount.place):
            descend(mount.place)
    running = [mount.place for mount in there if mount.place.startswith("/run") and not mount.read_only]
    parts = [place for place in parts if not place.startswith("/sys/")]
    covered = [place for place in whole if place not in _LIVE and not _of_the_system(place)]
    return sorted(covered), [place for place in (*parts, *running) if os.access(place, os.W_OK)]


def _of_the_system(place: str) -> bool:
    """Return whether this is a system folder that the user cannot write to."""
    first = place.split("/")[1]
    return first in ("usr", "bin", "sbin", "lib", "lib32", "lib64", "etc", "boot") and not os.access(place, os.W_OK)


def _base(lower: str, bases: list[tuple[Path, int]]) -> int:
    """Return the handle of a place whose upper folders may cover `lower`."""
    for place, handle in bases:
        if not place.is_relative_to(lower):
            return handle
    raise OverlayError(f"there is no second folder for what would be written to {lower}")


def _sockets() -> Iterator[str]:
    """Yield sockets in temporary folders, for example of databases and displays. Copies in an overlay would not work."""
    for folder in {tempfile.gettempdir(), "/tmp"}:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry, _ in zip(entries, range(_SOCKETS), strict=False):
                with contextlib.suppress(OSError):
                    if stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode):
                        yield entry.path


def _mount_of(place: str, there: list[Mount]) -> str:
    """Return the mount point of the file system that holds `place`."""
    around = (mount.place for mount in there if Path(place).is_relative_to(mount.place))
    return max(around, key=len)


def _lock(place: str) -> None:
    """Make the mount at `place` read-only, but not mounts below it. Raises OverlayError."""
    try:
        mounts.read_only(place, recursive=False)
    except (OSError, RuntimeError) as error:  # RuntimeError: a machine whose system calls are not known here
        raise OverlayError(f"{place} can be neither covered nor made read-only ({error})") from None


def remove(place: Path) -> None:
    """Delete a temporary folder, including entries that the kernel has locked."""

    def again(function: object, path: str, _: object) -> None:
        with contextlib.suppress(OSError):
            os.chmod(os.path.dirname(path), 0o700)
            os.chmod(path, 0o700)
            shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)

    shutil.rmtree(place, onerror=again)
