"""A short interview in JupyterLab in a browser: look, repair in the new cell, say what it is, read the score."""

import re

import pytest

from tests.browser.test_exercise import text
from tests.browser.test_lesson_03 import press, until

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.sampled(0)]

REPAIR = """() => { const notebook = window.jupyterapp.shell.currentWidget.content;
    const model = notebook.widgets.map(cell => cell.model).find(model => model.sharedModel.getSource().startsWith("%%rep"));
    if (!model) return null;
    const lines = model.sharedModel.getSource().split("\\n");
    const kept = lines.filter(line => !line.includes("torch.log(") && !line.includes("if step >="));
    model.sharedModel.setSource(kept.join("\\n")); return [model.id, lines.length - kept.length]; }"""


def choose(evidence, name: str) -> None:
    """Choose a request by its name. ipywidgets writes the spaces of an option as hard ones."""
    options = evidence.locator("select option")
    assert until(lambda: options.count() > 1), evidence.inner_text()
    labels = options.all_inner_texts()
    evidence.locator("select").select_option(label=next(label for label in labels if f"·\xa0{name}\xa0·" in label))


def test_an_interview_as_a_candidate(lab) -> None:
    lab.open("notebooks/interview.ipynb")
    for cell in ("setup", "sit", "evidence", "program", "diagnosis"):
        lab.run_cell(cell)
    assert lab.errors() == []

    # nothing to end yet
    lab.run_cell("close")
    assert "Not attempted" in text(lab.outputs("close")) and "log_at_step" not in text(lab.outputs("close"))

    evidence = lab.show("evidence")
    choose(evidence, "layers")
    press(evidence, "Ask (costs 4)")
    assert until(lambda: "steps whose loss or gradient is not finite" in evidence.inner_text())
    assert "usual: 0" in evidence.inner_text() and "26 of 30" in evidence.inner_text()
    picture = evidence.locator("img").first
    assert until(lambda: picture.evaluate("image => image.complete && image.naturalWidth") >= 700)

    # a step is asked for where a view takes one, and the clock stops for the further run
    assert not evidence.locator("input[type=text]").first.is_visible()
    choose(evidence, "batch")
    evidence.locator("input[type=text]:visible").first.fill("50")
    evidence.locator("input[type=text]:visible").first.press("Enter")
    press(evidence, "Ask (costs 10)")
    assert until(lambda: re.search(r"optimizer step of the batch shown\s+50\b", evidence.inner_text()))
    assert "16 of 30" in evidence.inner_text() and evidence.locator("img").count() == 2
    lab.show("evidence")
    lab.picture("interview_evidence")

    # the program came into a new cell; the repair is kept and runs nothing
    repair = lab.page.evaluate(REPAIR)
    assert repair and repair[1] == 2, repair
    lab.run_cell(repair[0])
    assert "Saved" in text(lab.outputs(repair[0]))

    form = lab.show("diagnosis")
    causes = form.locator("select").first.locator("option").all_inner_texts()
    form.locator("select").first.select_option(label=next(cause for cause in causes if "log(0)" in cause))
    form.locator("input[type=text]").first.fill("56")
    form.locator("select").nth(1).select_option(label="layers")
    press(form, "Say it")
    assert until(lambda: "That is the cause" in form.inner_text())
    form.locator("input[type=radio]").first.check()
    lab.show("diagnosis")
    lab.picture("interview_diagnosis")

    lab.run_cell("hand-in")
    assert "is healthy" in text(lab.outputs("hand-in")), text(lab.outputs("hand-in"))
    lab.run_cell("close")
    debrief = text(lab.outputs("close"))
    assert "layers, opened" in debrief and "What `bugzoo checkup` would have said" in debrief
    assert "log_at_step" in debrief and "total" in debrief and "(finished)" in debrief, debrief
    lab.show("close")
    lab.picture("interview_debrief")
    assert lab.errors() == []
