"""What a script writes lands in scratch: the files that it sees can be written, and those on the disk stay as they are (Linux).

A process enters a user and a mount namespace of its own and lays an overlay over every folder that can be written: below it
the folder as it is, above it an empty one in scratch. The script reads what is there, appends to it, renames and removes it,
and none of it reaches the folder below. No privilege is needed, and the process keeps its user and group ids.

The kernel has three rules. A process has to be alone, so that this comes before torch starts its threads. An overlay cannot
cover a folder in which something else is mounted: its parts are covered one by one, and what lies beside them becomes
read-only. And an upper side cannot lie in the folder that it covers: hence a second place.
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
"""File systems in which there are no files to keep."""
_LIVE = ("/run", "/dev/shm")
"""Sockets and shared memory of programs that are running: an overlay's copy would lead nowhere."""
_ENTRIES = 20_000
"""Files of the script's own folders whose owner is looked at."""
_SOCKETS = 200
"""Entries of a temporary folder that are looked through for sockets."""


NO_OVERLAY = "BUGZOO_NO_OVERLAY"
"""An environment variable: scripts run where they are, as on a machine whose kernel allows no overlay."""


FOREIGN = "{} belongs to another user and can be written"


class OverlayError(RuntimeError):
    """This machine allows no overlay; nothing is covered."""


def second_place(own: Path) -> Path | None:
    """A new folder that lies apart from `own`, for what covers the disk's part that holds `own`; None where none can be made."""
    first = own.parts[1] if len(own.parts) > 1 else ""
    for place in (Path("/var/tmp"), Path("/tmp"), Path.home(), Path.cwd()):
        place = place.resolve()
        if place.parts[1:2] != (first,) and os.access(place, os.W_OK):
            with contextlib.suppress(OSError):
                return Path(tempfile.mkdtemp(prefix=".bugzoo-", dir=place))
    return None


def foreign(*places: str) -> str:
    """The first file or folder below that another user owns and this one may write, "" without one: it cannot be copied up.

    Root's namespace holds all users, so that root can copy every file.
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
    """Why no overlay can be laid here over the folders `work`, "" where one can. Tried in a child process."""
    if os.environ.get(NO_OVERLAY):
        return f"{NO_OVERLAY} is set"
    if portable():
        return "bugzoo runs in portable mode"
    if other := foreign(*work):
        return FOREIGN.format(other)
    own = Path(tempfile.mkdtemp(prefix="bugzoo-"))
    second = second_place(own)
    try:
        (own / LAYERS).mkdir()
        return tried(own, own / LAYERS, second)
    finally:
        for place in filter(None, (own, second)):
            remove(place)


def tried(own: Path, layers: Path, other: Path | None) -> str:
    """Why `cover` fails on this machine, "" where it does not: asked in a child, as namespaces cannot be left again.

    Ubuntu, for one, grants the namespaces and then refuses to mount anything in them.
    """
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        said = b"it was cut short"
        try:
            cover(own, layers, other, mark="trial-")
            said = b""
        except (OverlayError, OSError) as error:
            said = str(error).encode()[:1000]
        finally:
            os.write(theirs, said or b"\0")
            os._exit(0)
    os.close(theirs)
    with open(ours, "rb") as pipe:
        said = pipe.read() or b"it was cut short"
    os.waitpid(child, 0)
    return said.decode(errors="replace").strip("\0")


def cover(own: Path, layers: Path, other: Path | None, mark: str = "") -> dict[str, Any]:
    """Enter namespaces in which everything but `own` is covered; upper sides lie in `layers`, in `own`, and in `other`.

    What comes back: "lowers", the folder of each layer by its name, and "read_only", folders that could not be covered and
    cannot be written now. The process must be single-threaded. Raises OverlayError where the kernel or a container forbids it.
    """
    try:
        identity.unshare_as_oneself(mounts.NEWUSER | mounts.NEWNS)
        mounts.mount("none", "/", "", mounts.REC | mounts.PRIVATE)
    except OSError as error:
        raise OverlayError(f"{error.filename or 'a namespace of its own'}: {error.strerror}") from None
    # handles of this namespace, as the kernel mounts nothing of another one; paths lead elsewhere once the first is laid
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
        raise OverlayError(
            "no overlay can be mounted here" + "".join(f" ({why})" for why in list(refused.values())[:1])
        )
    for path, handle in sockets:
        with contextlib.suppress(OSError):
            mounts.mount(f"/proc/self/fd/{handle}", path, "", mounts.BIND)
    for place, handle in ((own, job), *bases[1:]):
        mounts.mount(f"/proc/self/fd/{handle}", str(place), "", mounts.BIND)
    lost = sorted({*parts, *refused})
    for place in {_mount_of(one, there) for one in lost}:
        _lock(place)
    for handle in (
        job,
        *(h for _, h in bases),
        *(h for _, h in sockets),
        *(h for layer in laid for h in layer.handles),
    ):
        os.close(handle)
    locked = [one for one in lost if one != "/" and not any(one.startswith(f"{other}/") for other in lost)]
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
        # the covered folder has the rights of its upper side
        os.chmod(f"/proc/self/fd/{self.handles[1]}", stat.S_IMODE(status.st_mode))

    def lay(self) -> None:
        lower, upper, work = (f"/proc/self/fd/{handle}" for handle in self.handles)
        options = f"lowerdir={lower},upperdir={upper},workdir={work},userxattr"
        mounts.mount("overlay", self.lower, "overlay", 0, options)


def _plan(there: list[Mount]) -> tuple[list[str], list[str]]:
    """(folders to be covered as a whole, folders of which only parts can be), of everything that can be written."""
    whole: list[str] = []
    parts: list[str] = []
    taken = {one.place for one in there}

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

    for one in there:
        live = any(one.place == place or one.place.startswith(place + "/") for place in _LIVE)
        if one.kind not in _PSEUDO and not one.read_only and not live and os.path.isdir(one.place):
            descend(one.place)
    running = [one.place for one in there if one.place.startswith("/run") and not one.read_only]
    parts = [place for place in parts if not place.startswith("/sys/")]
    kept = [place for place in whole if place not in _LIVE and not _of_the_system(place)]
    return sorted(kept), [place for place in (*parts, *running) if os.access(place, os.W_OK)]


def _of_the_system(place: str) -> bool:
    """A folder of the system in which this user may write nothing."""
    first = place.split("/")[1]
    return first in ("usr", "bin", "sbin", "lib", "lib32", "lib64", "etc", "boot") and not os.access(place, os.W_OK)


def _base(lower: str, bases: list[tuple[Path, int]]) -> int:
    """The handle of the place whose upper sides may cover `lower`."""
    for place, handle in bases:
        if not place.is_relative_to(lower):
            return handle
    raise OverlayError(f"there is no second folder for what would be written to {lower}")


def _sockets() -> Iterator[str]:
    """Sockets in the temporary folders, as databases and displays have them: an overlay's copy would lead nowhere."""
    for folder in {tempfile.gettempdir(), "/tmp"}:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry, _ in zip(entries, range(_SOCKETS), strict=False):
                with contextlib.suppress(OSError):
                    if stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode):
                        yield entry.path


def _mount_of(place: str, there: list[Mount]) -> str:
    """Where the file system is mounted in which `place` lies."""
    around = (one.place for one in there if Path(place).is_relative_to(one.place))
    return max(around, key=len)


def _lock(place: str) -> None:
    """Make the mount at `place`, not those below it, read-only. Raises OverlayError."""
    try:
        mounts.read_only(place, recursive=False)
    except (OSError, RuntimeError) as error:  # RuntimeError: a machine whose system calls are not known here
        raise OverlayError(f"{place} can be neither covered nor made read-only ({error})") from None


def remove(place: Path) -> None:
    """Take scratch away, also what the kernel has locked in it."""

    def again(function: object, path: str, _: object) -> None:
        with contextlib.suppress(OSError):
            os.chmod(os.path.dirname(path), 0o700)
            os.chmod(path, 0o700)
            shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)

    shutil.rmtree(place, onerror=again)
