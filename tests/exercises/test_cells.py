"""Graded cells in a notebook that is not as it should be: what to do is said, and it costs no attempt."""

import json
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import KernelManager

from bugzoo import record
from bugzoo.grading.exercises import load
from bugzoo.proving import leaks
from tests.exercises.course import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]
NAME = "04_flat_loss"
FREE = "costs no attempt"
GUESS = """from bugzoo.grading import cell
form = cell.form('04_flat_loss')
handed = form.hand_in(cause='something else', place=1)"""


class Kernel:
    """One kernel, into which cells of the exercise are put by their id."""

    def __init__(self, folder: Path, **own: str) -> None:
        self.folder = folder
        book = nbformat.read(ROOT / "exercises" / f"{NAME}.ipynb", as_version=4)
        self.cells = {cell.id: cell.source for cell in book.cells}
        environment = {"IPYTHONDIR": str(folder), "BUGZOO_DATA": str(folder / "data")} | own
        self.manager = KernelManager(kernel_name="python3")
        quiet = ["--IPKernelApp.log_level=40"]
        self.manager.start_kernel(cwd=str(folder), extra_arguments=quiet, env=_whole(environment))
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=120)

    def run(self, text: str) -> str:
        """What a cell shows: prints, results and errors."""
        texts: list[str] = []
        self.client.execute_interactive(
            self.cells.get(text, text), timeout=300, output_hook=lambda m: texts.append(_text(m))
        )
        return re.sub(r"\x1b\[[0-9;]*m", "", "".join(texts))

    def kinds(self, text: str) -> list[tuple[str, str]]:
        """(kind of message, text) of what a cell sends, in its order."""
        sent: list[tuple[str, str]] = []
        self.client.execute_interactive(
            self.cells.get(text, text), timeout=300, output_hook=lambda m: sent.append((m["msg_type"], _text(m)))
        )
        return sent

    def end(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def _whole(own: dict[str, str]) -> dict[str, str]:
    return os.environ | own | {"OMP_NUM_THREADS": "1"}


def _text(message: dict[str, Any]) -> str:
    content = message["content"]
    if message["msg_type"] == "stream":
        return content["text"]
    if message["msg_type"] == "error":
        return "\n".join(content["traceback"])
    return content.get("data", {}).get("text/plain", "") if message["msg_type"] == "execute_result" else ""


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kernel]:
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path / "data"))
    started = Kernel(tmp_path)
    yield started
    started.end()


def test_nothing_that_is_missing_costs_anything(kernel: Kernel) -> None:
    first = kernel.run("repair")
    assert FREE in first and "Run the notebook's cells from the top" in first and first.endswith("0.0")
    assert "not attempted" in kernel.run("diagnosis")
    kernel.run("setup")
    again = kernel.run("setup")
    assert "Run the next cells" in again and "already" not in again
    closed = kernel.run("repair")
    assert closed.startswith("not attempted: The program is unchanged.") and closed.endswith("0.0")
    assert "opens once you have handed in your diagnosis" in kernel.run("debrief")
    kernel.run(GUESS)
    kernel.run("program.sections.pop('Head')")
    missing = kernel.run("repair")
    assert FREE in missing and "`%%program Head` was not run" in missing and "exercises reset" in missing
    assert "there is no such section. Use one of Head" in kernel.run("%%program Trainig\nstep = 0")
    kernel.run("program = 3")
    assert FREE in (other := kernel.run("repair")) and "a value of type int" in other
    kernel.run("form = None")
    assert "wrong" in kernel.run("diagnosis"), "what was handed in is on record, whatever became of the form"
    edited = kernel.run(kernel.cells["repair"].replace(NAME, "04_flat_los").replace('")', '", program="x = 1")'))
    assert FREE in edited and NAME in edited
    assert record.standing() == {} and "Error" not in kernel.run("hypothesis")


@pytest.mark.sampled(0)
def test_before_the_diagnosis_a_wrong_repair_is_told_by_groups(kernel: Kernel) -> None:
    kernel.run("setup")
    kernel.run(kernel.cells["program-settings"].replace("1e-3", "1e-4"))
    wrong = kernel.run("repair")
    assert wrong.startswith("wrong.\n") and wrong.endswith("0.0"), wrong
    text = wrong.removesuffix("0.0")
    assert leaks.in_groups(text) == [] and "failed       What was wrong is gone" in text, wrong
    assert "Details open with your complete diagnosis" in text
    notes = record.notes(load(NAME).scenario.ticket, "repair")
    assert [(note["status"], note["passed"], note["points"]) for note in notes] == [("wrong", False, 0.0)]


@pytest.mark.sampled(0)
def test_before_the_diagnosis_a_right_repair_is_told_by_groups_and_earns_nothing(kernel: Kernel) -> None:
    ticket = load(NAME).scenario.ticket
    kernel.run("setup")
    kernel.run(mended(kernel))
    kernel.run(f"from bugzoo.grading import cell\nform = cell.form('{NAME}')\nkept = form.keep('something else', 50)")
    passed = kernel.run("repair")
    assert passed.startswith("passed.\n") and passed.count("passed  ") == 5 and passed.endswith("0.0"), passed
    assert leaks.in_groups(passed.removesuffix("0.0")) == [], passed
    assert record.standing() == {} and record.first_diagnosis(ticket) is None
    notes = record.notes(ticket, "repair")
    assert [(note["status"], note["passed"], note["points"]) for note in notes] == [("passed", False, 0.0)]
    assert "opens once you have handed in your diagnosis" in kernel.run("debrief")


def mended(kernel: Kernel) -> str:
    return kernel.cells["program-training"].replace("F.softmax(logits, dim=-1)", "logits")


@pytest.mark.sampled(0)
def test_after_the_diagnosis_a_repair_is_graded_and_another_diagnosis_is_practice(kernel: Kernel) -> None:
    kernel.run("setup")
    kernel.run("%%program Evaluation\nraise ValueError('a secret')")
    crashed = kernel.run("repair")
    assert crashed.startswith("your code raised: The program stopped with an error.") and "secret" not in crashed
    kernel.run("program-evaluation")
    kernel.run(mended(kernel))
    assert kernel.run("repair").startswith("passed.\n")
    kernel.run(GUESS)
    assert "opens once your repair passes" in kernel.run("debrief"), "what passed before is not on record"
    graded = kernel.run("repair")
    assert graded.startswith("passed: 5 of 5 points") and "ok  Loss on new data: " in graded, graded
    assert record.standing()[NAME] == {"attempts": 1, "best": 5.0, "passed": True}
    assert "Error" not in kernel.run("handed = form.hand_in(cause='double softmax', place=1)")
    practice = kernel.run("diagnosis")
    assert practice.startswith("wrong: 0 of 5 points") and "Practice: your latest diagnosis." in practice, practice


@pytest.mark.sampled(0)
def test_cells_out_of_order_are_put_in_order_and_a_slip_is_no_verdict_on_the_training(kernel: Kernel) -> None:
    kernel.run("setup")
    kernel.run(GUESS)
    for name in ("evaluation", "training", "model", "data", "settings", "head"):
        assert "saved. Run it with program.run()" in kernel.run(f"program-{name}")
    assert kernel.run("print(program.source)").index("# %% Settings") < kernel.run("print(program.source)").index(
        "# %% Training"
    )
    kernel.run("%%program Settings\nseed = 0 +")
    slip = kernel.run("repair")
    assert "cannot be graded" in slip and "line" in slip and record.standing() == {}
    kernel.run("program-settings")
    same = kernel.run("repair")
    assert same.startswith("not attempted")  # as it was handed out, whatever the order
    assert "run it first, then this one again" in same
    assert record.standing() == {}
    kernel.run(kernel.cells["program-settings"].replace("1e-3", "1e-4"))
    wrong = kernel.run("repair")
    assert wrong.startswith("wrong: 0 of 5 points") and "Grading" not in wrong and "run it first" not in wrong
    listed = re.findall(r"^(ok |NO ) ([A-Z][A-Za-z_ ]+): ", wrong, re.MULTILINE)
    assert {mark for mark, _ in listed} == {"ok ", "NO "}, wrong
    assert "NO  Inputs of the loss: " in wrong and "More than 1 nat passes." in wrong
    assert "not listed raised no alarm" in wrong
    assert record.standing()[NAME] == {"attempts": 1, "best": 0.0, "passed": False}
    assert "opens once your repair passes. Or give up" in kernel.run("debrief")
    given_up = kernel.run(kernel.cells["debrief"].replace('")', '", give_up=True)'))
    assert "### Look-alikes" in given_up and "10_restless_loss" in given_up


def test_a_slip_in_a_programs_cell_is_shown_once_and_the_cell_has_failed(kernel: Kernel) -> None:
    text = "%%program Settings\nseed = 0 +"
    kernel.run("setup")
    printed = kernel.run(text)
    assert len(re.findall(r"SyntaxError: ", printed)) == 1 and "bugzoo" not in printed, printed
    reply = kernel.client.execute_interactive(text, output_hook=lambda m: None)
    assert reply["content"]["status"] == "error" and reply["content"]["ename"] == "SyntaxError"
    assert len(re.findall(r"NameError: ", kernel.run("no_such_name"))) == 1  # other cells' errors are shown as ever
    assert kernel.run(text) and kernel.run("print(program)").startswith("<program W-")


@pytest.mark.sampled(0)
def test_the_program_runs_before_its_cells_and_never_in_this_kernel(kernel: Kernel) -> None:
    kernel.run("setup")
    printed = kernel.run("look") + kernel.run("numbers")
    assert "as handed out" in printed and "healthy: finished; validation accuracy 95 %" in printed, printed
    kernel.run("%%program Evaluation\nprint(2 * 21)\nmetrics = {}")
    assert kernel.run("print('model' in dir(), 'metrics' in dir())").strip() == "False False"
    other = Kernel(Path(kernel.folder))  # begun anew: what was looked at and handed in is still there
    try:
        kernel.run("look-first")
        kernel.run(GUESS)
        other.run("setup")
        other.run("hypothesis")
        other.run("form")
        assert other.run("print(program.diagnosed, form.diagnosis.cause)").strip() == "True something else"
        assert "usual: " in other.run("look-first")
    finally:
        other.end()


def test_the_form_needs_no_hints_and_counts_those_that_come_later(kernel: Kernel) -> None:
    for name in ("setup", "hypothesis", "form"):
        assert "Error" not in kernel.run(name)
    ask = "print(form.hand_in(cause='something else', place={}).hints)".format
    kernel.run("hints")
    assert "opens after 1 try" in kernel.run("print(hints.next())"), "no guess yet"
    assert kernel.run(ask(1)).strip() == "0", "a button that was not pressed opens nothing"
    assert kernel.run("opened = hints.next(), hints.next()\nprint(hints.opened)").strip() == "1", "one guess, one hint"
    assert kernel.run(ask(2)).strip() == "1"
    kernel.run("opened = hints.next()")
    assert kernel.run(ask(2)).strip() == "2"
    for name in ("hints", "hypothesis", "form"):  # begun anew: what was read stays read
        kernel.run(name)
    assert kernel.run(ask(2)).strip() == "2"


@pytest.mark.sampled(0)
def test_a_front_end_shows_that_the_grader_works_and_nothing_of_it_stays(tmp_path: Path) -> None:
    watched = Kernel(tmp_path, BUGZOO_WIDGETS="1")
    try:
        watched.run("setup")
        watched.run(GUESS)
        sent = [
            message for message in watched.kinds("repair") if message[0] in ("stream", "clear_output", "execute_result")
        ]
        assert [kind for kind, _ in sent].count("execute_result") == 0, (
            "the points stand above; they are not said again"
        )
        watched.run("import os; os.environ['NBGRADER_EXECUTION'] = 'autograde'")
        graded = watched.kinds("diagnosis")
        assert ("execute_result", "0.0") in graded, "what shows no number earns everything with nbgrader"
    finally:
        watched.end()
    cleared = [kind for kind, _ in sent].index("clear_output")
    before, after = ("".join(text for _, text in part) for part in (sent[:cleared], sent[cleared + 1 :]))
    assert before.startswith("Grading: running your program") and "\n  starting ...\n" in before, sent
    assert "Grading" not in after and "starting" not in after and after.startswith("not attempted"), sent


@pytest.mark.serial
def test_the_stop_button_ends_a_grading_and_costs_nothing(kernel: Kernel) -> None:
    kernel.run("setup")
    kernel.run(GUESS)
    kernel.run(kernel.cells["program-settings"].replace("epochs = 6", "epochs = 6000"))
    timer = threading.Timer(8, kernel.manager.interrupt_kernel)
    timer.start()
    assert "KeyboardInterrupt" in kernel.run("repair")
    assert record.standing() == {}
    assert kernel.run("print(1)").strip() == "1"  # the kernel lives on


def test_a_notebook_without_its_graded_cell_is_noticed(tmp_path: Path) -> None:
    from bugzoo.grading import files

    files.build(tmp_path)
    path = tmp_path / "exercises" / f"{NAME}.ipynb"
    notebook = json.loads(path.read_text())
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["id"] != "repair"]
    path.write_text(json.dumps(notebook))
    assert any(NAME in text and "exercises build" in text for text in files.stray(tmp_path))
    back, before = files.reset(NAME, tmp_path)
    assert files.stray(tmp_path) == [f"exercises/{NAME}.before.ipynb has no declaration"]
    assert back == path and before is not None and json.loads(before.read_text()) == notebook
