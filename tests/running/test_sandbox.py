"""The machine is asked once whether it has a sandbox, and only the supervisor says that one could not be set up."""

import os
import subprocess
import sys

import pytest

from bugzoo.running import Job, sandbox, worker
from bugzoo.running.account import Account
from bugzoo.running.result import Run
from bugzoo.watching.trace import Trace


@pytest.fixture
def asked(monkeypatch):
    """The jobs of the probe, which answer with what `trouble` holds; the memory of the process is empty before and after."""
    trouble, jobs = [""], []

    def probe(job):
        jobs.append(job)
        return Run(Trace(outcome="crashed" if trouble[0] else "finished"), trouble=trouble[0])

    monkeypatch.setattr(sandbox, "run_worker", probe)
    monkeypatch.setattr(sandbox, "_known", {})
    return trouble, jobs


@pytest.mark.parametrize("why", ["", "The sandbox cannot be set up here: unshare failed."])
def test_asked_once_with_code_of_our_own(asked, why):
    trouble, jobs = asked
    trouble[0] = why
    assert sandbox.missing() == sandbox.missing() == why
    assert len(jobs) == 1 and jobs[0].isolated and jobs[0].source == "pass"
    trouble[0] = "something else"
    assert sandbox.missing() == why


def test_a_probe_that_was_cut_short_says_nothing(asked, monkeypatch):
    monkeypatch.setattr(sandbox, "run_worker", lambda job: Run(Trace(outcome="timed_out")))
    with pytest.raises(RuntimeError, match="timed_out"):
        sandbox.missing()
    monkeypatch.setattr(sandbox, "run_worker", lambda job: Run(Trace(outcome="finished")))
    assert sandbox.missing() == ""


def refused(tmp_path, exit_code: int, refusal: str) -> Run:
    account = Account(exit_code, 0.0, 0.0, "IsolationError: unshare failed\n", trouble=refusal)
    return worker.collect(Job("pass", isolated=True, withheld={}), tmp_path, account)


def test_only_the_supervisor_says_that_there_is_none(tmp_path):
    run = refused(tmp_path, 71, "")
    assert run.outcome == "crashed" and run.trouble == "" and run.trace.error["type"] == "Exit"
    run = refused(tmp_path, 0, "The sandbox cannot be set up here: unshare failed.")
    assert run.outcome == "crashed" and "unshare failed" in run.trouble


NO_NAMESPACE_LEFT = """
import ctypes
if __name__ == "__main__":
    assert ctypes.CDLL(None).unshare(0x10000000) == 0  # users of our own, so that the limit is ours as well
    for name, text in (("uid_map", "0 USER 1"), ("setgroups", "deny"), ("gid_map", "0 GROUP 1")):
        open(f"/proc/self/{name}", "w").write(text)
    open("/proc/sys/user/max_mnt_namespaces", "w").write("0")
    from bugzoo.running import Job, run_worker, sandbox
    print(sandbox.missing())
    print(repr(run_worker(Job("print('ran')", isolated=True, withheld={}, watch=False)).stdout))
"""


@pytest.mark.slow
@pytest.mark.usefixtures("sandboxed")
def test_a_refusal_of_the_kernel_is_said(tmp_path):
    """For real: a process that may make no mount namespace."""
    script = tmp_path / "refused.py"
    script.write_text(NO_NAMESPACE_LEFT.replace("USER", str(os.getuid())).replace("GROUP", str(os.getgid())))
    process = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert process.returncode == 0, process.stderr
    why, refused = process.stdout.splitlines()
    assert "unshare failed (No space left on device)" in why and refused == "''"
