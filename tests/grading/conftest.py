"""Where the kernel allows no sandbox, what is about it cannot be tried."""

import pytest

from bugzoo.running import Job, run_worker


@pytest.fixture(scope="session")
def sandbox():
    run = run_worker(Job("pass", isolated=True, watch=False))
    if run.trace.error.get("type") == "IsolationError":
        pytest.skip(run.trace.error["message"])
