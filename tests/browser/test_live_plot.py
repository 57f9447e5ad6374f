"""The live plot on a machine that has something else to do, and in both themes."""

import multiprocessing
import os

import pytest

from bugzoo.notebooks import code, notebook, to_text
from tests.browser.test_lesson_03 import points, press, status, until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELLS = {
    "setup": "from bugzoo import Scenario, lab",
    "live": 'view = lab.live(Scenario("mlp", ("numerics/log_at_step?step=50&eps=0",), size="tiny"), pace=30)',
}


def burn() -> None:
    while True:
        pass


@pytest.fixture
def load():
    """Other processes that want every core, twice."""
    context = multiprocessing.get_context("spawn")
    busy = [context.Process(target=burn, daemon=True) for _ in range(2 * (os.cpu_count() or 2))]
    for one in busy:
        one.start()
    yield
    for one in busy:
        one.kill()
        one.join()


@pytest.fixture
def written(server):
    place = server.folder / "notebooks" / "plot.ipynb"
    place.write_text(to_text(notebook([code(name, text) for name, text in CELLS.items()])))
    return "notebooks/plot.ipynb"


def test_the_plot_is_drawn_under_load_each_time_it_is_opened(lab, written, load) -> None:
    lab.open(written)
    for turn in range(3):
        lab.run_all()
        cell = lab.show("live")
        assert until(lambda: points(cell) > 4, 60), f"opening {turn + 1}: bare axes; {status(cell)}"  # noqa: B023
    press(cell, "Stop")
    assert until(lambda: "after" in status(cell))
    press(cell, "Run")
    assert until(lambda: "running" in status(cell) and 0 < points(cell)), status(cell)
    press(cell, "Stop")
    # a view that is made late draws what is there
    lab.page.reload(wait_until="domcontentloaded")
    lab.open(written)
    assert until(lambda: points(lab.show("live")) > 0, 60)
    assert lab.errors() == []


def test_the_plot_follows_the_theme(lab, written) -> None:
    lab.open(written)
    lab.run_all()
    cell = lab.show("live")
    assert until(lambda: "finished after" in status(cell)), status(cell)
    look = "svg => [getComputedStyle(svg.querySelector('text')).fill, getComputedStyle(svg.querySelector('path.broken')).stroke]"
    light = cell.locator(".bugzoo-chart svg").evaluate(look)
    lab.picture("live_light")
    lab.command("apputils:change-theme", {"theme": "JupyterLab Dark"})
    assert until(lambda: cell.locator(".bugzoo-chart svg").evaluate(look)[0] != light[0])
    dark = cell.locator(".bugzoo-chart svg").evaluate(look)
    assert dark[1] != light[1]
    lab.picture("live_dark")

    # read by keyboard
    cell.locator(".bugzoo-chart").focus()
    before = lab.page.evaluate("() => window.jupyterapp.shell.currentWidget.content.widgets.length")
    for key in ("Home", "ArrowRight", "ArrowRight", "d", "d", "b"):
        lab.page.keyboard.press(key)
    assert "step 3: healthy" in cell.locator(".bugzoo-says").inner_text()
    assert lab.page.evaluate("() => window.jupyterapp.shell.currentWidget.content.widgets.length") == before
