"""Buttons and a form over an `Interview`; each calls one of its methods and shows what that says."""

import html
from typing import TYPE_CHECKING, Any

import ipywidgets as w
from IPython.display import display

from bugzoo.errors import UserError
from bugzoo.interview.rubric import LISTED

if TYPE_CHECKING:
    from bugzoo.interview.notebook import Interview

WIDE = {"width": "760px"}
STYLE = {"description_width": "170px"}


def _text(value: str, pre: bool = False) -> str:
    # on the page's own background, in the theme's colours
    look = "color: var(--jp-ui-font-color1, inherit); font-size: 13px; line-height: 1.5"
    body = html.escape(value)
    if pre:
        body = (
            f'<pre style="white-space: pre-wrap; color: inherit; background: transparent; margin: 2px 0">{body}</pre>'
        )
    return f'<div style="{look}">{body}</div>'


def picker(desk: "Interview") -> None:
    """A list of evidence with prices, and what was seen so far, the latest first."""
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
    """Cause in one's own words or from the list, line, evidence, how sure; then the test that tells it from its look-alikes."""
    told_by = w.Text(description="Cause, your words", layout=WIDE, style=STYLE, placeholder="as you would say it")
    lister = w.Button(description=f"Show a list (the cause is then worth {LISTED:.0%})", layout={"width": "auto"})
    cause = w.Dropdown(description="or from the list", layout=WIDE, style=STYLE, options=[], disabled=True)
    line = w.Text(description="Line of the program", layout=WIDE, style=STYLE, placeholder="a number; empty: unknown")
    shows = w.Dropdown(description="Evidence that shows it", layout=WIDE, style=STYLE, options=_shown(desk))
    sure = w.IntSlider(description="How sure, 0 to 100", value=50, step=5, layout=WIDE, style=STYLE)
    button = w.Button(description="Say it", icon="check", button_style="primary")
    told = w.HTML()
    asked = w.VBox()

    def open_list(_: Any) -> None:
        cause.options = [(title, number) for number, title in enumerate(desk.causes(), 1)]
        cause.value, cause.disabled, lister.disabled = None, False, True

    def say(_: Any) -> None:
        text = line.value.strip()
        given = told_by.value.strip() or cause.value
        if given is None or (text and not text.isdigit()):
            told.value = _text("Say a cause first." if given is None else f"{text!r} is no line number.")
            return
        try:
            right = desk.guess(given, int(text) if text else None, shows.value or "", sure.value)
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
        shows.options = _shown(desk)  # what was seen may have grown since the form was shown
        shows.value = chosen

    for one in (told_by, cause, line):
        one.observe(renew, "value")
    lister.on_click(open_list)
    button.on_click(say)
    box = w.VBox([told_by, lister, cause, line, shows, sure, button, told, asked])
    box.add_class("bugzoo-diagnosis")
    display(box)


def _shown(desk: "Interview") -> list[tuple[str, str]]:
    return [("none", ""), *((name, name) for name in desk._session.evidence.seen)]
