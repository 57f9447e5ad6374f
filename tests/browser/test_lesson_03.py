"""Lesson 03 in JupyterLab in a browser: it runs, the plot moves, the buttons answer, the picture stays."""

import shutil
import time

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]

POINTS = """view => { const plot = view.querySelector('.js-plotly-plot');
    if (!plot?.data || !plot.querySelector('.scatterlayer path.js-line[d^="M"]')) return 0;
    return plot.data.reduce((sum, curve) => sum + (curve.x?.length ?? 0), 0); }"""

GREY = """cells => cells.map(cell => [...cell.querySelectorAll('.bugzoo-status, .widget-label, .widget-radio-box label')]
    .filter(one => one.textContent.trim() && one.offsetParent)
    .map(one => {
        const numbers = text => text.match(/[\\d.]+/g).map(Number);
        const light = text => { const [r, g, b] = numbers(text).slice(0, 3).map(v => { v /= 255;
            return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        let behind = one;
        while (behind && numbers(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
        const ink = light(getComputedStyle(one).color);
        const paper = light(behind ? getComputedStyle(behind).backgroundColor : 'rgb(255, 255, 255)');
        const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
        return [one.textContent.trim().slice(0, 40), ratio]; })).flat()"""
"""[text, contrast] of what the widgets say (the formula of WCAG 2)."""


def points(cell) -> int:
    """Points on all curves of the live plot in a cell."""
    return cell.locator(".bugzoo-live").first.evaluate(POINTS)


def press(cell, name: str) -> None:
    cell.locator("button.jupyter-button:visible", has_text=name).first.click()


def status(cell) -> str:
    return cell.locator(".bugzoo-live .bugzoo-status").first.inner_text()


def until(condition, seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def test_lesson_03_as_a_learner_in_both_themes(lab) -> None:
    lab.open("notebooks/03_hunting_nan.ipynb")
    # a prediction: nothing is chosen beforehand, it is kept and not graded, and the result comes back to it
    for name in ("setup", "guess"):
        lab.run_cell(name)
    question = lab.show("guess")
    assert question.locator("input[type=radio]:checked").count() == 0
    question.locator("input[type=radio]").first.check()
    assert until(lambda: "Saved: a)" in question.inner_text())
    assert "divergence" not in question.inner_text()
    lab.run_all()
    assert lab.errors() == [], "a notebook in which nothing is written yet stops nowhere"
    message = lab.show("numbers").inner_text()
    assert (
        "You said: a) The loss climbs" in message and "It was: c) Nothing at all" in message and "divergence" in message
    )
    assert "You said nothing before the run" in message
    lab.picture("lesson_03_you_said")
    for name in ("first-bad-step", "first-to-speak", "safe-log"):
        message = lab.show(name).inner_text()
        assert "the body is empty" in message and "continues with the solution" in message
    lab.show("victims-run")
    lab.picture("lesson_03_footprint")

    cell = lab.show("live")
    lab.picture("lesson_03_live")
    # a static picture is kept in the file, and the widgets hide it while they live
    assert any("image/png" in output.get("data", {}) for output in lab.outputs("live"))
    assert cell.locator(".jp-RenderedImage:visible").count() == 0
    assert "finished after 216 steps" in status(cell) and "step 51" not in cell.inner_text(), (
        "it shows, and tells nothing"
    )

    # slowly enough for a loaded machine: the buttons must be pressed while it runs
    lab.type_and_run("panel.view.pace = 6; view.pace = 6")
    cell = lab.show("fix")  # the latest `view` of the notebook
    press(cell, "Run")
    assert until(lambda: "running" in status(cell))

    # the plot moves: more points each time
    counts = [points(cell)]
    for _ in range(3):
        assert until(lambda: points(cell) > counts[-1]), f"the plot stood still: {counts}"
        counts.append(points(cell))

    # pause and go on
    press(cell, "Pause")
    assert until(lambda: "paused" in status(cell))
    lab.picture("lesson_03_paused")
    step = status(cell)
    assert until(lambda: points(cell) == int(step.split("step ")[1].split()[0]) * 4 + 864), "all of it is drawn"
    press(cell, "Resume")
    assert until(lambda: "running" in status(cell) and status(cell) != step)
    press(cell, "Stop")
    assert until(lambda: "stopped after" in status(cell))

    # the break-it panel: Run, then Stop
    panel = lab.show("panel")
    press(panel, "Run")
    assert until(lambda: "running" in status(panel) and points(panel) > 432)
    begin = time.monotonic()
    press(panel, "Stop")
    assert until(lambda: "stopped after" in status(panel))
    print(f"Stop answered after {time.monotonic() - begin:.2f} s")
    assert int(status(panel).split("stopped after ")[1].split()[0]) < 216
    lab.picture("lesson_03_panel_stopped")

    # a quick check: nothing is chosen beforehand, the explanation follows the choice
    question = lab.show("which-safe")
    assert question.locator("input[type=radio]:checked").count() == 0
    question.locator("input[type=radio]").nth(2).check()
    assert until(lambda: "Right:" in question.inner_text())
    lab.picture("lesson_03_quick_check")

    # three hints, one at a time, and the form
    hints = lab.show("turn")
    press(hints, "Hint 1: a nudge")
    assert until(lambda: hints.locator("li").count() == 1)
    lab.show("turn")
    lab.picture("lesson_03_hint_and_form")
    readable_in_the_dark(lab)


def readable_in_the_dark(lab) -> None:
    """In the notebook that has been worked through."""
    lab.theme("JupyterLab Dark")
    for cell in ("live", "numbers", "finite-loss", "victims-run", "arithmetic", "fix", "eps-curve", "eps-run", "turn"):
        lab.show(cell)
        lab.picture(f"lesson_03_dark_{cell}")
    panel = lab.show("panel")
    press(panel, "Show the change")
    assert until(lambda: "torch.log" in panel.inner_text())
    lab.show("panel")
    lab.picture("lesson_03_dark_panel")
    for cell in ("live", "finite-loss", "panel", "turn", "turn-form"):
        lab.show(cell)
        ratios = lab.page.locator(".jp-Notebook .jp-mod-active.jp-Cell").evaluate_all(GREY)
        assert ratios, f"nothing to read in {cell}"
        assert all(ratio >= 4.5 for _, ratio in ratios), ratios
    lab.theme("JupyterLab Light")


MINE = """import math


def first_bad_step(loss, grad_norm):
    for step, pair in enumerate(zip(loss, grad_norm), 1):
        if not all(map(math.isfinite, pair)):
            return step


first_bad_step = lab.try_out("03/first_bad_step", first_bad_step)
"""


def test_what_is_written_is_judged_where_it_stands(lab, server) -> None:
    shutil.copy(server.folder / "notebooks/03_hunting_nan.ipynb", server.folder / "notebooks/mine.ipynb")
    lab.open("notebooks/mine.ipynb")
    solution = lab.show("first-bad-step-solution")
    text = solution.locator("details code").first
    assert until(lambda: text.count() == 1) and not text.is_visible(), "folded"
    solution.locator("summary").first.click()
    assert until(text.is_visible) and "argmax" in text.inner_text()
    for code, message in (
        (MINE.replace("pair)", "pair[:1])"), "expected 3, got 4"),
        (MINE, "continues with your code"),
    ):
        lab.show("first-bad-step")
        lab.page.evaluate(
            "code => window.jupyterapp.shell.currentWidget.content.activeCell.model.sharedModel.setSource(code)", code
        )
        for name in ("setup", "first-bad-step"):
            lab.run_cell(name)
        assert message in lab.show("first-bad-step").inner_text()
    lab.picture("lesson_03_written")
