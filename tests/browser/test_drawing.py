"""A drawing is dragged in its plot, by mouse and by touch; a run that starts comes into view."""

import pytest

from bugzoo.notebooks import code, markdown, notebook, to_text
from tests.browser.conftest import Lab
from tests.browser.test_exercise import text
from tests.browser.test_form import SELECT, press
from tests.browser.test_lesson_03 import until
from tests.browser.walk import says

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LESSON = """
# %% [markdown] title
# # 97 · Drags

# %% [draw] five
# Draw the loss of a program that works: 8 reviews, the same ones in each of 200 steps.
#
# step: 1, 10, 50, 100, 200
# loss (nats): 0.0001 to 1, log

# %% [draw] fingers
# Draw the loss.
#
# step: 1, 10, 50, 100, 200
# loss (nats): 0.0001 to 1, log

# %% [draw] batches
# Draw the change of the accuracy for batches of 1, 16 and 256 pictures.
#
# pictures in a batch: 1, 16, 256, log
# change: -0.5 to 0.5
"""
STALL = """import os, signal, subprocess
subprocess.Popen(["sh", "-c", f"sleep 3; kill -CONT {os.getpid()}"])
os.kill(os.getpid(), signal.SIGSTOP)"""
"""The kernel hears nothing for three seconds."""
TALL = "\n\n".join(["More text."] * 40)
PARTS = [
    code(
        "setup",
        'import time\nfrom pathlib import Path\nfrom bugzoo import Scenario, course, lab\ncourse.PLACE = Path("drags")',
    ),
    code("five", 'five = lab.draw("97/five")'),
    code("fingers", 'fingers = lab.draw("97/fingers")'),
    code("batches", 'batches = lab.draw("97/batches")'),
    code("busy", STALL),
    code("reveal", "five.reveal([1, 50, 200], [0.7, 0.5, 0.02])"),
    code("live", 'view = lab.live(Scenario("mlp", size="tiny"), pace=10)'),
    markdown("text", TALL),
    code("late", 'time.sleep(1)\nlate = lab.live(Scenario("mlp", size="tiny"))'),
    markdown("end", TALL),
]

LINE = """plot => { const { xaxis, yaxis } = plot._fullLayout;
    const line = plot.querySelector('.js-line').getAttribute('d').slice(1).split('L').map(pair => pair.split(',').map(Number));
    const marks = [...plot.querySelectorAll('.point')].map(mark => mark.getAttribute('transform').match(/[-.\\d]+/g).map(Number));
    if (JSON.stringify(line) !== JSON.stringify(marks)) return [JSON.stringify(line), JSON.stringify(marks)];
    return line.map(pair => Number(yaxis.p2d(pair[1]).toPrecision(3))); }"""
"""The values of the line that is on the screen; its corners have to be where the points are."""
AT = """(plot, [x, y]) => { const { xaxis, yaxis } = plot._fullLayout, corner = plot.getBoundingClientRect();
    return [corner.left + xaxis._offset + xaxis.d2p(x), corner.top + yaxis._offset + yaxis.d2p(y)]; }"""
SCROLLED = "() => document.querySelector('.jp-WindowedPanel-outer').scrollTop"


@pytest.fixture
def written(server):
    """A notebook with drawings of five and of three points, and a run between texts."""
    place = server.folder / "notebooks"
    (place / "drags").mkdir(exist_ok=True)
    (place / "drags" / "97_drags.py").write_text(LESSON)
    (place / "drags.ipynb").write_text(to_text(notebook(PARTS)))
    return "notebooks/drags.ipynb"


class Sketch:
    """The drawing of one cell."""

    def __init__(self, lab: Lab, name: str) -> None:
        self.box = lab.show(name)
        self.plot = self.box.locator(".js-plotly-plot")
        assert until(lambda: self.box.locator(".js-plotly-plot .point").count() > 2)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return where a value is on the page."""
        return tuple(self.plot.evaluate(AT, [x, y]))

    def line(self) -> list[float]:
        return self.plot.evaluate(LINE)

    def readouts(self) -> list[float]:
        return [float(one.replace("−", "-")) for one in self.box.locator(".widget-readout").all_inner_texts()]

    def holds(self, *values: float, seconds: float = 10) -> bool:
        """Wait until the line and the sliders below it stand at these values, to half a step of a slider."""
        near = pytest.approx(values, rel=0.06, abs=0.006 if min(values) < 0 else None)
        assert until(lambda: self.line() == near and self.readouts() == near, seconds), (self.line(), self.readouts())
        return True


def test_points_follow_the_mouse_until_the_result_is_seen(lab, written) -> None:
    lab.open(written)
    for name in ("setup", "five", "batches"):
        lab.run_cell(name)
    mouse, five = lab.page.mouse, Sketch(lab, "five")
    labels = five.box.locator(".widget-label:visible").all_inner_texts()
    assert labels == ["1", "10", "50", "100", "200"] and "loss (nats) at step" in five.box.inner_text()
    mouse.move(*five.at(50, 0.01))
    mouse.down()
    mouse.move(*five.at(60, 0.3), steps=4)
    mouse.move(*five.at(180, 0.1), steps=4)
    assert five.holds(0.01, 0.01, 0.1, 0.01, 0.01), "the point stays held, beside another one, before the mouse is up"
    mouse.up()
    mouse.move(*five.at(50, 0.002), steps=2)
    mouse.click(*five.at(170, 0.001))  # nearer to 200 than to 100
    x, y = five.at(1, 1)
    mouse.move(x + 1, y + 9)
    mouse.down()
    mouse.move(x, y - 60, steps=3)
    mouse.up()
    assert five.holds(1, 0.01, 0.1, 0.01, 0.001), "no further than the end of the axis"
    five.box.locator(".noUi-handle").nth(3).focus()
    press(lab, "End")
    assert five.holds(1, 0.01, 0.1, 1, 0.001), "the line follows a slider"

    # a kernel that hears nothing: the page does not wait for it, and plotly draws the kernel's line once more
    lab.page.evaluate(SELECT, "busy")
    press(lab, "Control+Enter")
    five = Sketch(lab, "five")
    mouse.click(*five.at(10, 0.5))
    assert five.holds(1, 0.5, 0.1, 1, 0.001, seconds=2)
    mouse.click(*five.at(10, 0.05))
    lab.page.set_viewport_size({"width": 1000, "height": 1000})
    assert until(lambda: five.plot.evaluate("plot => plot._fullLayout.width") < 800)
    five = Sketch(lab, "five")
    assert five.holds(1, 0.05, 0.1, 1, 0.001, seconds=2)
    five.box.locator("button", has_text="This is my guess").click()
    says(five.box, "Saved: 1, 0.0479, 0.1, 1, 0.001.")  # to a step of the slider
    assert five.holds(1, 0.05, 0.1, 1, 0.001), "and no earlier line comes back"

    batches = Sketch(lab, "batches")
    mouse.click(*batches.at(6, -0.25))  # on a logarithmic axis 16 is nearer than 1
    assert batches.holds(0, -0.25, 0)
    batches.box.locator("button", has_text="This is my guess").click()
    says(batches.box, "Saved: 0, -0.25, 0.")
    mouse.click(*Sketch(lab, "five").at(50, 0.9))
    lab.run_cell("reveal")
    assert "At step 50 you drew 0.1; it was 0.5." in text(lab.outputs("reveal"))
    five = Sketch(lab, "five")
    assert until(lambda: five.box.locator("button[disabled]").count() == 1)
    assert five.holds(1, 0.05, 0.1, 1, 0.001), "what was not saved goes back"
    mouse.click(*five.at(50, 0.9))
    lab.page.wait_for_timeout(300)
    assert five.holds(1, 0.05, 0.1, 1, 0.001), "seen is seen"


def test_points_follow_a_finger_and_the_page_stays(chromium, server, written) -> None:
    context = chromium.new_context(viewport={"width": 412, "height": 915}, has_touch=True, is_mobile=True)
    page = context.new_page()
    lab = Lab(page, server.url)
    lab.open(written)
    lab.command("application:toggle-left-area")
    for name in ("setup", "fingers"):
        lab.run_cell(name)
    five = Sketch(lab, "fingers")
    page.touchscreen.tap(*five.at(50, 0.1))
    assert five.holds(0.01, 0.01, 0.1, 0.01, 0.01)
    touch = context.new_cdp_session(page)

    def swipe(*way: tuple[float, float]) -> float:
        """Put a finger down, move it, lift it. Return by how many pixels the page scrolled."""
        before = page.evaluate(SCROLLED)
        for place, (x, y) in enumerate(way):
            kind = "touchMove" if place else "touchStart"
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        page.wait_for_timeout(200)
        return page.evaluate(SCROLLED) - before

    up = [five.at(200, height) for height in (0.0005, 0.001, 0.005, 0.03, 0.1, 0.3)]
    assert swipe(*up) == 0, "the page scrolled under the finger"
    assert five.holds(0.01, 0.01, 0.1, 0.01, 0.3)
    lab.page.evaluate("() => document.querySelector('.bugzoo-dragged').classList.remove('bugzoo-dragged')")
    assert swipe(*up) > 50, "a finger scrolls the page where nothing can be dragged"
    context.close()


IN_VIEW = """box => { const page = box.closest('.jp-WindowedPanel-outer').getBoundingClientRect();
    return ['.bugzoo-status', '.js-plotly-plot', 'button'].map(part => box.querySelector(part).getBoundingClientRect())
        .every(part => part.height && part.top >= page.top && part.bottom <= page.bottom); }"""


def run(lab: Lab, cell: str) -> None:
    """Press Shift+Enter on a cell."""
    lab.show(cell)
    lab.page.evaluate(SELECT, cell)
    press(lab, "Shift+Enter")


def test_a_run_that_starts_comes_into_view_unless_the_reader_scrolls(lab, written) -> None:
    lab.page.set_viewport_size({"width": 1300, "height": 950})
    lab.open(written)
    run(lab, "setup")
    run(lab, "live")
    view = lab.page.locator(".bugzoo-live")
    assert until(lambda: view.count() == 1 and "running" in view.inner_text())
    assert view.evaluate(IN_VIEW)
    run(lab, "late")
    lab.page.mouse.move(700, 500)
    lab.page.mouse.wheel(0, 600)
    assert until(lambda: view.count() == 2 and view.last.locator(".js-plotly-plot").count() == 1)
    lab.page.wait_for_timeout(500)
    assert not view.last.evaluate(IN_VIEW) and "starts when you scroll here" in view.last.inner_text()
