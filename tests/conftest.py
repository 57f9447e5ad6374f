"""For all tests."""

import signal
import threading

import pytest

# A shell starts what it sends to the background with SIGINT ignored, and children inherit that: the tests that press
# Ctrl-C in a process of their own would wait for ever. A handler here means the default one there.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def sandboxed():
    """The probe of our own is asked, not what else is installed: the sandbox needs no program, only the kernel's leave."""
    from bugzoo.running import sandbox

    if why := sandbox.missing():
        pytest.skip(why)
