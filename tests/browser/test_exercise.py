"""One exercise in JupyterLab in a browser: it is wrong as handed out, the repair is typed, and it passes."""

import re

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]
NOTEBOOK, NAME = "exercises/07_sudden_nan.ipynb", "07_sudden_nan"


def text(outputs: list[dict]) -> str:
    """What a cell printed, showed or raised."""
    parts = []
    for output in outputs:
        data = output.get("data", {})
        parts += [
            output.get("text", ""),
            data.get("text/plain", ""),
            data.get("text/html", ""),
            data.get("text/markdown", ""),
            output.get("evalue", ""),
        ]
    return "\n".join("".join(part) for part in parts)


def test_typing_the_repair_passes_the_exercise(lab) -> None:
    lab.open(NOTEBOOK)
    # by code in the cell that is there for it: the form by mouse and keyboard has its own tests
    lab.page.evaluate(
        """source => window.jupyterapp.shell.currentWidget.content.widgets
            .find(cell => cell.model.id === 'diagnosis-answer').model.sharedModel.setSource(source)""",
        'filled = form.hand_in(cause="something else", place=1)',
    )
    lab.run_all()
    before = text(lab.outputs("repair"))
    assert "not attempted" in before and not re.search(r"\bpassed\b.*5", before), before
    assert "as handed out" in text(lab.outputs("look"))
    lab.show("repair")
    lab.picture("exercise_unsolved")

    # the repair, typed: the folded cell opened, the caret to the line, two lines marked, deleted
    cell = lab.show("program-training")
    assert cell.locator(".cm-line").count() == 0, "the code is folded"
    cell.locator(".jp-Placeholder-content").first.click()
    cell.locator(".cm-line", has_text="torch.exp(").click()
    keyboard = lab.page.keyboard
    keyboard.press("Home")
    keyboard.press("Home")
    for _ in range(2):
        keyboard.press("Shift+ArrowDown")
    keyboard.press("Delete")
    source = lab.page.evaluate(
        """() => window.jupyterapp.shell.currentWidget.content.widgets
            .find(cell => cell.model.id === 'program-training').model.sharedModel.getSource()"""
    )
    assert "largest" not in source and "F.cross_entropy(logits, targets)\n        loss.backward()" in source, source
    lab.picture("exercise_typed")

    for name in ("program-training", "repair", "debrief"):
        lab.run_cell(name)
    after = text(lab.outputs("repair"))
    lab.show("repair")
    lab.picture("exercise_solved")
    assert "passed: 5 of 5" in after, after
    assert "Look-alikes" in text(lab.outputs("debrief"))
    assert lab.errors() == []
