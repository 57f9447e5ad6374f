"""Which means this machine has: Linux's own ones, or those that every system has."""

import os
import sys

NO_SANDBOX = (
    "There is no sandbox in portable mode, so other people's hand-ins are not run. Grade them on Linux with user namespaces, "
    "without BUGZOO_PORTABLE; on Windows, in WSL2."
)


def portable() -> bool:
    """Whether bugzoo does without fork, /proc, namespaces and prctl: not on Linux, or with BUGZOO_PORTABLE=1."""
    return sys.platform != "linux" or os.environ.get("BUGZOO_PORTABLE", "") not in ("", "0")


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
