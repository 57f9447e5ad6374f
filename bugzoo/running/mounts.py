"""Linux mounts for the sandbox and the overlay: list mounts, mount, and make a place read-only."""

import ctypes
import os
import re
import struct
from dataclasses import dataclass
from pathlib import Path

from bugzoo.running import seccomp

NEWNS, NEWUSER, NEWNET = 0x20000, 0x10000000, 0x40000000
BIND, REC, PRIVATE, NOSUID, NODEV, DETACH = 4096, 16384, 1 << 18, 2, 4, 2
libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Mount:
    """A mount: `place` is its path, `kind` the name of its file system."""

    place: str
    kind: str
    read_only: bool


def mounted() -> list[Mount]:
    """Return all visible mounts. Of several mounts at one place, only the last one is visible."""
    mounts: dict[str, Mount] = {}
    for line in Path("/proc/self/mountinfo").read_bytes().splitlines():
        left, _, right = line.partition(b" - ")
        fields = left.split(b" ")
        place = os.fsdecode(re.sub(rb"\\([0-7]{3})", lambda code: bytes([int(code[1], 8)]), fields[4]))
        mounts[place] = Mount(place, os.fsdecode(right.split(b" ")[0]), b"ro" in fields[5].split(b","))
    return list(mounts.values())


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mount `source` at `target`. Raises OSError."""
    parts = os.fsencode(source), os.fsencode(target), kind.encode() or None
    check(libc.mount(*parts, ctypes.c_ulong(flags), options.encode()), f"mounting {target}")


def read_only(path: str, recursive: bool) -> None:
    """Make the mount at `path` read-only, with `recursive` also the mounts below it. Raises OSError."""
    # struct mount_attr {set, clear, propagation, user namespace}; RDONLY | NOSUID
    attributes = struct.pack("QQQQ", 1 | 2, 0, 0, 0)
    call, whole = seccomp.number("mount_setattr"), 0x8000 if recursive else 0
    status = libc.syscall(call, -100, os.fsencode(path), whole, attributes, len(attributes))
    check(status, f"making {path} read-only")


def check(result: int, what: str) -> None:
    """Raise OSError with the kernel's reason unless `result` is 0."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
