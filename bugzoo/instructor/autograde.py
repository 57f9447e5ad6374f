"""For nbgrader: copies what the forms handed in from the outputs into cells, before nbgrader clears the outputs.

`form_records.LINE` adds it to a course's `nbgrader_config.py`.
"""

from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from traitlets import Bool

from bugzoo.instructor import form_records

_SAID = "# By the form: copied by bugzoo from the saved notebook. A call in the next cell counts before it."
_AFTER = ("diagnosis-answer", "diagnosis")


class FormRecords(Preprocessor):
    """Insert one cell with a `hand_in` call for each form on record, before the cell for the student's own calls.

    The student's cell follows unchanged, so a call typed there overrides the form. Other notebooks pass unchanged.
    """

    enabled = Bool(True).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Return the notebook with the cells added."""
        about = nb.metadata.get("bugzoo")
        about = about if isinstance(about, dict) else {}
        if "assignment" not in about:
            return nb, resources
        records, notes = form_records.read(nb)
        answers, others = form_records.latest(records, str(about.get("ticket", "")))
        for note in (*notes, *others):
            self.log.warning("bugzoo: %s", note)
        calls = [form_records.call(form, answer) for form, answer in enumerate(answers, 1) if answer]
        at = next((i for i, cell in enumerate(nb.cells) if _grade_id(cell) in _AFTER), len(nb.cells))
        # one cell each: a call that raises stops no other one
        nb.cells[at:at] = [_cell(number, text) for number, text in enumerate(calls, 1)]
        return nb, resources


def _grade_id(cell: NotebookNode) -> Any:
    about = cell.metadata.get("nbgrader")
    return about.get("grade_id") if isinstance(about, dict) else None


def _cell(number: int, text: str) -> NotebookNode:
    cell = new_code_cell(f"{_SAID}\nhanded_in = {text}")
    cell["id"] = f"handed-in-{number}"
    return cell
