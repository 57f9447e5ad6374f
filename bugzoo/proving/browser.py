"""Lessons and exercises gone through by clicks in JupyterLab, in a checkout: runs `tests/browser/test_through.py`."""

import os
import subprocess
import sys
from collections.abc import Iterable

from bugzoo.errors import UserError
from bugzoo.material import root

TEST = "tests/browser/test_through.py"
WAYS = ("right", "wrong")


def check_there() -> None:
    """Raise UserError unless this is a checkout with the browser tests."""
    if not (root() / TEST).is_file():
        raise UserError(f"--browser needs a checkout of bugzoo: {root()} has no {TEST}. Leave --browser out.")


def gone_through(kind: str, names: Iterable[str]) -> bool:
    """Go through each lesson or exercise (`kind`), all right and all wrong. Return whether all passed.

    pytest's output goes to stderr. Pictures are in artefacts/browser. A machine without Chromium or Playwright fails.
    """
    tests = [f"{TEST}::test_{kind}[{name}-{way}]" for name in names for way in WAYS]
    if not tests:
        return True  # without a test's name pytest would run all of them
    command = [sys.executable, "-m", "pytest", "-p", "no:nbval", "-v", "--timeout=1800", *tests]
    return subprocess.call(command, cwd=root(), env=os.environ | {"BUGZOO_NEED_BROWSER": "1"}, stdout=sys.stderr) == 0
