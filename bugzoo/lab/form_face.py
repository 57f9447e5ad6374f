"""A form as widgets: questions, a button and a reply, for mouse and keyboard. Every diagnosis form is made of it."""

from typing import Any

import ipywidgets as w

from bugzoo.errors import UserError
from bugzoo.lab import page
from bugzoo.lab.listing import first_statement
from bugzoo.syntax import source_lines

WIDE = {"width": "100%"}


class Face:
    """The widgets of one part of a form, shown on creation. A subclass says what is asked and what a press does.

    Each control is also an attribute with the name of its question.
    """

    def __init__(self, form: Any, *, button: str = "Hand in", icon: str = "check", style: str = "primary") -> None:
        self.form = form
        self.button = w.Button(description=button, button_style=style, icon=icon)
        self.told = w.HTML()
        rows: list[Any] = []
        self.controls: dict[str, Any] = {}
        for name, text, control in self.questions():
            setattr(self, name, control)
            self.controls[name] = control
            rows += [page.ask(text) if isinstance(text, str) else text, control]
        self.carried = page.Carried(self.button, **{name: self.controls[name] for name in self.asked()})
        self.button.on_click(lambda _: self.reply(self.press(self.carried.values())))
        pressed = w.HBox([self.button, *self.buttons()], layout={"margin": "10px 0 0 0"})
        self.box = page.form([*rows, pressed, self.carried.box, self.told])
        self.handle = page.put(self.box)
        self.reply(self.opening())

    def questions(self) -> list[tuple[str, Any, Any]]:
        """Return (name, question, control) in order. A question is a text, or the widget of one that changes."""
        raise NotImplementedError

    def asked(self) -> list[str]:
        """Return the questions whose answers a press carries: all that are one control."""
        return list(self.controls)

    def buttons(self) -> list[Any]:
        """Return further buttons."""
        return []

    def press(self, values: dict[str, Any]) -> str:
        """Do what the button is for with the answers, by name, and return the reply."""
        raise NotImplementedError

    def opening(self) -> str:
        """Return what the form says when it is shown."""
        return ""

    def standing(self) -> str:
        """Return the text that stays in the saved notebook."""
        raise NotImplementedError

    def output(self) -> dict[str, Any]:
        """Return what the saved notebook holds beside the text: MIME type -> JSON."""
        return {}

    def reply(self, text: str) -> None:
        """Show a reply, and set what stays in the saved notebook."""
        self.told.value = page.say(text)
        self.keep()

    def keep(self) -> None:
        """Set what stays in the saved notebook."""
        page.keep(self.handle, f"{self.standing()} Run this cell for the form.", self.output())


def choice(options: list[tuple[str, Any]], value: Any) -> Any:
    """Return radio buttons without a default; free text if there are no options."""
    if not options:
        return w.Textarea(value=value, placeholder="in words", layout=WIDE)
    start = value if value in [each for _, each in options] else None
    return w.RadioButtons(options=options, value=start, layout=WIDE)


def causes(form: Any) -> Any:
    """Return the control for a form's causes, with the one that it holds."""
    return choice([(cause, cause) for cause in form.causes], form.diagnosis.cause)


def number(value: Any, placeholder: str) -> Any:
    """Return a field for a whole number."""
    box = w.Text(value=str(value or ""), placeholder=placeholder, layout={"width": "260px"})
    box.add_class("bugzoo-number")
    return box


def line_picker(text: str, line: int | None) -> Any:
    """Return a listing to pick a line from, as `lab.lines` has it, if the program's text is known, else a number field."""
    if not text:
        return number(line, "a number")
    begin = first_statement(text)
    lines = [(f"{place:4d}  {text}", place) for place, text in enumerate(source_lines(text)[begin - 1 :], begin)]
    start = line if line in [place for _, place in lines] else None
    listing = w.Select(options=[("   -  no line", None), *lines], value=start, rows=16, layout=WIDE)
    listing.add_class("bugzoo-listing")
    return listing


def whole(value: Any, what: str) -> int | None:
    """Return the answer of a number field, None if it is empty. Raises UserError for anything but a whole number."""
    text = value.strip() if isinstance(value, str) else value
    if isinstance(text, str) and text and not (text.isdigit() and int(text)):
        raise UserError(f"{what} must be a whole number of at least 1, not {text[:40]!r}.")
    return int(text) if text else None
