"""One file puts things back, one room runs things again."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import bugzoo
from bugzoo.syntax import last_name, parse

HOME = Path(bugzoo.__file__).parent
RESTORE = HOME / "rerun" / "restore.py"
PUTTING_BACK = {
    "load_state_dict", "set_rng_state", "set_rng_state_all", "setstate", "set_state", "fork_rng", "redirect_stdout",
}  # fmt: skip
NAMED = {"restore", "put_back"}
ANSWERS = {"steps.py": ("setstate", "set_state", "fork_rng", "redirect_stdout")}
"""A kept step's answers are computed before it leaves the process, with a copy of the model; nothing else is put back there."""
STARTING = ("subprocess", "bugzoo.running.worker", "bugzoo.running.run_worker", "bugzoo.running.run_many")
STARTS = {"checkup.py", "bug_report.py"}
"""They examine a script and are no instruments: both start it in the first place."""


def putting_back(text: str) -> list[str]:
    """What a module does that only `restore` should do."""
    complaints = []
    for node in ast.walk(parse(text)):
        if isinstance(node, ast.Call) and last_name(node.func) in PUTTING_BACK:
            complaints.append(f"line {node.lineno} calls {last_name(node.func)}")
        elif isinstance(node, ast.FunctionDef) and node.name in NAMED:
            complaints.append(f"line {node.lineno} defines {node.name}")
    return complaints


def imported(text: str) -> Iterator[str]:
    for node in ast.walk(parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def modules(*rooms: str) -> list[Path]:
    return [file for room in rooms for file in sorted((HOME / room).glob("*.py"))]


@pytest.mark.parametrize("room", ["rerun", "diagnostics", "watching"])
def test_only_restore_puts_anything_back(room):
    allowed = {RESTORE, HOME / "rerun" / "silence.py"}
    offenders = {
        file.name: lines
        for file in modules(room)
        if file not in allowed
        and (
            lines := [
                line for line in putting_back(file.read_text()) if line.split()[-1] not in ANSWERS.get(file.name, ())
            ]
        )
    }
    assert not offenders, "bugzoo/rerun/restore.py does that for all of them"


def test_no_instrument_starts_a_process():
    offenders = {
        file.name: name
        for file in modules("diagnostics")
        if file.name not in STARTS
        for name in imported(file.read_text())
        if name.startswith(STARTING)
    }
    assert not offenders, "bugzoo/rerun/script.py does that for all of them"


def test_the_search_can_find():
    assert len(putting_back(RESTORE.read_text())) > 5
    assert putting_back("model.load_state_dict(before)\n") and putting_back("class A:\n    def restore(self): pass\n")
    assert not putting_back("load_state_dict = 1\n")
    assert any(
        name.startswith(STARTING) for name in imported("def again():\n    from bugzoo.running import run_worker\n")
    )
