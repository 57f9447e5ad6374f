"""The button below a debrief that writes another case of the exercise and links to it."""

import html
from typing import Any

from bugzoo.errors import UserError
from bugzoo.grading import files
from bugzoo.grading.exercises import load

WAIT = "Training the new case and its healthy twin: its ticket quotes both runs."
RECORDED = "Opening the next recordings."
"""Said where the runs are recorded already."""


class AnotherButton:
    """A button for one exercise. Its cases go into the notebook's own folder."""

    def __init__(self, exercise: str) -> None:
        self.exercise = exercise

    def show(self) -> None:
        """Show the button; each press writes one more case."""
        import ipywidgets as w

        from bugzoo.lab import page

        self.button = w.Button(description="Another one like this", icon="random", layout={"width": "220px"})
        self.said = w.HTML()
        self.links = w.Output()
        self.button.on_click(self._pressed)
        page.put(page.form([self.button, self.said, self.links]))

    def _pressed(self, _: Any) -> None:
        from IPython.display import Markdown

        message = WAIT if load(self.exercise).kind.program else RECORDED
        self.button.disabled, self.said.value = True, f'<div class="bugzoo-status">{message}</div>'
        try:
            path = files.draw_another(self.exercise)
            self.said.value = ""
            self.links.append_display_data(Markdown(f"[{path.stem}]({path.name})"))  # JupyterLab opens it in a tab
        except UserError as error:
            self.said.value = f'<div class="bugzoo-status">{html.escape(str(error))}</div>'
        finally:
            self.button.disabled = False
