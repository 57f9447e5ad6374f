"""Widgets in a notebook's page: the text that stays in the saved file, and protection from JupyterLab's shortcuts."""

import html
import json
import uuid
from typing import Any

from bugzoo.lab.chart import FRONT


def put(box: Any) -> Any:
    """Show a box of widgets in a cell's output. Return the handle of the text shown when the widgets are not live.

    They are not live after a restart, in a reopened notebook, and on a page that only displays notebooks.
    """
    from IPython.display import display

    style, keys = (FRONT / "page.css").read_text(), (FRONT / "keys.js").read_text()
    page = f'<div class="bugzoo-page"><style>{style}</style><script>{keys}</script></div>'
    display({"text/html": page, "text/plain": ""}, raw=True)
    box.add_class("bugzoo-widget")
    view = {"version_major": 2, "version_minor": 0, "model_id": box.model_id}
    display({"application/vnd.jupyter.widget-view+json": view, "text/plain": ""}, raw=True)
    return display({"text/plain": ""}, raw=True, display_id=f"bugzoo-{uuid.uuid4().hex[:12]}")


def form(rows: list[Any]) -> Any:
    """Return a form that works with mouse and keyboard."""
    import ipywidgets as w

    box = w.VBox(rows)
    for name in ("bugzoo-form", "bugzoo-keys"):
        box.add_class(name)
    return box


class Carried:
    """The values of a form's controls on the page at the moment its button was pressed.

    The button and each control have a comm of their own, and ipykernel may handle two comms in two threads: a press then
    overtakes the last choices. So the page (`keys.js`) holds the button's own message back and writes all values into a
    hidden control, with a new "press" each time. In a front end without that script the button's message arrives, and the
    kernel's own values count.
    """

    def __init__(self, button: Any, **controls: Any) -> None:
        import ipywidgets as w

        self.button, self.controls = button, controls
        self.box = w.Text(layout={"display": "none"})
        self.box.add_class("bugzoo-carried")
        self.box.observe(lambda _: self.button.click() if "press" in self._seen() else None, "value")
        button.add_class("bugzoo-press")
        for name, control in controls.items():
            control.add_class(f"bugzoo-is-{name}")

    def values(self) -> dict[str, Any]:
        """Return name of each control -> its value."""
        entries = self._seen()
        self.box.value = ""
        return {name: _carried(control, entries.get(name)) for name, control in self.controls.items()}

    def _seen(self) -> dict[str, Any]:
        """Return what the page wrote: name of each control -> its value there."""
        try:
            entries = json.loads(self.box.value or "{}")
        except ValueError:
            return {}
        return entries if isinstance(entries, dict) else {}


def _carried(control: Any, seen: Any) -> Any:
    if seen is None:
        return control.value
    options = getattr(control, "_options_values", None)
    if options is None:
        return seen
    return options[seen] if isinstance(seen, int) and 0 <= seen < len(options) else None


def ask(text: str) -> Any:
    """Return the line above a control."""
    import ipywidgets as w

    return w.HTML(f'<div class="bugzoo-status bugzoo-ask">{html.escape(text)}</div>')


def say(text: str) -> str:
    """Return a form's reply as HTML, with its line breaks."""
    lines = html.escape(text).replace("\n", "<br>")
    return f'<div class="bugzoo-status" role="status">{lines}</div>' if text else ""


def keep(handle: Any, text: str, record: dict[str, Any] | None = None) -> None:
    """Set what stays in the saved notebook: a text, and beside it a `record` for programs as MIME type -> JSON."""
    if handle is not None:  # there is none outside a kernel
        bundle = {"text/plain": text, "text/html": f'<div class="bugzoo-static">{say(text)}</div>'}
        handle.update(bundle | (record or {}), raw=True)
