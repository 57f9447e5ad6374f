"""What may be done to a notebook's file: it is read as what it was meant to be, or refused with a reason."""
# ruff: noqa: E501 (a text that is handed in stands in one line)

import copy
from collections.abc import Callable
from typing import Any

Made = dict[str, Any]


def _cell(made: Made, name: str) -> Made:
    return next(one for one in made["cells"] if one.get("id") == name)


def _set(name: str, source: Any) -> Callable[[Made], None]:
    return lambda made: _cell(made, name).update(source=source)


def _more(made: Made, name: str, **change: Any) -> None:
    made["cells"].append(copy.deepcopy(_cell(made, name)) | change)


def _all(change: Callable[[Made], object]) -> Callable[[Made], None]:
    def made(notebook: Made) -> None:
        for one in notebook["cells"]:
            change(one)

    return made


KINDS: dict[str, tuple[str, Callable[[Made], object]]] = {
    "cells in another order": ("same", lambda made: made["cells"].reverse()),
    "cells with the same id": ("same", _all(lambda one: one.update(id="one"))),
    "cells without ids": ("same", _all(lambda one: one.pop("id", None))),
    "points in the graded cell": ("same", _set("repair", "7.0")),
    "the program in the graded cell": ("refused", _set("repair", "%%program Training\nstep, losses = 216, []\n")),
    "the program in a markdown cell": ("same", lambda made: made["cells"].append(
        {"cell_type": "markdown", "id": "x", "metadata": {}, "source": "%%program Training\nmodel = None\n"})),
    "a second Training that differs": ("refused", lambda made: _more(made, "program-training", source="%%program Training\npass\n")),
    "a second Training that is the same": ("same", lambda made: _more(made, "program-training")),
    "no Training": ("without it", lambda made: made["cells"].remove(_cell(made, "program-training"))),
    "Training as a number": ("refused", _set("program-training", 7)),
    "Training as lists in lists": ("refused", _set("program-training", [["%%program Training"]])),
    "Training of 2 MB": ("refused", _set("program-training", "%%program Training\n" + "# x\n" * 2**19)),
    "two answers": ("refused", lambda made: _more(made, "diagnosis-answer")),
    "no answer": ("same", lambda made: made["cells"].remove(_cell(made, "diagnosis-answer"))),
    "the graded cells gone": ("same", lambda made: [made["cells"].remove(_cell(made, n)) for n in ("repair", "diagnosis")]),
    "points raised in the metadata": ("same", lambda made: _cell(made, "repair")["metadata"]["nbgrader"].update(points=1e9)),
    "points that are no number": ("same", lambda made: _cell(made, "repair")["metadata"]["nbgrader"].update(points="nan")),
    "metadata as a list": ("refused", _all(lambda one: one.update(metadata=[]))),
    "cells as an object": ("refused", lambda made: made.update(cells={"0": made["cells"]})),
    "cells that are none": ("same", lambda made: made["cells"].extend([None, 5, "x", []])),
    "another ticket": ("refused", lambda made: made["metadata"]["bugzoo"].update(ticket="B-000")),
    "the ticket as a tree": ("refused", lambda made: made["metadata"]["bugzoo"].update(ticket={"a": [1]})),
    "a kernel of R": ("same", lambda made: made["metadata"].update(kernelspec={"language": "R", "name": "ir"})),
    "outputs of a pass": ("same", _all(lambda one: one.update(outputs=[{"output_type": "stream", "text": "passed: 7 of 7"}]))),
    "lone surrogates": ("refused", _set("program-training", "%%program Training\nx = '\ud800'\n")),
    "a magic below the first line": ("same", lambda made: made["cells"].append(
        {"cell_type": "code", "id": "y", "metadata": {}, "source": "x = 1\n%%program Training\npass\n"})),
    "a section of its own": ("same", lambda made: made["cells"].append(
        {"cell_type": "code", "id": "z", "metadata": {}, "source": "%%program Grader\nimport os; os._exit(0)\n"})),
}  # fmt: skip
"""name -> (what is read: the same sections, those without the Training, or a refusal; what is done to the notebook)."""
