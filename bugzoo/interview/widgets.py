"""Buttons and a form for an `Interview`; each calls one of its methods and shows the reply."""

import html
import io
from typing import TYPE_CHECKING, Any

import ipywidgets as w
from IPython.display import display

from bugzoo.errors import UserError
from bugzoo.interview.measure import takes_step
from bugzoo.interview.requests import ABOUT, listed

if TYPE_CHECKING:
    from bugzoo.interview.notebook import Interview

WIDE = {"width": "760px"}
STYLE = {"description_width": "170px"}


def _text(value: str, pre: bool = False) -> str:
    # on the page's own background, in the theme's colors
    look = "color: var(--jp-ui-font-color1, inherit); font-size: 13px; line-height: 1.5"
    body = html.escape(value)
    if pre:
        plain = "white-space: pre-wrap; color: inherit; background: transparent; margin: 2px 0"
        body = f'<pre style="{plain}">{body}</pre>'
    return f'<div style="{look}">{body}</div>'


def picker(desk: "Interview") -> None:
    """Show the list of evidence with prices, and what was seen so far, the latest first."""
    requests, evidence = listed(), desk._session.evidence
    which = w.Dropdown(description="Evidence", layout=WIDE, style=STYLE, options=_options(), value=None)
    step = w.Text(description="Optimizer step", style=STYLE, placeholder="empty: the first kept batch")
    button = w.Button(description="Ask", icon="search", button_style="primary", disabled=True)
    left, answers = w.HTML(_text(desk.budget())), w.VBox([])

    def asked() -> int | None:
        text = step.value.strip() if step.layout.display is None else ""
        if text and not (text.isascii() and text.isdigit() and len(text) <= 9):
            raise UserError(f"{text!r} is not a step. Type a whole number, or nothing.")
        return int(text) if text else None

    def chosen(_: Any) -> None:
        button.disabled = which.value is None
        if which.value is None:
            return
        request = requests[which.value - 1]
        step.layout.display = None if request.name not in ABOUT and takes_step(request.name) else "none"
        try:
            cost = evidence.cost(request, asked())
        except UserError:
            cost = evidence.cost(request)
        button.description = f"Ask (costs {cost})" if cost else "Show again"

    def ask(_: Any) -> None:
        request, pictures = requests[int(which.value or 0) - 1], []
        button.disabled = True  # a further run takes some seconds
        try:
            at = asked()
            text = desk.look(request.name, at)
            if (figure := desk.figure(request.name, at)) is not None:
                pictures.append(_image(figure))
        except UserError as error:
            text = str(error)
        head = "" if text.startswith(f"{request.name}: ") else f"<b>{_text(request.name)}</b>"
        answers.children = (w.HTML(head + _text(text, pre=True)), *pictures, *answers.children)
        left.value = _text(desk.budget())
        chosen(None)

    step.layout.display = "none"
    which.observe(chosen, "value")
    step.observe(chosen, "value")
    button.on_click(ask)
    box = w.VBox([which, step, w.HBox([button, left]), answers])
    box.add_class("bugzoo-evidence")
    display(box)


def _image(figure: Any) -> w.Image:
    from bugzoo.plots import DPI

    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI, transparent=True)
    return w.Image(value=buffer.getvalue(), format="png", layout={"max_width": "760px", "object_fit": "contain"})


def _options() -> list[tuple[str, int]]:
    return [(f"{line.heading} · {line.name} · {line.price} points: {line.about}", line.number) for line in listed()]


def form(desk: "Interview") -> None:
    """Show cause, line and evidence; once the cause is right, the test that tells it from its look-alikes."""
    causes = [(title, number) for number, title in enumerate(desk.causes(), 1)]
    cause = w.Dropdown(description="Cause", layout=WIDE, style=STYLE, options=causes, value=None)
    line = w.Text(description="Line of the program", layout=WIDE, style=STYLE, placeholder="a number; empty: unknown")
    shows = w.Dropdown(description="Evidence that shows it", layout=WIDE, style=STYLE, options=_shown(desk))
    button = w.Button(description="Say it", icon="check", button_style="primary")
    message = w.HTML()
    question = w.VBox()

    def say(_: Any) -> None:
        text = line.value.strip()
        if cause.value is None or (text and not text.isdigit()):
            message.value = _text("Choose a cause first." if cause.value is None else f"{text!r} is not a line number.")
            return
        try:
            right = desk.guess(cause.value, int(text) if text else None, shows.value or "")
        except UserError as error:
            message.value = _text(str(error))
            return
        message.value = _text(desk.verdict(right))
        if right:
            button.disabled = True
            if tests := desk.tests():
                options = [(sentence, number) for number, sentence in enumerate(tests, 1)]
                test = w.RadioButtons(layout={"width": "max-content"}, options=options, value=None)
                test.observe(tell, "value")
                question.children = (w.HTML(_text("Which test tells it from its look-alikes?")), test)

    def tell(change: Any) -> None:
        if change["new"] is not None:
            try:
                desk.tell(change["new"])
            except UserError as error:
                message.value = _text(str(error))

    def renew(_: Any) -> None:
        chosen = shows.value
        shows.options = _shown(desk)  # more may have been seen since the form was shown
        shows.value = chosen

    cause.observe(renew, "value")
    button.on_click(say)
    box = w.VBox([cause, line, shows, button, message, question])
    box.add_class("bugzoo-diagnosis")
    display(box)


def _shown(desk: "Interview") -> list[tuple[str, str]]:
    return [("none", ""), *((name, name) for name in desk._session.evidence.seen)]
