"""The look of questions to match and to order: lists to choose from, buttons up and down. `arrange` holds the logic."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets as w

from bugzoo.lab import page
from bugzoo.lab.quiz_widgets import LETTERS, Controls, answering, inline, plain, status

if TYPE_CHECKING:
    from bugzoo.lab.arrange import MatchQuestion, OrderQuestion


def ask_match(question: "MatchQuestion", chosen: Callable[[Any], str]) -> Any:
    """Show a list of the rights beside each left, and a button. `chosen(letters)` returns the reply as HTML."""
    options = [("choose ...", "")]
    options += [(f"{LETTERS[place]}) {plain(right)}", LETTERS[place]) for place, right in enumerate(question.rights)]
    lists = [w.Dropdown(options=options, value="") for _ in question.lefts]
    for dropdown in lists:
        dropdown.layout.width = "min(100%, 420px)"
    rows = [
        w.HBox([w.HTML(status(inline(left)), layout={"width": "220px"}), dropdown], layout={"align_items": "center"})
        for left, dropdown in zip(question.lefts, lists, strict=True)
    ]
    button = w.Button(description="Check", icon="check")
    carried = page.Carried(button, **{f"left{place}": dropdown for place, dropdown in enumerate(lists)})
    message = w.HTML()

    def press(_: Any) -> None:
        letters = list(carried.values().values())
        if open_ones := [left for left, letter in zip(question.lefts, letters, strict=True) if not letter]:
            message.value = status(f"Choose one for {inline(open_ones[0])} first. This cost no try.")
            return
        answering(chosen, "".join(letters), message)

    button.on_click(press)
    box = page.form([w.HTML(status(f"<b>{inline(question.text)}</b>")), *rows, button, carried.box, message])
    box.add_class("bugzoo-check")
    page.keep(page.put(box), f"{question.lines()}\nRun this cell to answer.")
    return Controls(lists=lists, button=button), message


def ask_order(question: "OrderQuestion", chosen: Callable[[Any], str]) -> Any:
    """Show the lines with buttons up and down, and a button. `chosen(letters)` returns the reply as HTML.

    The rows stay and their texts move, so that a button keeps the focus of the keyboard.
    """
    order = list(LETTERS[: len(question.shown)])
    texts = [w.HTML() for _ in order]
    ups, downs = ([_arrow(name) for _ in order] for name in ("up", "down"))
    button = w.Button(description="Check", icon="check")
    message = w.HTML()

    def draw() -> None:
        for place, (letter, text) in enumerate(zip(order, texts, strict=True)):
            text.value = status(f"{place + 1}. {inline(question.shown[LETTERS.index(letter)])}")
        ups[0].disabled = downs[-1].disabled = True

    def move(place: int, by: int) -> None:
        order[place], order[place + by] = order[place + by], order[place]
        draw()
        message.value = ""
        arrow = (ups if by < 0 else downs)[place + by]
        # the focus goes with the line; at an end its other button takes it
        (arrow if not arrow.disabled else (downs if by < 0 else ups)[place + by]).focus()

    for place in range(len(order)):
        ups[place].on_click(lambda _, place=place: move(place, -1) if place else None)
        downs[place].on_click(lambda _, place=place: move(place, 1) if place < len(order) - 1 else None)
    button.on_click(lambda _: answering(chosen, "".join(order), message))
    rows = [
        w.HBox([up, down, text], layout={"align_items": "center"})
        for up, down, text in zip(ups, downs, texts, strict=True)
    ]
    draw()
    box = page.form([w.HTML(status(f"<b>{inline(question.text)}</b>")), *rows, button, message])
    box.add_class("bugzoo-check")
    page.keep(page.put(box), f"{question.lines()}\nRun this cell to answer.")
    return Controls(texts=texts, ups=ups, downs=downs, button=button), message


def _arrow(name: str) -> Any:
    return w.Button(description=name, icon=f"arrow-{name}", tooltip=f"Move this line {name}", layout={"width": "76px"})
