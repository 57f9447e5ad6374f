"""Linux's mounts as far as a sandbox and an overlay need them: what is mounted, mounting, and making a place read-only."""

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
    """`place` is where it is seen, `kind` its file system's name."""

    place: str
    kind: str
    read_only: bool


def mounted() -> list[Mount]:
    """What is mounted where; of several things at one place the last one, which is the one that is seen."""
    found: dict[str, Mount] = {}
    for line in Path("/proc/self/mountinfo").read_bytes().splitlines():
        left, _, right = line.partition(b" - ")
        fields = left.split(b" ")
        place = os.fsdecode(re.sub(rb"\\([0-7]{3})", lambda code: bytes([int(code[1], 8)]), fields[4]))
        found[place] = Mount(place, os.fsdecode(right.split(b" ")[0]), b"ro" in fields[5].split(b","))
    return list(found.values())


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Raises OSError."""
    parts = os.fsencode(source), os.fsencode(target), kind.encode() or None
    check(libc.mount(*parts, ctypes.c_ulong(flags), options.encode()), f"mounting {target}")


def read_only(path: str, recursive: bool) -> None:
    """Make what is mounted at `path` read-only; `recursive`: what is mounted below it as well. Raises OSError."""
    # struct mount_attr {set, clear, propagation, user namespace}; RDONLY | NOSUID
    attributes = struct.pack("QQQQ", 1 | 2, 0, 0, 0)
    call, whole = seccomp.number("mount_setattr"), 0x8000 if recursive else 0
    done = libc.syscall(call, -100, os.fsencode(path), whole, attributes, len(attributes))
    check(done, f"making {path} read-only")


def check(result: int, what: str) -> None:
    """Raises OSError with the kernel's reason."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
