"""What runs in the browser, alone in a page without JupyterLab: the chart draws whatever it holds, the form keeps its keys."""

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from bugzoo.lab.chart import FRONT, Chart

pytestmark = pytest.mark.browser

PAGE = """<html><body data-jp-theme-light="true"><style>%s</style><div class="bugzoo-keys"><div id="here" style="width: 900px">
</div><input type="checkbox" class="inside"><div class="bugzoo-number"><input></div></div>
<input type="checkbox" class="outside"></body></html>"""
MODEL = """export const heard = {}, sent = [], state = {healthy: null, broken: null, mark: {}};
export const model = {get: name => state[name], on: (name, f) => heard[name] = f, off() {}, send: one => sent.push(one)};
window.hold = (name, value) => { state[name] = typeof value === "string"
    ? new DataView(Uint8Array.from(atob(value), one => one.charCodeAt(0)).buffer) : value;
    (heard["change:" + name] || (() => {}))(); };
window.sent = sent;
window.draw = () => render({model, el: document.querySelector("#here")});"""
DRAWN = (
    "() => [...document.querySelectorAll('path')].map(one => [one.getAttribute('class'), Number(one.dataset.drawn)])"
)


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    found = chromium.new_page(viewport={"width": 960, "height": 500})
    found.errors = []
    found.on("pageerror", lambda error: found.errors.append(str(error)))
    found.set_content(PAGE % (FRONT / "chart.css").read_text())
    yield found
    found.close()
    assert found.errors == []


def load(page: Any, name: str) -> None:
    code = (FRONT / name).read_text().replace("export default", "const whole =")
    page.add_script_tag(content=code + MODEL, type="module")
    page.wait_for_function("() => window.draw")


def rows(which: str, points: list[tuple[int, float, float]]) -> str:
    chart = Chart()
    chart.draw(which, points)
    return base64.b64encode(getattr(chart, which)).decode()


HEALTHY = [(step, 2.0 / step, 1.0) for step in range(1, 101)]
BROKEN = [
    (step, 2.0 / step if step < 51 else float("nan"), 1.0 if step < 50 else float("inf")) for step in range(1, 101)
]


def test_a_view_that_comes_late_draws_what_is_there_and_asks_for_the_rest(page) -> None:
    load(page, "chart.js")
    page.evaluate("data => hold('healthy', data)", rows("healthy", HEALTHY))
    page.evaluate("() => draw()")
    assert page.evaluate(DRAWN) == [["healthy", 100], ["broken", 0]] * 2 and page.evaluate("sent") == [{"ready": True}]
    page.evaluate("data => hold('broken', data)", rows("broken", BROKEN))
    assert page.evaluate(DRAWN) == [["healthy", 100], ["broken", 50], ["healthy", 100], ["broken", 49]]
    assert page.locator(".mark").count() == 0
    page.evaluate("() => hold('mark', {step: 50, text: 'the gradient is <inf>'})")
    assert page.locator(".note").text_content() == "step 50: the gradient is <inf>"


def test_it_is_read_by_keyboard_and_by_mouse(page) -> None:
    load(page, "chart.js")
    page.evaluate("both => { hold('healthy', both[0]); hold('broken', both[1]); draw(); }",
                  [rows("healthy", HEALTHY), rows("broken", BROKEN)])  # fmt: skip
    page.locator(".bugzoo-chart").focus()
    for key in ("Home", "ArrowRight", "PageDown", "ArrowLeft"):
        page.keyboard.press(key)
    assert (
        "step 11: healthy 0.1818, gradient 1 · this run 0.1818, gradient 1" in page.locator(".bugzoo-says").inner_text()
    )
    page.keyboard.press("End")
    assert "this run nan, gradient inf" in page.locator(".bugzoo-says").inner_text()
    page.mouse.move(300, 200)
    page.mouse.down()
    page.mouse.move(500, 210)
    page.mouse.up()
    near = page.evaluate(DRAWN)[0][1]
    assert 5 < near < 50, "dragging looks closer"
    page.mouse.dblclick(300, 200)
    assert page.evaluate(DRAWN)[0][1] == 100


@pytest.mark.parametrize(("light", "paper"), [("true", 255), ("false", 17)])
def test_its_colours_are_seen_on_either_page(page, light, paper) -> None:
    load(page, "chart.js")
    page.evaluate("theme => { document.body.dataset.jpThemeLight = theme; draw(); }", light)
    for curve in ("healthy", "broken"):
        stroke = page.locator(f"path.{curve}").first.evaluate(
            "one => getComputedStyle(one).stroke.match(/\\d+/g).map(Number)"
        )
        low, high = sorted((_light(stroke), _light([paper] * 3)))
        assert (high + 0.05) / (low + 0.05) >= 3, (curve, stroke)


def _light(colour: list[int]) -> float:
    """Relative luminance (WCAG 2)."""
    red, green, blue = (v / 3294.6 if v <= 10 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_single_letters_stay_in_the_form_and_saving_does_not(page) -> None:
    for _ in range(2):
        page.add_script_tag(content=(FRONT / "keys.js").read_text())
    page.evaluate("""() => { window.reached = []; document.addEventListener('keydown', event => {
        if (!event.target.hasAttribute('data-lm-suppress-shortcuts')) reached.push(event.key); }, true); }""")
    for place, keys in ((".inside", ("d", "Shift+Enter", "Control+s", "b")), (".outside", ("x",)), (".inside", ("a",))):
        page.locator(place).focus()
        for key in keys:
            page.keyboard.press(key)
    assert page.evaluate("reached") == ["Control", "s", "x"]
    page.locator(".bugzoo-number input").focus()
    assert page.locator(".bugzoo-number input").get_attribute("type") == "number"
