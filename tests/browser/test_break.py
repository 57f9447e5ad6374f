"""A *break* exercise in JupyterLab in a browser: the edit is typed into the open program, seen in the views, and passes."""

import pytest

from tests.browser.test_exercise import text

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.sampled(0)]  # three minutes; others type in the gate


def test_typing_an_edit_passes_the_exercise(lab) -> None:
    lab.open("exercises/06_knows_nothing.ipynb")
    lab.run_all()
    before = text(lab.outputs("repair"))
    assert "not attempted" in before and "The program is unchanged." in before, before
    assert "once your edit passes" in text(lab.outputs("debrief"))
    hints = lab.show("hints")
    hints.locator("button").first.click()
    hints.get_by_text("Hint 1 opens after 1 try. You have made 0.").wait_for(timeout=20_000)

    cell = lab.show("program-training")
    cell.locator(".cm-line", has_text="optimizer.zero_grad()").click()  # the code is open
    lab.page.keyboard.press("End")
    lab.page.keyboard.press("Enter")
    lab.page.keyboard.type("targets = targets.roll(1)")
    lab.picture("break_typed")
    for name in ("program-training", "more"):
        lab.run_cell(name)
    assert "with your change" in text(lab.outputs("program-training"))
    lab.show("more")
    lab.picture("break_run")
    for name in ("repair", "debrief"):
        lab.run_cell(name)
    after = text(lab.outputs("repair"))
    lab.show("repair")
    lab.picture("break_passed")
    assert "passed: 10 of 10 points" in after, after
    assert "One edit that does it" in text(lab.outputs("debrief"))
    lab.show("debrief")
    lab.picture("break_debrief")
    assert lab.errors() == []
