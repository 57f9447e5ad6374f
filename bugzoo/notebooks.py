"""Generate notebooks: cell ids are names, and the same input gives the same bytes.

The format is Jupyter's own, so opening and saving a notebook does not change the file.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bugzoo.files import write_atomic

# nbformat loads jsonschema, which builds 38 parsers for international URLs (IRIs) if this package is installed. That
# costs 3 s at every start, for a check that notebooks do not use. jsonschema also works without the package.
_IRIS = "rfc3987_syntax"
_known = _IRIS in sys.modules
if not _known:
    sys.modules[_IRIS] = None  # type: ignore[assignment]
try:
    import nbformat
    from nbformat import NotebookNode, v4
finally:
    if not _known:
        del sys.modules[_IRIS]


def markdown(name: str, text: str, **metadata: Any) -> NotebookNode:
    """Return a markdown cell with the id `name`."""
    return v4.new_markdown_cell(text, id=name, metadata=metadata)


def code(name: str, text: str, **metadata: Any) -> NotebookNode:
    """Return a code cell with the id `name`."""
    return v4.new_code_cell(text, id=name, metadata=metadata)


def notebook(cells: Sequence[NotebookNode], **metadata: Any) -> NotebookNode:
    """Return the cells as a Python notebook. `metadata` is added to the metadata of all our notebooks."""
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}} | metadata
    return v4.new_notebook(cells=list(cells), metadata=metadata)


def to_text(made: NotebookNode) -> str:
    """Return the notebook as the text of its file."""
    return nbformat.writes(made) + "\n"


def write_changed(texts: Mapping[str, str], place: Path) -> list[str]:
    """Write the files that differ and return their paths. `texts`: path below `place` -> text. Raises UserError."""
    changed = [path for path, text in texts.items() if _there(place / path) != text]
    for path in changed:
        write_atomic(place / path, texts[path], parents=True)
    return changed


def stray(texts: Mapping[str, str], place: Path, made_of: str, command: str) -> list[str]:
    """Return one sentence for each file that is missing or differs from what it is `made_of`."""
    problems = []
    for path, text in texts.items():
        there = _there(place / path)
        if there is None:
            problems.append(f"{path} is missing; `{command}` makes it")
        elif there != text:
            problems.append(f"{path} differs from its {made_of}; `{command}` makes it again")
    return problems


def _there(file: Path) -> str | None:
    return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else None
