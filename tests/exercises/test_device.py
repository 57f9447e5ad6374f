"""The device line of an exercise: its program runs there, its cells say "cpu", and the grader keeps to the CPU."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from bugzoo import device, lab
from bugzoo.errors import UserError
from bugzoo.grading import debrief, healthy, looks
from bugzoo.grading.exercises import exercises, load, with_program
from bugzoo.grading.grade import grade_exercise
from bugzoo.grading.model import UNCHANGED
from bugzoo.grading.notebook import KINDS, build
from bugzoo.grading.texts import healthy_text
from bugzoo.grading.workbench import Program
from bugzoo.running import Reading, run_worker

ON_CPU = {"07_sudden_nan", "35_no_progress"}


@pytest.fixture(autouse=True)
def gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which torch says that there is a GPU; nothing here trains on it."""
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path))
    monkeypatch.delenv("BUGZOO_DEVICE", raising=False)
    monkeypatch.setattr(device, "_used", "cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)


def moved(text: str, to: str = "cuda") -> str:
    assert text.count('\ndevice = "cpu"\n') == 1
    return text.replace('\ndevice = "cpu"\n', f'\ndevice = "{to}"\n')


@pytest.mark.parametrize("name", list(with_program()))
@pytest.mark.parametrize("kind", KINDS)
def test_the_line_comes_first_and_what_it_means_is_said_once(name: str, kind: str) -> None:
    cells = json.loads(build(exercises()[name], kind))["cells"]
    first, below = next((cell, cells[at + 1]) for at, cell in enumerate(cells) if cell["cell_type"] == "code")
    begin = "".join(first["source"]).splitlines()
    text = "".join(below["source"])
    if name in ON_CPU:
        assert not [line for line in begin if "device" in line] and begin[-1] == f'program.begin("{name}")'
        assert "on the CPU on every machine" in text and text.endswith(exercises()[name].on_cpu)
        return
    assert begin[0] == 'device = "cpu"  # or "auto", "cuda"' and begin[-1] == f'program.begin("{name}", device)'
    assert below["id"] == "device-text" and "are from a CPU" in text and "The grader uses the CPU." in text
    assert "".join("".join(cell["source"]) for cell in cells).count("are from a CPU") == 1


@pytest.mark.parametrize("name", list(with_program()))
def test_what_runs_is_on_the_device_and_what_the_cells_say_stays(name: str, capsys: Any) -> None:
    text, program = load(name).handed_out, Program()
    program.begin(name, "auto")
    assert program.source == text == program.original, "what is handed in"
    if name in ON_CPU:
        assert program.as_run == text and device.used() == "cpu" and "cuda" not in capsys.readouterr().out
    else:
        assert program.as_run == moved(text) and device.used() == "cuda"
        assert "the program as handed out, on cuda." in capsys.readouterr().out
    program.begin(name, "cpu")  # the first cell again, with another choice
    assert program.as_run == text == program.source and "cuda" not in capsys.readouterr().out


def test_a_bad_device_begins_nothing() -> None:
    program = Program()
    with pytest.raises(UserError, match="'gpu' is not allowed"):
        program.begin("04", "gpu")
    assert program.sections == {} and program.ticket == ""


def test_an_older_notebook_stays_on_the_cpu() -> None:
    program = Program()
    program.begin("04")
    assert program.as_run == load("04").handed_out


def test_run_view_tool_and_twin_get_the_text_on_the_device(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    ran: dict[str, Any] = {}

    def recorded(text: str, ranks: int = 1) -> lab.Curve:
        ran["twin"] = text
        return lab.Curve([1], [1.0], [1.0], {}, device.of_text(text))

    def live(text: str, **how: Any) -> None:
        ran.update(run=text, job=how["job"].source, curve=how["healthy"])

    def measured(names: list[str], source: str, *_: Any) -> dict[str, Reading]:
        ran["view"] = source
        return dict.fromkeys(names, Reading({"loss": 1.0}))

    monkeypatch.setattr(healthy, "recorded", recorded)
    monkeypatch.setattr(lab, "live", live)
    monkeypatch.setattr(looks, "measured", measured)
    monkeypatch.setattr(looks, "use", lambda name, source, *_: ran.update(tool=source))
    program = Program()
    program.begin("04", "cuda")
    program.run()
    program.look("time")
    program.tool("replay")
    broken, whole = moved(load("04").handed_out), moved(healthy_text(load("04")))
    assert [ran[key] for key in ("run", "job", "view", "tool")] == [broken] * 4
    assert ran["twin"] == whole and ran["curve"].device == "cuda"
    printed = capsys.readouterr().out
    assert "This runs the program as handed out, on cuda." in printed and "  measured on cuda\n" in printed


def test_a_cell_that_names_a_device_itself_keeps_it_and_its_twin_is_told_apart() -> None:
    from bugzoo.lab import healthy_twin

    program = Program()
    program.begin("04", "cpu")
    program.sections["Settings"] = moved("\n" + program.sections["Settings"], "cuda")
    assert 'device = "cuda"' in program.as_run == program.source
    curve = lab.Curve([1], [1.0], [1.0])
    assert healthy_twin.case_of(program.as_run, curve).places == (", on cuda", ", recorded on the CPU")


def test_a_program_really_runs_there_in_its_own_process() -> None:
    """On `meta`, the one other device that every machine has: tensors without numbers."""
    program = Program()
    program.begin("04", "cpu")
    program.device = "meta"
    program.sections["Evaluation"] = (
        'print(device, torch.zeros(3, device=device).device.type)\nmetrics = {"loss": 0.0}\n'
    )
    program.sections["Training"] = ""
    run = run_worker(healthy.job(program.as_run))
    assert run.outcome == "finished" and run.stdout.split() == ["meta", "meta"], run.trace.error


def test_numbers_say_where_both_ran() -> None:
    from bugzoo.grading.workbench import report

    points, curve = [(1, 1.0, 1.0)], lab.Curve([1], [1.0], [1.0], {}, "cuda")
    lines = report(points, "finished", {}, curve, "cuda")
    assert lines[-2:] == ["this run, on cuda: finished", "healthy, on cuda: finished"]
    assert report(points, "finished", {}, lab.Curve([1], [1.0], [1.0]))[-2:] == [
        "this run: finished",
        "healthy: finished",
    ]


@pytest.mark.parametrize("name", ["04_flat_loss", "06_knows_nothing"])
def test_the_unchanged_program_is_unchanged_on_a_gpu_too(name: str) -> None:
    result = grade_exercise(name, moved(load(name).handed_out))
    assert (result.status, result.message) == ("not attempted", UNCHANGED)


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_a_repair_that_names_a_gpu_is_graded_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no GPU here: a run on one would raise."""
    monkeypatch.undo()  # the grader's own optimizer would ask the GPU that is only pretended
    result = grade_exercise("04", moved(healthy_text(load("04"))), seeds=(0,))
    assert result.status == "passed", str(result)


def test_the_debrief_draws_both_runs_on_the_device_and_its_lines_name_none(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    labels: list[Any] = []

    def recorded(text: str, ranks: int = 1) -> lab.Curve:
        ran.append(text)
        return lab.Curve([1], [1.0], [1.0], {}, device.of_text(text))

    monkeypatch.setattr(healthy, "recorded", recorded)
    monkeypatch.setattr("bugzoo.lab.summary.picture", lambda *a, names: labels.append(names) or b"")
    exercise, program = load("04"), Program()
    program.begin("04", "auto")
    debrief.picture(exercise, program)
    assert labels[-1] == ("as handed out, on cuda", "as it is now, on cuda")
    assert all('\ndevice = "cuda"\n' in text for text in ran)
    program.begin("04", "cpu")
    debrief.picture(exercise, None)
    assert labels[-1] == ("as handed out", "healthy")
    assert "device" not in debrief.text(exercise).partition("```diff\n")[2].partition("\n```")[0]
