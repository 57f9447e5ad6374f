"""The user that a script runs as in the sandbox: the user `nobody` if the caller is root, otherwise the caller.

Root is exempt from the kernel's limit on processes, even in its own namespace. So a root caller (a container, a CI
machine) runs scripts as a second user. If that is impossible, they run as root and only the supervisor's limits apply.
"""

import contextlib
import ctypes
import errno
import os
import signal
from collections.abc import Iterable, Mapping
from pathlib import Path

NOBODY = 65534
MAPS: dict[str, str] = dict.fromkeys(("uid", "gid"), f"0 0 1\n{NOBODY} {NOBODY} 1\n")
_libc = ctypes.CDLL(None, use_errno=True)
_PDEATHSIG, _DUMPABLE = 1, 4


def unshare(flags: int, needed: Iterable[Path]) -> tuple[int, bool]:
    """Enter new namespaces and map users. Returns (0, or -1 with errno set; whether `become_nobody` may be called).

    `needed` are the places that the script must be able to read as user `nobody`.
    """
    user, group = os.geteuid(), os.getegid()
    if user == 0 and all(_open_to_all(place) for place in needed):
        result, mapped = _unshare_as_root(flags)
        if result != 0 or mapped:
            return result, mapped
    else:
        result = _libc.unshare(flags)
        if result != 0:
            return result, False
        Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return 0, False


def unshare_as_oneself(flags: int) -> None:
    """Enter new namespaces and keep the user id. For root, they hold every user that root can become outside.

    Raises OSError.
    """
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        maps = {}
        for kind in ("uid", "gid"):
            rows = [line.split() for line in Path(f"/proc/self/{kind}_map").read_text().splitlines()]
            maps[kind] = "".join(f"{first} {first} {count}\n" for first, _, count in rows)
        result, mapped = _unshare_as_root(flags, maps)
        if result == 0 and mapped:
            return
        if result == 0:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM), "mapping users")
    elif (result := _libc.unshare(flags)) == 0:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
        return
    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number), "unshare")


def _unshare_as_root(flags: int, maps: Mapping[str, str] = MAPS) -> tuple[int, bool]:
    """Enter new namespaces as root. Only a process outside may map a second user, so a child stays there to do it."""
    inside, outside = os.pipe(), os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        answer = b"no"
        with contextlib.suppress(OSError):
            os.close(inside[1])
            if os.read(inside[0], 1):
                for kind in ("uid", "gid"):
                    Path(f"/proc/{parent}/{kind}_map").write_text(maps[kind])
                answer = b"ok"
        os.write(outside[1], answer)
        os._exit(0)
    result = _libc.unshare(flags)
    error = ctypes.get_errno()
    if result == 0:
        os.write(inside[1], b"!")
    os.close(inside[1])
    mapped = os.read(outside[0], 2) == b"ok"
    os.waitpid(child, 0)
    for end in (inside[0], *outside):
        os.close(end)
    ctypes.set_errno(error)
    return result, mapped


def become_nobody() -> None:
    """Give up root for good. Afterwards, "die with the parent" and "readable in /proc" must be set again."""
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    _libc.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    _libc.prctl(_DUMPABLE, 1, 0, 0, 0)


def _open_to_all(place: Path) -> bool:
    mode = place.stat().st_mode
    return bool(mode & 0o005 == 0o005)
