"""Which means this machine has: Linux's own ones, or those that every system has. And whether its PyTorch was tested."""

import os
import sys
import threading
from importlib.metadata import version

TESTED_TORCH = (2, 14)
"""The newest minor version of PyTorch that bugzoo was tested with: that of constraints.txt."""
NO_WARNING = "BUGZOO_UNTESTED_TORCH"
"""Environment variable that switches the warning about a newer PyTorch off: `BUGZOO_UNTESTED_TORCH=1`."""
_first = threading.Lock()
"""Acquired by the first training of this process, and never released."""
NO_SANDBOX = (
    "There is no sandbox in portable mode, so other people's hand-ins are not run. Grade them on Linux with user namespaces, "
    "without BUGZOO_PORTABLE; on Windows, in WSL2."
)


def portable() -> bool:
    """Whether bugzoo does without fork, /proc, namespaces and prctl: not on Linux, or with BUGZOO_PORTABLE=1."""
    return sys.platform != "linux" or _is_set("BUGZOO_PORTABLE")


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def warn_of_untested_torch() -> None:
    """Write one warning to stderr, before the first training of this process, if PyTorch is newer than the tested one."""
    if not _first.acquire(blocking=False) or _is_set(NO_WARNING):
        return
    installed, tested = version("torch"), ".".join(map(str, TESTED_TORCH))
    if tuple(map(int, installed.split(".")[:2])) > TESTED_TORCH:
        print(
            f"bugzoo: PyTorch {installed} is installed, and bugzoo was tested up to {tested}. Proofs and exact numbers may "
            f"differ. {NO_WARNING}=1 switches this warning off.",
            file=sys.stderr,
        )


def _is_set(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")
