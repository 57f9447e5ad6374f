"""The map as a learner meets it: a way is chosen by a click, the plan follows, and a link opens its lesson."""

import pytest

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("dark", [False, True])
def test_a_way_is_chosen_and_its_first_lesson_opened(lab, dark) -> None:
    lab.open("notebooks/00_start_here.ipynb", dark=dark)
    lab.run_cell("map")
    lab.show("map")
    shown = lab.page.locator(".bugzoo-map").first
    shown.wait_for()
    lab.page.locator(".bugzoo-check label", has_text="A weekend").first.click()
    lab.page.locator(".bugzoo-map", has_text="A weekend.").first.wait_for()
    lab.picture(f"map_{'dark' if dark else 'light'}")
    # readable: the words stand off the page
    ink, sheet = shown.evaluate(
        """map => [getComputedStyle(map).color, getComputedStyle(map.closest('.jp-Notebook')).backgroundColor]
            .map(text => text.match(/[0-9.]+/g).slice(0, 3).reduce((sum, one) => sum + Number(one), 0) / 3)"""
    )
    assert abs(ink - sheet) > 120
    lab.page.locator(".bugzoo-map .next-step a").first.click()
    lab.until(
        "() => /notebooks.(?!00)[0-9]{2}_/.test(window.jupyterapp.shell.currentWidget?.context?.path || '')",
        60,
        "the lesson",
    )
    assert lab.errors() == []
