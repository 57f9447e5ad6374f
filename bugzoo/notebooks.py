"""Notebooks that are made and not written by hand: cells with names for ids, the same bytes each time.

They are written as Jupyter itself writes them, so that one that was opened and saved is still the same file.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bugzoo.files import write_atomic

# nbformat loads jsonschema, and that one builds 38 parsers for addresses in any language where this package is installed:
# 3 s of processor time at every start, for a check that notebooks do not use. jsonschema does without a missing package.
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


def write_changed(texts: Mapping[str, str], place: Path) -> list[str]:
    """Write those files that differ; `texts` is path below `place` -> text. Returns the paths written. Raises UserError."""
    changed = [path for path, text in texts.items() if _there(place / path) != text]
    for path in changed:
        write_atomic(place / path, texts[path], parents=True)
    return changed


def stray(texts: Mapping[str, str], place: Path, made_of: str, command: str) -> list[str]:
    """Sentences on files that differ from what they are `made_of`, are missing, or belong to nothing."""
    problems = []
    for path, text in texts.items():
        there = _there(place / path)
        if there is None:
            problems.append(f"{path} is missing; `{command}` makes it")
        elif there != text:
            problems.append(f"{path} is not what its {made_of} makes; `{command}` makes it again")
    return problems


def _there(file: Path) -> str | None:
    return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else None
