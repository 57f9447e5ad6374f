"""The warning about a PyTorch that is newer than the tested one: once, on stderr, and only then."""

import json
import re
import threading
from pathlib import Path

import pytest

from bugzoo import machine
from bugzoo.running import Job, run_here, run_worker
from tests.cli.conftest import bugzoo  # noqa: F401

ROOT = Path(__file__).parent.parent
NEWER = f"{machine.TESTED_TORCH[0]}.{machine.TESTED_TORCH[1] + 1}.0.dev20270101+cu140"


@pytest.fixture
def torch_is(monkeypatch):
    """Pretend that nothing was trained in this process yet, and that this PyTorch is installed."""
    monkeypatch.delenv(machine.NO_WARNING, raising=False)

    def pretend(installed: str) -> None:
        monkeypatch.setattr(machine, "_first", threading.Lock())
        monkeypatch.setattr(machine, "version", {"torch": installed}.__getitem__)

    return pretend


def test_a_newer_pytorch_is_named_once_with_the_way_to_silence_it(torch_is, capsys):
    torch_is(NEWER)
    run_worker(Job("pass", watch=False))
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.count("\n") == 1
    for part in (
        NEWER,
        ".".join(map(str, machine.TESTED_TORCH)),
        "Proofs and exact numbers",
        f"{machine.NO_WARNING}=1",
    ):
        assert part in printed.err
    run_worker(Job("pass", watch=False))
    run_here("pass")
    assert capsys.readouterr().err == ""


def test_a_run_in_this_process_warns_and_its_output_stays_clean(torch_is, capsys):
    torch_is(NEWER)
    run = run_here("print('trained')")
    assert NEWER in capsys.readouterr().err and run.stdout == "trained\n"


@pytest.mark.slow
def test_json_stays_json(torch_is, bugzoo, tmp_path):  # noqa: F811
    torch_is(NEWER)
    script = tmp_path / "train.py"
    script.write_text("print('trained')\n", encoding="utf-8")
    called = bugzoo("checkup", str(script), "--json")
    assert json.loads(called.out) and NEWER in called.err


def test_the_variable_silences_it(torch_is, monkeypatch, capsys):
    torch_is(NEWER)
    monkeypatch.setenv(machine.NO_WARNING, "1")
    run_here("pass")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("installed", [None, "2.11.0+cpu", "{}.{}.9".format(*machine.TESTED_TORCH)])
def test_a_tested_pytorch_gives_no_warning(torch_is, capsys, installed):
    torch_is(installed or machine.version("torch"))
    run_here("pass")
    assert capsys.readouterr().err == ""


def test_the_tested_pytorch_is_that_of_the_constraints_and_there_is_no_upper_bound():
    pin = re.search(r"^torch==(\d+)\.(\d+)", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert pin is not None and tuple(map(int, pin.groups())) == machine.TESTED_TORCH
    assert "PyTorch {}.{};".format(*machine.TESTED_TORCH) in (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(r'"torch>=[\d.]+",', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
