"""What runs in the browser, alone in a page without JupyterLab: a form keeps its keys."""

from collections.abc import Iterator
from typing import Any

import pytest

from bugzoo.lab.chart import FRONT

pytestmark = pytest.mark.browser

PAGE = """<html><body data-jp-theme-light="true"><div class="bugzoo-keys"><div id="here" style="width: 900px">
</div><input type="checkbox" class="inside"><div class="bugzoo-number"><input></div></div>
<input type="checkbox" class="outside"></body></html>"""


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    tab = chromium.new_page(viewport={"width": 960, "height": 500})
    tab.errors = []
    tab.on("pageerror", lambda error: tab.errors.append(str(error)))
    tab.set_content(PAGE)
    yield tab
    tab.close()
    assert tab.errors == []


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
