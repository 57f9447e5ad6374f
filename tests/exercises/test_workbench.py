"""`program` in a notebook: cells are kept and not run, and it stands there before its cells were run."""

from types import SimpleNamespace
from typing import Any

import pytest

from bugzoo import record
from bugzoo.errors import UserError
from bugzoo.grading import healthy, looks
from bugzoo.grading.exercises import load
from bugzoo.grading.program import split
from bugzoo.grading.workbench import Program, diagnosed, load_ipython_extension, packed, table
from tests.sampling import only_in_prove


class Shell:
    """What `load_ipython_extension` needs of IPython."""

    def __init__(self) -> None:
        self.errors: list[Any] = []
        self._showtraceback = lambda kind, error, lines: self.errors.append(error)
        self.user_ns: dict[str, Any] = {}
        self.events = SimpleNamespace(register=lambda name, function: None)

    def register_magic_function(self, function: Any, kind: str, name: str) -> None:
        self.magic = function

    def push(self, names: dict[str, Any]) -> None:
        self.program = names["program"]

    def showsyntaxerror(self) -> None:
        self.errors.append("shown")


@pytest.fixture
def shell(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path))
    interpreter = Shell()
    load_ipython_extension(interpreter)
    return interpreter


def test_a_cell_is_kept_and_trains_nothing(shell: Shell, capsys: Any) -> None:
    shell.program.begin("04")
    assert shell.program.source == load("04").handed_out, "it can be run before its cells were"
    assert "the program as handed out. Run the next cells" in capsys.readouterr().out
    shell.magic("Training", split(load("04").handed_out)["Training"])
    assert capsys.readouterr().out == "Training: saved. Run it with program.run()\n"
    shell.magic("Training", "raise SystemExit\n")
    assert "saved, with your change" in capsys.readouterr().out
    assert "raise SystemExit" in shell.program.source
    shell.program.begin("04")  # the first cell again: what was changed stays
    assert "raise SystemExit" in shell.program.source


def test_a_slip_is_shown_once_and_fails_the_cell(shell: Shell) -> None:
    shell.program.begin("04")
    with pytest.raises(SyntaxError) as caught:
        shell.magic("Settings", "seed = = 1\n")
    shell._showtraceback(SyntaxError, caught.value, [])
    assert shell.errors == ["shown"]
    assert "seed = = 1" in shell.program.source, "what is graded is what stands in the cell"
    with pytest.raises(UserError, match=r"there is no such section\. Use one of Head"):
        shell.magic("Trainig", "pass")


def test_another_section_is_kept_where_it_stands(shell: Shell) -> None:
    shell.magic("Ranks after Settings", "raise SystemExit\n")
    assert shell.program.sections == {"Ranks": "raise SystemExit\n"} and shell.program.after == {"Ranks": "Settings"}


def test_an_assignment_brings_its_own_text(shell: Shell) -> None:
    text = load("10").handed_out
    shell.program.hand_out("mlp", "Z-1", packed(text), seed=3)
    assert shell.program.source == text and not shell.program.diagnosed
    assert shell.program.original == text
    shell.magic("Settings", "seed = 7\n")
    assert shell.program.original == text != shell.program.source, "lines are those of the text as handed out"
    for ticket in ("Z-1", "Z-1/2"):  # it can be changed until the notebook is collected, so nothing opens
        record.note(ticket, "diagnosis", {"cause": "a mask"})
    assert not shell.program.diagnosed and diagnosed("Z-1") and not diagnosed("Z-2")


def test_what_was_begun_is_open_until_its_diagnosis(shell: Shell) -> None:
    shell.program.begin("04")
    assert record.opened() == [{"exercise": "04_flat_loss", "program": "mlp"}]
    record.note(shell.program.ticket, "diagnosis", {"cause": "a mask", "complete": False})
    assert len(record.opened()) == 1 and not shell.program.diagnosed, "its line is missing"
    record.note(shell.program.ticket, "diagnosis", {"cause": "a mask"})
    assert record.opened() == [] and shell.program.diagnosed


def test_looks_are_noted_and_an_unknown_view_is_told(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    from bugzoo.running import Reading

    shell.program.begin("04")
    monkeypatch.setattr(looks, "measured", lambda names, *_: dict.fromkeys(names, Reading(why_not="nothing")))
    for name in ("loss_curve", "time", "loss_curve"):
        shell.program.look(name)
    with pytest.raises(UserError, match=r"'loss_curv'.*`program\.views\(\)` lists all"):  # no command line here
        shell.program.look("loss_curv")
    assert record.looked(shell.program.ticket) == ["loss_curve", "time"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda program: program.instrument("fresh_gradient"), r"Use program\.look\('gradients'\)"),
        (lambda program: program.instrument("replay"), r"Use program\.tool\('replay'\)"),
        (lambda program: program.look("replay"), "no view named 'replay'"),
        (lambda program: program.look("clip_rate"), r"Use program\.look\('gradients'\)"),
        (lambda program: program.instruments(), r"program\.views\(\)"),
        (lambda program: program.tool("gradients"), "no tool named 'gradients'"),
        (lambda program: program.look("gradients", step=3), "takes no step"),
        (lambda program: program.look("batch", step=0), "step=0 is not an optimizer step"),
        (lambda program: program.look("batch", step="7"), "step='7' is not an optimizer step"),
    ],
)
def test_what_cannot_be_opened_is_said_before_anything_runs(call: Any, said: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(looks, "run_worker", lambda job: pytest.fail("it ran"))
    with pytest.raises(UserError, match=said):
        call(Program())


def test_ten_rows_hold_every_step() -> None:
    points = [(step, 2.0, 0.5) for step in range(1, 28)]
    lines = table(points, [(step, 1.0, 0.1) for step in range(1, 28)])
    assert lines[0].split("  ")[-1].strip() == "healthy loss", "behind a column of gradients it would be taken for one"
    assert len(lines) == 11 and lines[1].split() == ["1-3", "2", "0.5", "1"] and lines[-1].startswith("26-27".rjust(11))
    assert table([], []) == ["no optimizer step was made"]
    assert table(points[:2], [])[1:] == ["        1-1         2        0.5", "        2-2         2        0.5"]


@pytest.mark.slow
def test_the_healthy_curve_is_the_run_of_a_right_repair_to_the_last_bit(tmp_path: Any, monkeypatch: Any) -> None:
    """Recorded on this machine, in a process like the learner's: whoever repairs it lies on the curve."""
    from bugzoo.grading.texts import healthy_text

    twin = healthy.Twin("04_flat_loss").curve()
    monkeypatch.setenv("BUGZOO_CACHE", str(tmp_path))
    repaired = healthy.recorded(healthy_text(load("04")))
    assert repaired.points == twin.points and len(twin.steps) == 216
    assert "cross_entropy" not in repr(vars(healthy.Twin("04_flat_loss")))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["17_second_opinion", only_in_prove("03_in_order"), only_in_prove("25_doubted_numbers")]
)
def test_where_nothing_is_wrong_the_healthy_curve_has_another_seed(name: str) -> None:
    """Equal numbers in both columns would answer the exercise before anything is looked at."""
    exercise = load(name)
    run, twin = healthy.recorded(exercise.handed_out), healthy.Twin(name).curve()
    assert run.steps == twin.steps and not any(
        loss == other for loss, other in zip(run.losses, twin.losses, strict=True)
    )
    assert abs(run.metrics["accuracy"] - twin.metrics["accuracy"]) < 0.04
