"""The look of a question: radio buttons or a field for a number, and the reply below. `quiz` holds the logic."""

import html
import re
from collections.abc import Callable, Sequence
from typing import Any

from bugzoo.errors import UserError
from bugzoo.lab.frontend import headless, kernel

LETTERS = "abcdefgh"


def inline(text: str) -> str:
    """Return HTML of a sentence with Markdown's `code`, *emphasis* and **strong**."""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
    text = re.sub(r"\*\*([^*\s][^*]*)\*\*", r"<strong>\1</strong>", text)
    return re.sub(r"\*([^*\s][^*]*)\*", r"<em>\1</em>", text)


def plain(text: str) -> str:
    """Return the same sentence as plain text, for labels and terminals."""
    return re.sub(r"`([^`]+)`|\*\*?([^*\s][^*]*)\*\*?", lambda found: found[1] or found[2], text)


def status(text: str) -> str:
    """Return an HTML paragraph in the page's colors."""
    return f'<div class="bugzoo-status">{text}</div>'


def show_lines(lines: list[str]) -> None:
    """Show sentences with Markdown's emphasis in the cell's output, or print them without a front end."""
    if kernel() is None or headless():
        print("\n".join(map(plain, lines)))
        return
    from IPython.display import display

    markup = status("<br>".join(inline(line) for line in lines))
    display({"text/html": markup, "text/plain": "\n".join(map(plain, lines))}, raw=True)


def ask(text: str, answers: Sequence[str], chosen: Callable[[str], str], said: str = "") -> Any:
    """Show the question; `chosen(letter)` returns the reply as HTML. Return the radio buttons, with `.told` added."""
    import ipywidgets as w

    from bugzoo.lab import page

    options = [(f"{LETTERS[i]}) {plain(answer)}", LETTERS[i]) for i, answer in enumerate(answers)]
    choice = w.RadioButtons(options=options, value=said or None, layout={"width": "100%"})
    message = w.HTML()

    def change(event: Any) -> None:
        if event["new"] is not None:
            message.value = status(chosen(event["new"]))

    choice.observe(change, "value")
    box = page.form([w.HTML(status(f"<b>{inline(text)}</b>")), choice, message])
    box.add_class("bugzoo-check")
    page.keep(page.put(box), "\n".join([plain(text), *(name for name, _ in options), "Run this cell to answer."]))
    return choice, message


def ask_number(text: str, chosen: Callable[[Any], str], said: str = "") -> Any:
    """Show a field for a number and a button; `chosen(typed)` returns the reply as HTML. Return (controls, reply)."""
    import ipywidgets as w

    from bugzoo.lab import page

    field = w.Text(value=said, placeholder="a number, such as 0.7 or 1e-3", layout={"width": "260px"})
    button = w.Button(description="Answer", icon="check")
    carried = page.Carried(button, number=field)
    message = w.HTML()
    button.on_click(lambda _: answering(chosen, str(carried.values()["number"]), message))
    box = page.form([w.HTML(status(f"<b>{inline(text)}</b>")), w.HBox([field, button]), carried.box, message])
    box.add_class("bugzoo-check")
    page.keep(page.put(box), f"{plain(text)}\nRun this cell to answer.")
    return Controls(field=field, button=button), message


def ask_sure(grains: Sequence[str], chosen: Callable[[str], None], said: str = "") -> Any:
    """Show a button for each degree of sureness below a question; `chosen(grain)` saves it. Return the buttons."""
    import ipywidgets as w

    from bugzoo.lab import page

    buttons = w.ToggleButtons(options=list(grains), value=said or None, description="How sure are you?")
    buttons.style = {"description_width": "initial", "button_width": "80px"}
    buttons.observe(lambda event: event["new"] and chosen(event["new"]), "value")
    page.put(page.form([buttons]))
    return buttons


def answering(chosen: Callable[[Any], str], given: Any, told: Any) -> None:
    """Write the reply to an answer; a mistake in it is a message, not an error on the page."""
    try:
        told.value = status(chosen(given))
    except UserError as error:
        told.value = status(html.escape(str(error)))


class Controls:
    """The widgets of one question, by name: single ones or lists of them. `disabled = True` locks all."""

    def __init__(self, **widgets: Any) -> None:
        self.__dict__.update(widgets)
        self._all = [control for some in widgets.values() for control in (some if isinstance(some, list) else [some])]

    def __getattr__(self, name: str) -> Any:  # for type checkers: the names come from the question
        raise AttributeError(name)

    @property
    def disabled(self) -> bool:
        return all(getattr(control, "disabled", True) for control in self._all)

    @disabled.setter
    def disabled(self, to: bool) -> None:
        for control in self._all:
            if control.has_trait("disabled"):
                control.disabled = to
