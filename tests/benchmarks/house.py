"""How much code is content, and how much is machinery?

    python -m tests.benchmarks.house [--json OUT]

Code lines are those without docstrings, comments and blanks. Content is what a learner meets or what measures a run: a new fault,
lesson, exercise, instrument or contract adds to it. Machinery is all else, and each later piece of content pays for it. Also
printed: in how many other files an instrument is named, and how many names are pronouns, participles and the like.
"""

import argparse
import ast
import io
import json
import keyword
import re
import statistics
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bugzoo import diagnostics
from bugzoo.syntax import parse

ROOT = Path(__file__).parents[2]
CONTENT = (
    "faults",
    "programs",
    "lessons",
    "grading/exercises",
    "glossary.py",
    "contracts",
    "diagnostics",
    "lab/scripts",
)
"""Rooms with content. Every other room and file of the package is machinery."""
VAGUE = frozenset(
    "one found given known said shown kept made own asked seen told wanted done drawn mine apart ours both alike tried".split()
)
"""Names that say nothing of what they hold."""
MOST_PER_LINE = 0.97
"""Lines of machinery for each line of content. It may fall, and not rise."""
MOST_VAGUE = 0.015
"""Share of `VAGUE` in all names of the package and its tests. It may fall, and not rise."""
_LAYOUT = (
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER,
)  # fmt: skip


def files(*folders: str) -> Iterator[Path]:
    """Yield the Python files of some folders below the root."""
    for folder in folders:
        yield from sorted((ROOT / folder).rglob("*.py"))


def code_lines(text: str) -> int:
    """Return the number of lines with code: neither blank nor only a comment or a docstring."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {line for token in tokens if token.type not in _LAYOUT for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def room(path: Path) -> str:
    """Return the room of a file: an entry of `CONTENT`, else the folder or file below the package."""
    place = path.relative_to(ROOT / "bugzoo").as_posix()
    return next((name for name in CONTENT if place == name or place.startswith(f"{name}/")), place.partition("/")[0])


def rooms() -> dict[str, dict[str, Any]]:
    """Return room -> {"kind", "files", "lines", "code"}, the largest first."""
    counted: dict[str, Counter[str]] = {}
    for path in files("bugzoo"):
        text = path.read_text(encoding="utf-8")
        counted.setdefault(room(path), Counter()).update(files=1, lines=text.count("\n"), code=code_lines(text))
    kinds = {name: "content" if name in CONTENT else "machinery" for name in counted}
    largest = sorted(counted, key=lambda name: -counted[name]["code"])
    return {name: {"kind": kinds[name], **counted[name]} for name in largest}


def named_in() -> float:
    """Return the median number of other files of the machinery, and of other instruments, that name an instrument."""
    texts = {path: path.read_text(encoding="utf-8") for path in files("bugzoo")}
    texts = {path: text for path, text in texts.items() if room(path) == "diagnostics" or room(path) not in CONTENT}
    counts = []
    for name in diagnostics.names():
        word = re.compile(rf"\b{name}\b")
        counts.append(sum(path.stem != name and bool(word.search(text)) for path, text in texts.items()))
    return statistics.median(counts)


def vague() -> float:
    """Return the share of names that say nothing of what they hold, of all names in the package and its tests.

    The corpus of other people's scripts is left out: its names are theirs.
    """
    names: Counter[str] = Counter()
    for path in files("bugzoo", "tests"):
        if path.parent.parent.name == "corpus":
            continue
        tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
        names.update(
            token.string for token in tokens if token.type == tokenize.NAME and not keyword.iskeyword(token.string)
        )
    return sum(names[word] for word in VAGUE) / names.total()


def measured() -> dict[str, Any]:
    """Return all numbers, as JSON."""
    table = rooms()
    total = {
        kind: sum(row["code"] for row in table.values() if row["kind"] == kind) for kind in ("content", "machinery")
    }
    per_line = total["machinery"] / total["content"]
    return {"rooms": table, "code": total, "per line": per_line, "named in": named_in(), "vague": vague()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.house", description=__doc__.split("\n\n")[0])
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    target = parser.parse_args().json
    numbers = measured()
    print("| room | kind | files | lines | code |\n|---|---|---:|---:|---:|")
    for name, row in numbers["rooms"].items():
        print(f"| {name} | {row['kind']} | {row['files']} | {row['lines']:,} | {row['code']:,} |")
    for kind, lines in numbers["code"].items():
        print(f"{kind}: {lines:,} code lines")
    print(f"machinery per line of content: {numbers['per line']:.3f} (at most {MOST_PER_LINE})")
    print(f"files that name an instrument, besides its own (median): {numbers['named in']:g}")
    print(f"names that say nothing: {numbers['vague']:.2%} (at most {MOST_VAGUE:.2%})")
    if target:
        target.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
