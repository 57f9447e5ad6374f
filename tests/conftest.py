"""For all tests."""

import atexit
import os
import shutil
import signal
import tempfile
import threading

import pytest

from tests import sampling

# A shell starts what it sends to the background with SIGINT ignored, and children inherit that: the tests that press
# Ctrl-C in a process of their own would wait for ever. A handler here means the default one there.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

# nobody's own record of attempts and interviews is read or written by a test, in whatever process it runs
os.environ["BUGZOO_DATA"] = tempfile.mkdtemp(prefix="bugzoo-tests-")
atexit.register(shutil.rmtree, os.environ["BUGZOO_DATA"], ignore_errors=True)

# what texts and tickets say was measured on the CPU; a notebook's "auto" means it in a test, also beside a GPU
os.environ.setdefault("BUGZOO_DEVICE", "cpu")

# which steps the grader compares is drawn anew for each grading; here always in the same way
os.environ.setdefault("BUGZOO_DRAW", "0")

# the grader draws the same held-out examples in every test; those about the salt set their own
os.environ["BUGZOO_SALT"] = ""

# nor is what a test proves written into the ledger of this checkout
os.environ["BUGZOO_PROOFS"] = ""


def pytest_report_header() -> str:
    return sampling.header()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    chosen, left_out = sampling.split(items, [name for name in config.args if "::" in name])
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = chosen
    # the server and the browser that these start stay till the end: what counts its own children runs before
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.fixture(scope="session")
def sandboxed():
    """The probe of our own is asked, not what else is installed: the sandbox needs no program, only the kernel's leave."""
    from bugzoo.running import sandbox

    if why := sandbox.missing():
        pytest.skip(why)
