"""The look of a question: radio buttons and the reply below them. `quiz` holds the logic."""

import html
import re
from collections.abc import Callable, Sequence
from typing import Any

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


def ask(text: str, answers: Sequence[str], chosen: Callable[[str], str], said: str = "") -> Any:
    """Show the question; `chosen(letter)` returns the reply as HTML. Return the radio buttons, with `.told` added."""
    import ipywidgets as w

    from bugzoo.lab import page

    options = [(f"{LETTERS[i]}) {plain(answer)}", LETTERS[i]) for i, answer in enumerate(answers)]
    choice = w.RadioButtons(options=options, value=said or None, layout={"width": "100%"})
    told = w.HTML()

    def change(event: Any) -> None:
        if event["new"] is not None:
            told.value = status(chosen(event["new"]))

    choice.observe(change, "value")
    box = page.form([w.HTML(status(f"<b>{inline(text)}</b>")), choice, told])
    box.add_class("bugzoo-check")
    page.keep(page.put(box), "\n".join([plain(text), *(name for name, _ in options), "Run this cell to answer."]))
    return choice, told
