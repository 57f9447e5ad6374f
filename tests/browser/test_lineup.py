"""Which run is ill, by clicking: five curves, readings of two of them, an answer, points, and what each was."""

import pytest

from tests.browser.test_lesson_03 import until

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.mark.parametrize("dark", [False, True])
def test_a_line_up_is_played_through(lab, dark) -> None:
    lab.open("exercises/12_five_losses.ipynb", dark=dark)
    for cell in ("look", "read", "instrument", "form"):
        lab.run_cell(cell)
    assert until(lambda: any("image/png" in one.get("data", {}) for one in lab.outputs("look"))), lab.outputs("look")
    lab.show("look")
    lab.picture(f"lineup_{'dark' if dark else 'light'}")
    lab.type_and_run('board.instrument("C", "fresh_gradient")')
    form = lab.show("form")
    form.locator("label", has_text="C").first.click()
    form.locator("label", has_text="a gradient that is older than its batch").first.click()
    lab.picture(f"lineup_form_{'dark' if dark else 'light'}")
    form.get_by_role("button", name="Hand in").click()
    assert until(lambda: "Kept: C, a gradient" in form.inner_text()), form.inner_text()
    lab.run_cell("graded")
    lab.run_cell("debrief")
    assert until(lambda: "10 of 10 points" in str(lab.outputs("graded"))), lab.outputs("graded")
    assert until(lambda: "is well" in str(lab.outputs("debrief"))) and lab.errors() == []


def test_cards_at_the_end_of_a_lesson(lab) -> None:
    lab.open("notebooks/03_hunting_nan.ipynb")
    lab.run_cell("cards")
    hand = lab.show("cards")
    first = hand.locator(".bugzoo-check").first
    first.locator(".widget-radio-box label").last.click()
    assert until(lambda: "1 right" in first.inner_text()), first.inner_text()
    lab.picture("cards")
    assert lab.errors() == []
