"""The questions of a lesson by keyboard alone: answered wrong, then right; what they say after a restart; both themes."""

import pytest

from bugzoo.notebooks import code, notebook, to_text
from tests.browser.test_exercise import text
from tests.browser.test_form import before_of, cells, press
from tests.browser.test_lesson_03 import until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LESSON = """
# %% [markdown] title
# # 98 · Keys

# %% [check] bits
# What is the entropy of a fair coin, in bits?
#
# (=) 1
#     each of two sides has one half.
# (~) 0.693 +- 0.01
#     that is the entropy in nats.
# (~) else
#     it is the logarithm of 2, to the base 2.

# %% [check] classes
# Which number of classes belongs to which first loss?
#
# `ln 2` -> 2 classes
# ln 10 -> 10 classes
# ln 1000 -> 1000 classes
#     exp(loss) is the number of classes.

# %% [check] step
# In which order does one step of training go?
#
# 1) forward
# 2) `backward`
# 3) clip
# 4) step
#     a step needs gradients, and clipping comes before it.

# %% [draw] one_batch
# Draw the loss on this batch.
#
# step: 1, 60, 200
# loss (nats): 0.01 to 1, log
"""
RIGHTS = ("2 classes", "10 classes", "1000 classes")
STEPS = ("forward", "backward", "clip", "step")
READOUT = "0.0955"
"""One of a hundred steps of a slider from 0.01 to 1, down from the middle."""
CELLS = {
    "setup": 'from pathlib import Path\nfrom bugzoo import course, lab, record\ncourse.PLACE = Path("keys")',
    "bits": 'bits = lab.quick_check("98/bits")',
    "classes": 'classes = lab.quick_check("98/classes")',
    "step": 'step = lab.quick_check("98/step")',
    "one_batch": 'one_batch = lab.draw("98/one_batch")',
    "reveal": "one_batch.reveal([1, 60, 200], [0.7, 0.5, 0.02])",
    "kept": 'print([record.kept("quick check", f"98/{one}") for one in ("bits", "classes", "step")], one_batch.said)',
}


@pytest.fixture
def written(server):
    """A notebook with a question of each kind, and the lesson beside it that asks them."""
    place = server.folder / "notebooks"
    (place / "keys").mkdir()
    (place / "keys" / "98_keys.py").write_text(LESSON)
    (place / "keys.ipynb").write_text(to_text(notebook([code(name, text) for name, text in CELLS.items()])))
    return "notebooks/keys.ipynb"


FOCUS = """() => { const here = document.activeElement, cell = here.closest('.jp-Notebook .jp-Cell');
    const all = [...document.querySelectorAll('.jp-Notebook .jp-Cell')];
    const what = ['noUi-handle', 'widget-readout'].find(name => here.classList.contains(name));
    return [all.indexOf(cell), here.tagName, what ?? here.innerText.trim(), here.closest('.bugzoo-keys') !== null]; }"""


def focused(lab) -> tuple[str, str, bool]:
    """The cell that has the keyboard, what in it, and whether that is a question's control."""
    place, tag, label, is_control = lab.page.evaluate(FOCUS)
    return list(CELLS)[place] if place >= 0 else "", label if tag in ("DIV", "BUTTON") else tag, is_control


def tab_to(lab, cell: str, what: str) -> None:
    """Tab on until a control of a cell has the keyboard."""
    stops = []
    for _ in range(15):
        press(lab, "Tab")
        stops.append(focused(lab))
        if stops[-1] == (cell, what, True):
            return
    pytest.fail(f"Tab does not reach {what!r} of {cell}: {stops}")


def says(box, *parts: str) -> None:
    assert until(lambda: all(part in box.inner_text() for part in parts), 5), (parts, box.inner_text())


def test_each_question_by_keyboard_wrong_then_right_and_after_a_restart(lab, written) -> None:
    lab.open(written)
    for name in ("setup", "bits", "classes", "step", "one_batch"):
        lab.run_cell(name)
    before = cells(lab)
    number(lab)
    match(lab)
    order(lab)
    drawing(lab)
    assert cells(lab) == before == len(CELLS), "a shortcut of the notebook reached into a question"
    lab.run_cell("kept")
    printed = text(lab.outputs("kept"))
    assert "'tries': ['0.7', '1'], 'solved': True" in printed and printed.count("'solved': True") == 3, printed
    lab.theme("JupyterLab Dark")
    try:
        lab.show("one_batch")
        lab.picture("questions_dark_drawing")
        box = lab.show("classes")
        arrow = box.locator("select").first.evaluate("list => getComputedStyle(list).backgroundImage")
        assert "%23ddd" in arrow, "the arrow of a list is seen on a dark page"
        lab.picture("questions_dark")
        restarted(lab)
    finally:
        lab.theme("JupyterLab Light")
    assert lab.errors() == []


def number(lab) -> None:
    box = lab.show("bits")
    tab_to(lab, "bits", "INPUT")
    lab.page.keyboard.type("dd")  # d d deletes a cell, and is not a number
    press(lab, "Tab", "Enter")
    says(box, "'dd' is not a number", "this cost no try")
    press(lab, "Shift+Tab", "Control+a")
    lab.page.keyboard.type("0,7")
    press(lab, "Tab")
    assert focused(lab) == ("bits", "Answer", True)
    press(lab, "Space")
    says(box, "Not quite (0.7): that is the entropy in nats.")
    press(lab, "Shift+Tab", "Control+a")
    lab.page.keyboard.type("1")
    press(lab, "Tab", "Enter")
    says(box, "Right (1): each of two sides has one half.")


def match(lab) -> None:
    box = lab.show("classes")
    tab_to(lab, "classes", "SELECT")
    press(lab, "ArrowDown", "Tab", "Tab", "ArrowDown", "Tab")
    assert focused(lab) == ("classes", "Check", True)
    press(lab, "Space")
    says(box, "Choose one for ln 10 first", "This cost no try")
    press(lab, "Shift+Tab", "Shift+Tab", "ArrowDown", "Tab", "Tab", "Enter")
    says(box, "Not quite: 1 of 3 are right.")
    assert "exp(loss)" not in box.inner_text()
    press(lab, *["Shift+Tab"] * 3)
    for left in range(3):
        options = [option.strip() for option in box.locator("select").nth(left).locator("option").all_inner_texts()]
        right = next(place for place, option in enumerate(options) if option.replace("\xa0", " ")[3:] == RIGHTS[left])
        press(lab, "Home", *["ArrowDown"] * right, "Tab")
    press(lab, "Space")
    says(box, "Right: exp(loss) is the number of classes.")


def order(lab) -> None:
    box = lab.show("step")
    lines = box.locator(".bugzoo-form .widget-hbox .bugzoo-status")

    def shown() -> list[str]:
        return [status.split(". ", 1)[1].strip() for status in lines.all_inner_texts()]

    tab_to(lab, "step", "down")
    begin = shown()
    tab_to(lab, "step", "Check")
    press(lab, "Enter")
    says(box, "Not quite:", "of 3 pairs of neighbors are in order.")
    press(lab, *["Shift+Tab"] * 6)
    assert focused(lab) == ("step", "down", True)
    press(lab, "Space")
    assert until(lambda: shown() == [begin[1], begin[0], *begin[2:]]), (begin, shown())
    # as a learner sorts: each line goes up to its place, and the keyboard goes with it
    for place, line in enumerate(STEPS):
        at = shown().index(line)
        if at == place:
            continue
        stops = box.locator("button:not([disabled])")
        target = box.locator(".widget-hbox").nth(at).locator("button").first.element_handle()
        which = next(n for n in range(stops.count()) if stops.nth(n).evaluate("(one, it) => one === it", target))
        here = next(n for n in range(stops.count()) if stops.nth(n).evaluate("one => one === document.activeElement"))
        press(lab, *["Tab" if which > here else "Shift+Tab"] * abs(which - here))
        lined_up = shown()
        for to in range(at - 1, place - 1, -1):
            assert focused(lab)[:2] == ("step", "up"), focused(lab)
            press(lab, "Enter")
            lined_up[to : to + 2] = lined_up[to + 1], lined_up[to]
            # the page writes the lines one after the other: wait for all of them
            assert until(lambda want=lined_up: shown() == want), (lined_up, shown())
            assert until(lambda to=to: focused(lab)[:2] == ("step", "up" if to else "down")), "the keyboard went astray"
    assert shown() == list(STEPS)
    tab_to(lab, "step", "Check")
    press(lab, "Space")
    says(box, "Right: a step needs gradients")


def drawing(lab) -> None:
    box = lab.show("one_batch")
    tab_to(lab, "one_batch", "noUi-handle")
    press(lab, "End", *["Tab"] * 4, "Home", "Tab", "Tab")
    assert focused(lab) == ("one_batch", "This is my guess", True)
    press(lab, "Space")
    says(box, "Saved: 1, 0.1, 0.01.")
    press(lab, *["Shift+Tab"] * 4)
    assert focused(lab) == ("one_batch", "noUi-handle", True)
    press(lab, "ArrowLeft")
    assert until(lambda: box.locator(".widget-readout").nth(1).inner_text().strip() == READOUT), (
        "one step of the slider"
    )
    press(lab, "Tab", "Tab", "Tab")
    assert focused(lab) == ("one_batch", "widget-readout", True), "a number can be typed beside a slider"
    press(lab, "Control+a")
    lab.page.keyboard.type("0.02")
    press(lab, "Tab", "Enter")
    says(box, f"Saved: 1, {READOUT}, 0.02.")
    script = "() => [...document.querySelectorAll('.js-plotly-plot')].at(-1).data[0].y.at(-1).toFixed(2)"
    assert until(lambda: lab.page.evaluate(script) == "0.02"), "the line is what was saved"
    press(lab, *["Shift+Tab"] * 4)
    lab.picture("questions_light")
    lab.run_cell("reveal")
    printed = text(lab.outputs("reveal"))
    assert f"At step 60 you drew {READOUT}; it was 0.5." in printed, printed
    box = lab.show("one_batch")
    assert until(lambda: box.locator("button[disabled]").count() == 1, 20), "seen is seen: the guess stays"


def restarted(lab) -> None:
    """The kernel starts again: each question says what to do."""
    lab.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel.restart()")
    for name in ("bits", "classes", "step", "one_batch"):
        box = lab.show(name)
        assert until(lambda box=box: "Run the notebook from the top, and this cell again" in before_of(box)), name
    lab.show("bits")
    lab.picture("questions_restarted")
