"""`%%measured NAME`: how a number of a lesson's text was measured, in a process of its own.

The cell shows the code behind a number. Running it, as Run All does, runs nothing: it shows a button. The button starts a new
Python, which runs the cells of the lesson that the code needs, with the tasks solved, and then the code as it stands in the
cell. Nothing of it reaches the reader's notebook, and no saved answer changes.
"""

import contextlib
import html
import io
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

from bugzoo import course, device
from bugzoo.course.needs import script
from bugzoo.errors import UserError, unknown
from bugzoo.lab.frontend import headless, kernel
from bugzoo.lab.quiz_widgets import status
from bugzoo.plain import plain

ASIDE = "Run All leaves this cell out."


class Measurement:
    """The code behind a number of a lesson: `09/which-test`, and its text, which the reader may have changed.

    Raises UserError for a lesson or a cell that does not exist.
    """

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text
        find(name)

    def run(self) -> str:
        """Run it in a new process; return what it prints and measures, or its error. Ctrl-C ends the process, too."""
        with tempfile.TemporaryDirectory(prefix="bugzoo-measured-") as folder:
            env = {"BUGZOO_WIDGETS": "0", "BUGZOO_DATA": folder, "OMP_NUM_THREADS": "1", device.VARIABLE: device.CPU}
            process = subprocess.run(
                [sys.executable, "-c", f"from {__name__} import main; main()", self.name],
                input=self.text, capture_output=True, text=True, encoding="utf-8", env=os.environ | env, cwd=folder,
            )  # fmt: skip
        return "\n".join(part for part in (process.stdout.rstrip(), process.stderr.rstrip()) if part)

    def show(self) -> "Measurement":
        """Show the button, or say how to run it without a front end."""
        if headless():
            print(f"{ASIDE} To run it: print(lab.measure({self.name!r}))")
            return self
        import ipywidgets as w

        from bugzoo.lab import page

        self.button = w.Button(description="Measure", icon="play", button_style="primary")
        self.told, self.shown = w.HTML(status(f"{ASIDE} Measure runs it in a process of its own.")), w.HTML()
        self.button.on_click(self._pressed)
        page.keep(page.put(page.form([self.button, self.told, self.shown])), f"{ASIDE} Run this cell for the button.")
        return self

    def _pressed(self, _: Any) -> None:
        self.button.disabled, begin = True, time.monotonic()
        self.told.value = status("measuring ...")
        try:
            self.shown.value = f"<pre>{html.escape(self.run())}</pre>"
        finally:
            self.button.disabled = False
            self.told.value = status(f"{time.monotonic() - begin:.0f} s")


def measure(name: str) -> str:
    """Run the code behind a number of a lesson, such as `09/which-test`; return what it measures."""
    return Measurement(name, find(name)[1].text).run()


def register() -> None:
    """Add the cell magic to this notebook's kernel, if there is one."""
    running = kernel()
    if running is not None:
        running.shell.register_magic_function(_cell, "cell", "measured")


def _cell(line: str, cell: str) -> None:
    Measurement(line.split("#")[0].strip(), cell).show()


def find(name: str) -> tuple[course.Lesson, Any]:
    """Return (the lesson, its [measured] cell). Raises UserError with the nearest names."""
    number, _, key = name.partition("/")
    lesson = course.load(number)
    cells = {cell.key: cell for cell in lesson.of("measured")}
    if key not in cells:
        if not cells:
            raise UserError(f"Lesson {number} has no `%%measured` cell. Its numbers come from the cells that you see.")
        raise unknown("measurement", name, [f"{number}/{other}" for other in cells], "bugzoo lessons list")
    return lesson, cells[key]


def main() -> None:
    """In the new process: run what a [measured] cell needs, and then its text; print each value beside what the lesson says."""
    name, text = sys.argv[1], sys.stdin.read()
    lesson, cell = find(name)
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        for before in script(lesson, cell):
            exec(compile(before, f"lesson {lesson.number}", "exec"), names)
    exec(compile(text, name, "exec"), names)
    for claim in dict.fromkeys((claim.shown, claim.name) for claim in lesson.claims):
        if claim[1] in lesson.binds(cell) and claim[1] in names:
            print(f"{claim[0]}: {_told(plain(names[claim[1]]))}")


def _told(value: Any) -> str:
    """Return a measured value as text, after what the lesson says."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return "between {:.4g} and {:.4g}".format(*value)
    return f"measured {value:.4g}" if isinstance(value, float) else f"measured {value}"
