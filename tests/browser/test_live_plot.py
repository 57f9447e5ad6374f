"""The live plot on a machine that has something else to do, and in both themes."""

import multiprocessing
import os

import pytest

from bugzoo.notebooks import code, notebook, to_text
from tests.browser.test_lesson_03 import points, press, status, until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELLS = {
    "setup": "from bugzoo import Scenario, lab",
    "live": 'view = lab.live(Scenario("mlp", ("numerics/log_at_step?step=50&eps=0",), size="tiny"), pace=10)',
}


def burn() -> None:
    while True:
        pass


@pytest.fixture
def load():
    """Other processes that want every core, twice."""
    context = multiprocessing.get_context("spawn")
    busy = [context.Process(target=burn, daemon=True) for _ in range(2 * (os.cpu_count() or 2))]
    for process in busy:
        process.start()
    yield
    for process in busy:
        process.kill()
        process.join()


@pytest.fixture
def written(server):
    place = server.folder / "notebooks" / "plot.ipynb"
    place.write_text(to_text(notebook([code(name, text) for name, text in CELLS.items()])))
    return "notebooks/plot.ipynb"


def stop(cell) -> None:
    """Press Stop; a run that has ended by then, as load may have it, is none to stop."""
    cell.locator("button.jupyter-button:visible", has_text="Stop").first.evaluate("button => button.click()")


def ended(cell) -> bool:
    return "stopped after" in status(cell) or "finished after" in status(cell)


@pytest.mark.serial
@pytest.mark.sampled(0)
def test_the_plot_is_drawn_under_load_each_time_it_is_opened(lab, written, load) -> None:
    lab.open(written)
    for turn in range(2):
        lab.command("notebook:clear-all-cell-outputs")  # or the first opening's points are taken for the second's
        lab.run_all()
        cell = lab.show("live")
        assert until(lambda: points(cell) > 4, 240), f"opening {turn + 1}: bare axes; {status(cell)}"  # noqa: B023
    # its healthy twin is drawn first: one that is stopped by then has no points of its own
    assert until(lambda: "running · step" in status(cell) or ended(cell), 240), status(cell)
    stop(cell)
    assert until(lambda: ended(cell)), status(cell)
    press(cell, "Run")
    assert until(lambda: "running · step" in status(cell) and points(cell) > 4), status(cell)
    stop(cell)
    assert until(lambda: ended(cell)), status(cell)
    there = points(cell)
    # a view that is made late draws what is there
    lab.command("docmanager:save")
    lab.page.reload(wait_until="domcontentloaded")
    lab.open(written)
    cell = lab.show("live")
    assert until(lambda: points(cell) == there), f"{points(cell)} of {there} points; {status(cell)}"
    assert lab.errors() == []


LOOK = """sheet => {
    if (!sheet.isConnected) return null;
    const texts = ['.xtick text', '.ytick text', '.legendtext', '.ytitle', '.annotation text'];
    const drawn = ['.main-svg', '.bg', '.gridlayer path', ...texts].every(one => sheet.querySelector(one));
    if (!drawn) return null;
    const look = (one, what) => getComputedStyle(sheet.querySelector(one))[what];
    const light = text => { const [r, g, b] = text.match(/[\\d.]+/g).map(Number).slice(0, 3).map(v => { v /= 255;
        return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    let behind = sheet;
    for (const clear = /, 0\\)$/; clear.test(getComputedStyle(behind).backgroundColor);) behind = behind.parentElement;
    const paper = light(getComputedStyle(behind).backgroundColor);
    const ratio = text => (Math.max(light(text), paper) + 0.05) / (Math.min(light(text), paper) + 0.05);
    return { sheets: [look('.main-svg', 'backgroundColor'), look('.bg', 'fillOpacity')], grid: look('.gridlayer path', 'stroke'),
        text: texts.map(one => ratio(look(one, 'fill'))),
        curves: [...sheet.querySelectorAll('.scatterlayer .js-line')].map(one => ratio(getComputedStyle(one).stroke)) }; }"""
"""What is behind plotly's sheet, and the contrast (WCAG 2) of text and curves with the page. Null while a part is
missing, or the sheet no longer on the page: plotly draws again when the theme changes."""


IS_LIGHT = "() => document.body.dataset.jpThemeLight === 'true'"
RANGE = "sheet => sheet.layout.xaxis.range"


def looked(sheet, other: str = "") -> dict:
    """Return what LOOK sees once everything is drawn, with another color of the grid than `other`."""
    readings = []

    def drawn() -> bool:
        readings.append(sheet.evaluate(LOOK))
        return bool(readings[-1]) and readings[-1]["grid"] != other

    assert until(drawn), readings[-1]
    return readings[-1]


def whole(sheet) -> bool:
    first, last = sheet.evaluate(RANGE)
    return first <= 1 and last >= 216


def test_the_plot_follows_the_theme_and_keeps_its_keys(lab, server, written) -> None:
    (server.folder / written).write_text((server.folder / written).read_text().replace("pace=10", "pace=80"))
    lab.open(written)
    lab.run_all()
    cell = lab.show("live")
    assert until(lambda: ended(cell)), status(cell)
    sheet = cell.locator(".js-plotly-plot")
    assert until(lambda: cell.locator(".annotation").count() == 1), "the first bad step is pointed at"
    assert until(lambda: whole(sheet)), f"all of the run is seen: {sheet.evaluate(RANGE)}"
    lab.command("apputils:change-theme", {"theme": "JupyterLab Light"})  # another test may have left it dark
    assert until(lambda: lab.page.evaluate(IS_LIGHT))
    light = looked(sheet)
    lab.picture("live_light")
    lab.command("apputils:change-theme", {"theme": "JupyterLab Dark"})
    dark = looked(sheet, light["grid"])
    sheet.hover(position={"x": 200, "y": 100})
    lab.picture("live_dark")
    for look in (light, dark):
        assert look["sheets"] == ["rgba(0, 0, 0, 0)", "0"]
        assert len(look["curves"]) == 9 and min(look["curves"]) >= 3 and min(look["text"]) >= 4.5, look

    # what is pressed in its box is no command to the notebook: d d would delete the cell, b add one
    cell.locator("button.jupyter-button:visible", has_text="Run").first.focus()
    before = lab.page.evaluate("() => window.jupyterapp.shell.currentWidget.content.widgets.length")
    for key in ("d", "d", "b"):
        lab.page.keyboard.press(key)
    assert lab.page.evaluate("() => window.jupyterapp.shell.currentWidget.content.widgets.length") == before
