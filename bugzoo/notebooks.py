"""Notebooks that are made and not written by hand: cells with names for ids, the same bytes each time.

They are written as Jupyter itself writes them, so that one that was opened and saved is still the same file.
"""

from collections.abc import Sequence
from typing import Any

import nbformat
from nbformat import NotebookNode, v4


def markdown(name: str, text: str, **metadata: Any) -> NotebookNode:
    """A cell of text whose id is `name`."""
    return v4.new_markdown_cell(text, id=name, metadata=metadata)


def code(name: str, text: str, **metadata: Any) -> NotebookNode:
    """A cell of code whose id is `name`."""
    return v4.new_code_cell(text, id=name, metadata=metadata)


def notebook(cells: Sequence[NotebookNode], **metadata: Any) -> NotebookNode:
    """The cells as a notebook for Python; `metadata` joins what every one of ours carries."""
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    return v4.new_notebook(
        cells=list(cells), metadata={"kernelspec": kernel, "language_info": {"name": "python"}} | metadata
    )


def to_text(made: NotebookNode) -> str:
    """The file."""
    return nbformat.writes(made) + "\n"
