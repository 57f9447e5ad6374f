"""Buttons and a form for an `Interview`; each calls one of its methods and shows the reply."""

import html
from typing import TYPE_CHECKING, Any

import ipywidgets as w
from IPython.display import display

from bugzoo.errors import UserError

if TYPE_CHECKING:
    from bugzoo.interview.notebook import Interview

WIDE = {"width": "760px"}
STYLE = {"description_width": "170px"}


def _text(value: str, pre: bool = False) -> str:
    # on the page's own background, in the theme's colors
    look = "color: var(--jp-ui-font-color1, inherit); font-size: 13px; line-height: 1.5"
    body = html.escape(value)
    if pre:
        body = (
            f'<pre style="white-space: pre-wrap; color: inherit; background: transparent; margin: 2px 0">{body}</pre>'
        )
    return f'<div style="{look}">{body}</div>'


def picker(desk: "Interview") -> None:
    """Show the list of evidence with prices, and what was seen so far, the latest first."""
    requests = desk._session.evidence.requests()
    which = w.Dropdown(description="Evidence", layout=WIDE, style=STYLE, options=_options(desk), value=None)
    button = w.Button(description="Ask", icon="search", button_style="primary", disabled=True)
    left, seen = w.HTML(_text(desk.budget())), w.VBox([])

    def chosen(_: Any) -> None:
        button.disabled = which.value is None
        if which.value is not None:
            paid = requests[which.value - 1].name in desk._session.evidence.seen
            button.description = "Show again" if paid else f"Ask (costs {requests[which.value - 1].price})"

    def ask(_: Any) -> None:
        try:
            text = desk.look(int(which.value or 0))
        except UserError as error:
            text = str(error)
        name = requests[int(which.value or 0) - 1].name
        seen.children = (w.HTML(f"<b>{_text(name)}</b>" + _text(text, pre=True)), *seen.children)
        left.value = _text(desk.budget())
        chosen(None)

    which.observe(chosen, "value")
    button.on_click(ask)
    box = w.VBox([which, w.HBox([button, left]), seen])
    box.add_class("bugzoo-evidence")
    display(box)


def _options(desk: "Interview") -> list[tuple[str, int]]:
    rows = desk._session.evidence.requests()
    return [(f"{one.price} points · {one.name}: {one.about}", one.number) for one in rows]


def form(desk: "Interview") -> None:
    """Show cause, line and evidence; once the cause is right, the test that tells it from its look-alikes."""
    causes = [(title, number) for number, title in enumerate(desk.causes(), 1)]
    cause = w.Dropdown(description="Cause", layout=WIDE, style=STYLE, options=causes, value=None)
    line = w.Text(description="Line of the program", layout=WIDE, style=STYLE, placeholder="a number; empty: unknown")
    shows = w.Dropdown(description="Evidence that shows it", layout=WIDE, style=STYLE, options=_shown(desk))
    button = w.Button(description="Say it", icon="check", button_style="primary")
    told = w.HTML()
    asked = w.VBox()

    def say(_: Any) -> None:
        text = line.value.strip()
        if cause.value is None or (text and not text.isdigit()):
            told.value = _text("Choose a cause first." if cause.value is None else f"{text!r} is not a line number.")
            return
        try:
            right = desk.guess(cause.value, int(text) if text else None, shows.value or "")
        except UserError as error:
            told.value = _text(str(error))
            return
        told.value = _text(desk.verdict(right))
        if right:
            button.disabled = True
            if tests := desk.tests():
                options = [(one, number) for number, one in enumerate(tests, 1)]
                test = w.RadioButtons(layout={"width": "max-content"}, options=options, value=None)
                test.observe(tell, "value")
                asked.children = (w.HTML(_text("Which test tells it from its look-alikes?")), test)

    def tell(change: Any) -> None:
        if change["new"] is not None:
            try:
                desk.tell(change["new"])
            except UserError as error:
                told.value = _text(str(error))

    def renew(_: Any) -> None:
        chosen = shows.value
        shows.options = _shown(desk)  # more may have been seen since the form was shown
        shows.value = chosen

    cause.observe(renew, "value")
    button.on_click(say)
    box = w.VBox([cause, line, shows, button, told, asked])
    box.add_class("bugzoo-diagnosis")
    display(box)


def _shown(desk: "Interview") -> list[tuple[str, str]]:
    return [("none", ""), *((name, name) for name in desk._session.evidence.seen)]
