"""A short interview in JupyterLab in a browser: look, repair in the new cell, say what it is, read the score."""

import pytest

from tests.browser.test_exercise import text
from tests.browser.test_lesson_03 import press, until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

REPAIR = """() => { const notebook = window.jupyterapp.shell.currentWidget.content;
    const model = notebook.widgets.map(cell => cell.model).find(model => model.sharedModel.getSource().startsWith("%%rep"));
    if (!model) return null;
    const lines = model.sharedModel.getSource().split("\\n");
    const kept = lines.filter(line => !line.includes("torch.log(") && !line.includes("if step >="));
    model.sharedModel.setSource(kept.join("\\n")); return [model.id, lines.length - kept.length]; }"""


def test_an_interview_as_a_candidate(lab) -> None:
    lab.open("notebooks/interview.ipynb")
    for cell in ("setup", "sit", "evidence", "program", "diagnosis"):
        lab.run_cell(cell)
    assert lab.errors() == []

    # nothing to end yet
    lab.run_cell("close")
    assert "Not attempted" in text(lab.outputs("close")) and "log_at_step" not in text(lab.outputs("close"))

    evidence = lab.show("evidence")
    evidence.locator("select").select_option(label=next(
        label for label in evidence.locator("select option").all_inner_texts() if "first_non_finite" in label
    ))  # fmt: skip
    press(evidence, "Ask (costs 2)")
    assert until(lambda: "first_non_finite.step" in evidence.inner_text())
    assert "28 of 30" in evidence.inner_text()
    lab.show("evidence")
    lab.picture("interview_evidence")

    # the program came into a new cell; the repair is kept and runs nothing
    found = lab.page.evaluate(REPAIR)
    assert found and found[1] == 2, found
    lab.run_cell(found[0])
    assert "Saved" in text(lab.outputs(found[0]))

    form = lab.show("diagnosis")
    causes = form.locator("select").first.locator("option").all_inner_texts()
    form.locator("select").first.select_option(label=next(one for one in causes if "log(0)" in one))
    form.locator("input[type=text]").first.fill("56")
    press(form, "Say it")
    assert until(lambda: "That is the cause" in form.inner_text())
    form.locator("input[type=radio]").first.check()
    lab.show("diagnosis")
    lab.picture("interview_diagnosis")

    lab.run_cell("hand-in")
    assert "is healthy" in text(lab.outputs("hand-in")), text(lab.outputs("hand-in"))
    lab.run_cell("close")
    said = text(lab.outputs("close"))
    assert "log_at_step" in said and "total" in said and "(finished)" in said, said
    lab.show("close")
    lab.picture("interview_debrief")
    assert lab.errors() == []
