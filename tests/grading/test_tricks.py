"""What looks like a repair, and what is aimed at the grader, earns nothing; and nothing of it stays behind."""

import ast
import importlib
import operator
import sys
import tempfile
from collections.abc import Iterator

import pytest
import torch

from bugzoo.diagnostics import fresh_gradient
from bugzoo.grading import tolerances
from bugzoo.grading.model import FOR_A_PERSON
from bugzoo.running.draw import STRANGE
from tests.grading.attempt import SECONDS, attempt, failed, left_behind, must_fail, ran
from tests.grading.tricks import ATTACKS, BROKEN, BURDENS, LAZY, QUIET, SINGLE
from tests.sampling import only_in_prove

QUICK = ("metrics written by hand", "clip everything", "nan_to_num")


def aimed_at(source: str) -> Iterator[tuple[object, str]]:
    """(module or class, name) of everything that a trick puts something else in the place of, or takes from bugzoo."""
    names: dict[str, object] = {"torch": torch, "F": torch.nn.functional}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                module = importlib.import_module(alias.name)
                names[alias.asname or alias.name.split(".")[0]] = (
                    module if alias.asname else sys.modules[alias.name.split(".")[0]]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("bugzoo"):
            yield from ((importlib.import_module(node.module), alias.name) for alias in node.names)
        elif isinstance(node, ast.Assign) and "sys.modules[" in ast.unparse(node.value):
            names[ast.unparse(node.targets[0])] = importlib.import_module(ast.literal_eval(node.value.slice))
    for node in ast.walk(ast.parse(source)):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(target, ast.Attribute):
                owner, *inner = ast.unparse(target.value).split(".")
                if owner in names:
                    yield operator.attrgetter(".".join(inner))(names[owner]) if inner else names[owner], target.attr


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_aimed_at_what_is_there(name):
    """An attack on a name that is gone proves nothing."""
    import bugzoo.grading.inside  # noqa: F401  what a submission finds in sys.modules

    for owner, attribute in aimed_at(ATTACKS[name](BROKEN)):
        assert hasattr(owner, attribute), f"{getattr(owner, '__name__', owner)} has no {attribute}"


def test_what_an_attack_gives_for_a_quiet_instrument_is_judged_as_quiet():
    verdict = fresh_gradient.judge(eval(QUIET))
    assert not verdict.fired


OF_STEPS = {"data at steps", "order", "gradient", "update", "answers at steps"}
"""Checks that compare steps with the healthy program's. They see most tricks as well, each beside its own check."""


@pytest.mark.sampled(1)
@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_a_lazy_repair_fails(name):
    must_fail(LAZY[name](BROKEN))


@pytest.mark.sampled(1)
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in LAZY if name not in QUICK])
def test_every_lazy_repair_fails(name):
    must_fail(LAZY[name](BROKEN))


@pytest.mark.sampled(1)
@pytest.mark.slow
@pytest.mark.parametrize("name", SINGLE)
def test_each_rule_has_its_check(name):
    checks, trick = SINGLE[name]
    assert failed(must_fail(trick(BROKEN))) - OF_STEPS == set(checks)


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ATTACKS)
def test_no_attack_changes_the_score(name, sandboxed):
    if name == "its own supervisor":  # it writes to the socket of the draw, which ends its run: nothing is measured
        result = attempt(ATTACKS[name](BROKEN))
        assert (result.status, result.share, result.checks) == (FOR_A_PERSON, 0.0, []) and STRANGE in result.message
        return
    must_fail(ATTACKS[name](BROKEN))


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


WANTED = {
    "threads that outlive": "finished",
    "forks that outlive": "finished",
    "endless loop": ("timed_out", "hung"),
    "memory hog": ("out_of_memory",),
    "100 MB of output": "finished",
    "a bomb of processes": ("crashed", "timed_out", "hung"),
}


@pytest.mark.serial
@pytest.mark.sampled(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", BURDENS)
def test_limits_hold_and_nothing_is_left(name, sandboxed, own_folder, monkeypatch):
    monkeypatch.setattr(tolerances, "MEMORY_MIB", 400)
    run = ran(BURDENS[name](BROKEN), seconds=30.0 if WANTED[name] == "finished" else 5.0)
    assert run.outcome in WANTED[name], run.trace.error
    assert len(run.stdout) < 1.1 * 2**20
    assert left_behind() == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seconds"), [only_in_prove("100 MB of output", SECONDS), ("endless loop", 2.0)])
def test_a_burden_is_no_excuse(sandboxed, name, seconds):
    """The same submissions are graded, not passed over."""
    result = must_fail(BURDENS[name](BROKEN), seconds=seconds)
    assert result.status == "wrong" or name != "endless loop"
