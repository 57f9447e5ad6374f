"""Lesson 03 in JupyterLab in a browser: it runs, the plot moves, the buttons answer, the picture stays."""

import shutil
import time

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]

POINTS = """view => { const plot = view.querySelector('.js-plotly-plot');
    const data = plot && plot.data; if (!data) return 0;
    return data.reduce((sum, curve) => sum + (curve.x ? curve.x.length : 0), 0); }"""


def points(cell) -> int:
    """Points on all curves of the live plot in a cell."""
    return cell.locator(".bugzoo-live").first.evaluate(POINTS)


def press(cell, name: str) -> None:
    cell.locator("button.jupyter-button:visible", has_text=name).first.click()


def status(cell) -> str:
    return cell.locator(".bugzoo-live .bugzoo-status").first.inner_text()


def until(condition, seconds: float = 30) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def test_lesson_03_as_a_learner(lab) -> None:
    lab.open("notebooks/03_hunting_nan.ipynb")
    lab.run_all()
    assert lab.errors() == []

    cell = lab.show("live")
    lab.picture("lesson_03_live")
    # a static picture is kept in the file, and the widgets hide it while they live
    assert any("image/png" in output.get("data", {}) for output in lab.outputs("live"))
    assert cell.locator(".jp-RenderedImage:visible").count() == 0
    assert "no number any more" in status(cell)

    # the plot moves: more points each time we look
    press(cell, "Run")
    assert until(lambda: 0 < points(cell) < 700)
    seen = [points(cell)]
    for _ in range(3):
        time.sleep(0.4)
        seen.append(points(cell))
    assert seen == sorted(set(seen)), f"the plot stood still: {seen}"

    # pause and go on
    press(cell, "Pause")
    assert until(lambda: "paused" in status(cell))
    lab.picture("lesson_03_paused")
    still = points(cell)
    time.sleep(0.5)
    assert points(cell) == still
    press(cell, "Resume")
    assert until(lambda: points(cell) > still)
    press(cell, "Stop")
    assert until(lambda: "stopped after" in status(cell), 5)

    # the break-it panel: Run, then Stop
    panel = lab.show("panel")
    press(panel, "Run")
    assert until(lambda: points(panel) > 250)
    begin = time.monotonic()
    press(panel, "Stop")
    assert until(lambda: "stopped after" in status(panel), 5)
    print(f"Stop answered after {time.monotonic() - begin:.2f} s")
    lab.picture("lesson_03_panel_stopped")

    # a quick check: nothing is chosen beforehand, the explanation follows the choice
    question = lab.show("guess")
    assert question.locator("input[type=radio]:checked").count() == 0
    question.locator("input[type=radio]").nth(2).check()
    assert until(lambda: "Right:" in question.inner_text())
    lab.picture("lesson_03_quick_check")


def test_lesson_03_in_the_dark(lab, server) -> None:
    # a copy, as JupyterLab would give the same file the same kernel
    shutil.copy(server.folder / "notebooks/03_hunting_nan.ipynb", server.folder / "notebooks/dark.ipynb")
    lab.open("notebooks/dark.ipynb", dark=True)
    lab.run_all()
    assert lab.errors() == []
    for cell in ("live", "finite-loss", "fix", "panel"):
        lab.show(cell)
        lab.picture(f"lesson_03_dark_{cell}")
