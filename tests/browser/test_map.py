"""The map in JupyterLab: every tile can be read in both themes, the tiles are even, and the colors are those of the legend."""

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]

BEGIN = """from bugzoo import course, record
from bugzoo.scenario import Scenario
record.keep("prediction", "01/first", {"said": "a"})
record.keep("task", "01/" + next(iter(course.load("01").tasks)), {"held": True})
second = course.load("02")
record.note(Scenario(*second.case(second.transfer)).ticket, "diagnosis", {"cause": "x", "complete": True})"""

TILES = """() => [...document.querySelectorAll('.bugzoo-map .tile')].map(tile => {
    const box = tile.getBoundingClientRect();
    return {state: tile.className.replace('tile', '').trim(), links: tile.querySelectorAll('.title a').length,
            left: Math.round(box.left), top: Math.round(box.top), width: Math.round(box.width),
            height: Math.round(box.height), edge: getComputedStyle(tile).borderLeftColor}; })"""

CONTRAST = """selector => {
    const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const over = (color, below) => {
        canvas.globalAlpha = 1; canvas.fillStyle = `rgb(${below})`; canvas.fillRect(0, 0, 1, 1);
        canvas.globalAlpha = color.alpha; canvas.fillStyle = color.text; canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3); };
    const light = rgb => rgb.map(one => one / 255).map(one => one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
        .reduce((sum, one, place) => sum + one * [0.2126, 0.7152, 0.0722][place], 0);
    return Math.min(...[...document.querySelectorAll(selector)].map(found => {
        const parents = []; for (let at = found; at; at = at.parentElement) parents.unshift(at);
        const ground = parents.reduce((below, at) => over({text: getComputedStyle(at).backgroundColor, alpha: 1}, below),
            [255, 255, 255]);
        const alpha = parents.reduce((product, at) => product * getComputedStyle(at).opacity, 1);
        const pair = [over({text: getComputedStyle(found).color, alpha}, ground), ground].map(light).sort((a, b) => b - a);
        return (pair[0] + 0.05) / (pair[1] + 0.05); })); }"""

READABLE = 4.5
"""The least contrast of small text, by the Web Content Accessibility Guidelines 2.1, criterion 1.4.3."""


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_the_map_can_be_read(lab, theme: str) -> None:
    lab.page.set_viewport_size({"width": 1280, "height": 1400})
    lab.open("notebooks/00_start_here.ipynb")
    lab.theme(f"JupyterLab {theme}")
    lab.type_and_run(BEGIN)
    lab.run_all()
    assert lab.errors() == []
    lab.show("here")
    lab.page.locator(".bugzoo-map .legend").wait_for()
    lab.picture(f"map_{theme.lower()}")
    tiles = lab.page.evaluate(TILES)
    by_state = {
        state: [tile for tile in tiles if tile["state"] == state] for state in ("done", "begun", "open", "later")
    }
    assert all(by_state.values()), by_state  # other tests on this server may have begun further lessons
    assert not any(tile["links"] for tile in by_state["later"]) and all(tile["links"] for tile in by_state["open"])
    for state in ("done", "begun"):
        legend = lab.page.locator(f".bugzoo-map .legend .{state}").evaluate(
            "one => getComputedStyle(one).borderLeftColor"
        )
        assert legend == by_state[state][0]["edge"] != by_state["open"][0]["edge"], state
    for top in {tile["top"] for tile in tiles}:
        row = [tile for tile in tiles if tile["top"] == top]
        assert len({tile["height"] for tile in row}) == len({tile["width"] for tile in row}) == 1, "even in a row"
    for part in (".tile.later .title", ".tile.later .small", ".tile.open .effort", ".tile.open .small a", ".legend"):
        assert lab.page.evaluate(CONTRAST, f".bugzoo-map {part}") >= READABLE, part


def test_the_next_step_is_on_the_screen_after_shift_enter(lab) -> None:
    lab.page.set_viewport_size({"width": 1280, "height": 950})
    lab.open("notebooks/00_start_here.ipynb")
    lab.show("here").locator(".cm-content").click()
    lab.page.keyboard.press("Shift+Enter")
    lab.page.locator(".bugzoo-map .next a").wait_for(timeout=90_000)
    lab.page.wait_for_timeout(1500)  # JupyterLab selects the next cell and scrolls
    lab.picture("map_after")
    top = lab.page.locator(".bugzoo-map .next a").bounding_box()["y"]
    assert 0 < top < 900, top
