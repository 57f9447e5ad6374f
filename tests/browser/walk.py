"""A lesson or an exercise gone through as a learner does: each cell in turn, each question by clicks, code typed.

`WAYS`: everything answered right, and everything answered wrong with nothing written.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from bugzoo import lab as bugzoo_lab
from bugzoo.choices import choices
from bugzoo.course.book import notebook
from bugzoo.course.questions import Choices, Match, Number, Order, Question
from bugzoo.course.source import Lesson
from bugzoo.diagnostics.causes import NOTHING
from bugzoo.grading import diagnosis, repairs
from bugzoo.grading.answers import right
from bugzoo.grading.kinds.five import answers as fives
from bugzoo.grading.model import Exercise
from bugzoo.grading.notebook import build
from bugzoo.grading.onset import onset
from bugzoo.lab.quiz_widgets import LETTERS, plain
from bugzoo.scenario import Scenario
from tests.browser.conftest import line_index
from tests.browser.test_exercise import text
from tests.browser.test_lesson_03 import until

WAYS = ("right", "wrong")
SECONDS = 240.0
"""Longest cell beside other work; `bugzoo lessons check` measures the cells themselves."""


def lesson(lab: Any, asked: Lesson, way: str) -> dict[str, str]:
    """Go through a lesson. Return cell -> what it shows at the end; check on the way that no result comes too early."""
    book = notebook(asked)
    for cell in (part for part in book.cells if part.cell_type == "code"):
        name = cell.id.replace("-", "_")
        if name in asked.tasks and way == "right":
            task_cell = next(part for part in asked.of("task") if part.name == name)
            write(lab, cell.id, asked.task_code(task_cell, asked.tasks[name].solution))
        lab.show(cell.id)
        lab.run_cell(cell.id, SECONDS)
        if question := asked.questions.get(name):
            answer(lab, cell.id, question, way)
            kept_back(lab, asked, cell.id, question)
        elif name in asked.drawings:
            lab.show(cell.id).locator("button", has_text="This is my guess").click()
            says(lab.show(cell.id), "Saved: ")
        elif call := re.search(r"lab\.diagnose\((\w+),", cell.source):
            hand_in(lab, cell.id, case_of(asked, call[1]), way)
    assert lab.errors() == []
    return {part.id: lab.show(part.id).inner_text() for part in book.cells if part.cell_type == "code"}


def kept_back(lab: Any, asked: Lesson, name: str, question: Question) -> None:
    """A prediction is saved, and no reply stands beside it before its run."""
    if next(cell for cell in asked.cells if cell.key == name and cell.kind in ("check", "predict")).kind == "check":
        return
    box = lab.show(name)
    says(box, "Saved: ")
    replies = [why for _, why, _ in question.answers] if isinstance(question, Choices) else []
    assert not [why for why in replies if plain(why) in plain(box.inner_text())], box.inner_text()


def answer(lab: Any, name: str, question: Question, way: str) -> None:
    """Answer a question, right or wrong."""
    box, good = lab.show(name), way == "right"
    if isinstance(question, Choices):
        place = next(place for place, (_, _, right) in enumerate(question.answers) if right == good)
        box.locator("input[type=radio]").nth(place).check()
    elif isinstance(question, Number):
        box.locator("input").first.fill(question.right.shown if good else "123456")
        box.locator("button", has_text="Answer").click()
    elif isinstance(question, Match):
        for place, (_, right) in enumerate(question.pairs):
            match(box.locator("select").nth(place), plain(right), good)
        box.locator("button", has_text="Check").click()
    elif isinstance(question, Order):
        order(box, [plain(line) for line in question.items], good)
    assert until(lambda: re.search(r"Saved: |Right|Not quite", box.inner_text()) is not None), box.inner_text()


def match(chooser: Any, right: str, good: bool) -> None:
    options = [option.replace("\xa0", " ").strip() for option in chooser.locator("option").all_inner_texts()]
    fits: Callable[[str], bool] = lambda one: (one[3:] == right) == good and one[:1] in LETTERS and one[1:2] == ")"  # noqa: E731
    chooser.select_option(index=next(place for place, option in enumerate(options) if fits(option)))


def order(box: Any, items: list[str], good: bool) -> None:
    """Move each line up to its place; to be wrong, the last one comes first."""
    target = items if good else [items[-1], *items[:-1]]

    def shown() -> list[str]:
        lines = box.locator(".bugzoo-form .widget-hbox .bugzoo-status").all_inner_texts()
        return [status.split(". ", 1)[1].strip() for status in lines]

    for place, line in enumerate(target):
        for at in range(shown().index(line), place, -1):
            box.locator(".widget-hbox").nth(at).locator("button", has_text="up").click()
            assert until(lambda at=at, line=line: shown()[at - 1] == line), shown()
    box.locator("button", has_text="Check").click()


def case_of(asked: Lesson, variable: str) -> Scenario:
    """Return the case that a cell `variable = lab.case(...)` names."""
    definition = re.search(rf'(?m)^{variable} = lab\.case\("([^"]+)"\)', "\n".join(cell.text for cell in asked.cells))
    assert definition, variable
    return bugzoo_lab.case(definition[1])


def hand_in(lab: Any, name: str, case: Scenario, way: str) -> None:
    """Fill in a lesson's form and hand it in."""
    [(fault, params)] = case.specs
    accepted = [case.healthy().source, *repairs.repairs(case.source, fault, params).values()]
    step = onset(fault, params, case.source, case.ranks)
    solution = diagnosis.right(fault, params, case.source, accepted, choices(fault, case.ticket), step)
    form = lab.show(name)
    causes = [label.strip() for label in form.locator(".widget-radio-box").first.locator("label").all_inner_texts()]
    good = way == "right"
    cause = next(place for place, label in enumerate(causes) if (label in solution.causes) == good)
    form.locator(".widget-radio-box").first.locator("label").nth(cause).click()
    letter = solution.test.letter if good else next(label for label in "ABCD" if label != solution.test.letter)
    form.locator(".widget-radio-box").nth(1).locator("label", has_text=f"{letter})").click()
    form.locator("select").select_option(index=line_index(form, solution.places[0][0]) if good else 1)
    step = solution.step[1] if solution.step else shown_by_the_run(case)
    if step is not None:
        form.locator("input[type=text]").first.fill(str(step if good else step + 50))
    form.locator("button", has_text="Hand in").click()
    says(form, "Saved in ")


def shown_by_the_run(case: Scenario) -> int | None:
    """The first step that is not finite, of a fault that waits for its data; None for one without such a step."""
    if all(fault.symptom != "non_finite" for fault, _ in case.specs):
        return None
    event = case.run().trace.first_non_finite()
    return event.step if event else None


def exercise(lab: Any, asked: Exercise, way: str) -> None:
    """Go through an exercise: look, diagnose by clicks, type the solution, hand it to the grader, read the debrief."""
    solved = {cell["id"]: "".join(cell["source"]) for cell in json.loads(build(asked, "solution"))["cells"]}
    cells = [cell for cell in json.loads(build(asked))["cells"] if cell["cell_type"] == "code"]
    for cell in cells:
        name = cell["id"]
        if name.startswith("program-") and way == "right":
            write(lab, name, solved[name])
        if name == "more" and way == "right" and asked.kind.name != "break":  # the loss curve does not show every fault
            write(lab, name, f'numbers = program.look("{right(asked).evidence[0]}")')
        if name == "diagnosis-answer":
            continue  # an empty cell is never run
        lab.show(name)
        lab.run_cell(name, SECONDS)
        if name == "hypothesis":
            for of in range(len(asked.faults)):
                guess(lab, asked, way, of)
        elif name == "form":
            for of in range(len(asked.faults)):
                solution = right(asked, of)
                form = lab.show(name).locator(".bugzoo-form").nth(of)
                line = 0 if asked.trap else solution.places[0][0]
                place = line_index(form, line) if way == "right" else 1
                form.locator("select").first.select_option(index=place)
                if solution.raised:
                    raised = line_index(form, solution.raised) if way == "right" else 1
                    form.locator("select").nth(1).select_option(index=raised)
                if way == "right" and solution.step:
                    form.locator("input[type=text]").first.fill(str(solution.step[0]))
                form.locator("button", has_text="Hand in").click()
                says(form, "Saved in ")
    assert lab.errors() == []


def five(lab: Any, asked: Exercise, way: str) -> None:
    """Go through a *five*: open one view of each run by clicks, fill in the form, hand in, read the debrief."""
    solution = fives.filled(asked)
    for cell in (part for part in json.loads(build(asked))["cells"] if part["cell_type"] == "code"):
        name = cell["id"]
        if name == "diagnosis-answer":
            continue  # an empty cell is never run
        lab.show(name)
        lab.run_cell(name, SECONDS)
        if name == "readings":
            box = lab.show(name)
            box.locator("select").select_option(label=solution["reading"])
            for place in range(1, fives.RUNS + 1):
                box.locator("button", has_text=f"run {place}").click()
                says(box, f"Readings opened: {place},")
        elif name == "form":
            answer_five(lab.show(name), solution, way == "right")
    assert lab.errors() == []


def answer_five(form: Any, wanted: dict[str, Any], good: bool) -> None:
    """Fill in the form of a *five*; to be wrong, with another run."""
    place = wanted["run"] if good else wanted["run"] % fives.RUNS + 1
    form.locator(".bugzoo-is-run label", has_text=f"run {place}" if place else "none").click()
    if place:
        form.locator(".bugzoo-is-cause label", has_text=wanted["cause"] or "something else").click()
    form.locator(".bugzoo-is-reading select").select_option(label=wanted["reading"])
    form.locator("button", has_text="Hand in").click()
    says(form, "This answer is graded")


def guess(lab: Any, asked: Exercise, way: str, of: int = 0) -> None:
    """Choose a cause and its test, and keep both; of two forms in the one at that place."""
    form, solution = lab.show("hypothesis").locator(".bugzoo-form").nth(of), right(asked, of)
    causes = [label.strip() for label in form.locator(".bugzoo-is-cause label").all_inner_texts()]
    wanted = solution.causes if way == "right" else set(causes) - {"", NOTHING, *solution.causes}
    place = next(place for place, label in enumerate(causes) if label in wanted)
    form.locator(".bugzoo-is-cause label").nth(place).click()
    tests = form.locator(".bugzoo-is-test label")
    letter = solution.test.letter if way == "right" else "A"
    if until(lambda: tests.count() > 0, 10):
        tests.filter(has_text=f"{letter})").first.click()
    form.locator("button", has_text="Keep").click()
    says(form, f"50 % {causes[place]}")


def write(lab: Any, name: str, source: str) -> None:
    """Replace a cell's text, as select all and paste would."""
    lab.page.evaluate(
        """([id, source]) => window.jupyterapp.shell.currentWidget.content.widgets
            .find(cell => cell.model.id === id).model.sharedModel.setSource(source)""",
        [name, source],
    )


def says(box: Any, part: str) -> None:
    assert until(lambda: part in box.inner_text()), (part, box.inner_text())


def said(lab: Any, name: str) -> str:
    """What a cell printed, with its lines joined."""
    return " ".join(text(lab.outputs(name)).split())
