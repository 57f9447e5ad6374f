"""Swaps -> broken source: structural edits of Python text, their composition, conflicts and diff.

Every edit is found in the same starting text, so that the order of faults does not matter and two faults that touch
one place are noticed. Nothing is formatted anew: bytes outside an edit stay as they are.
"""

import ast
import difflib
import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from ast_grep_py import SgNode, SgRoot

from bugzoo.errors import UserError
from bugzoo.faults.model import Either, Fault, Swap
from bugzoo.syntax import parse, source_lines

_META = re.compile(r"\$\$\$([A-Z_][A-Z0-9_]*)?|\$([A-Z_][A-Z0-9_]*)")
_PARAM = re.compile(r"\$([a-z_][a-z0-9_]*)")
_FOLD = re.compile(r"fold\(([^()]*)\)")


@dataclass(frozen=True)
class Edit:
    """Replace `source[start:end]` by `text` (offsets in characters)."""

    start: int
    end: int
    text: str
    owner: str
    line: int


@dataclass(frozen=True)
class Injection:
    """A text, the edits made to it and what came out."""

    original: str
    edits: tuple[Edit, ...]

    @property
    def broken(self) -> str:
        text = self.original
        for edit in reversed(self.edits):
            text = text[: edit.start] + edit.text + text[edit.end :]
        return text

    def undo(self, broken: str) -> str:
        """`broken` with this injection's edits taken back. Raises ValueError when the text is not what was injected."""
        for edit in self.edits:  # in order, so that everything before `start` is restored already
            found = broken[edit.start : edit.start + len(edit.text)]
            if found != edit.text:
                raise ValueError(f"line {edit.line} no longer holds what {edit.owner} put there: {found!r}")
            broken = broken[: edit.start] + self.original[edit.start : edit.end] + broken[edit.start + len(edit.text) :]
        return broken


@dataclass(frozen=True)
class Match:
    """One place where a swap fits: its text range, its first line (from 1) and what the metavariables hold."""

    start: int
    end: int
    line: int
    end_line: int
    names: tuple[tuple[str, str], ...]
    swap: Swap


def _fill(pattern: str, names: Mapping[str, str]) -> str:
    """`pattern` with the metavariables that are known replaced by their text."""
    return _META.sub(lambda m: names.get(m[1] or m[2] or "", m[0]), pattern)


def _statements(pattern: str) -> list[str]:
    """The statements of a pattern of several lines, each one pattern of its own."""
    # Python has no `$` in names, and takes no `$$$REST` behind a keyword; ast-grep's own parser does
    tree = SgRoot(pattern.replace("$", "µ"), "python").root()
    return [pattern[(r := node.range()).start.index : r.end.index] for node in tree.children()]


def _capture(node: SgNode, pattern: str) -> dict[str, str]:
    names = {}
    for many, one in _META.findall(pattern):
        if one and (got := node.get_match(one)) is not None:
            names[one] = got.text()
        if many:
            got_many = node.get_multiple_matches(many)
            if got_many:
                # from first to last, so that commas, line breaks and comments between them stay
                first, last = got_many[0].range(), got_many[-1].range()
                names[many] = node.get_root().root().text()[first.start.index : last.end.index]
            else:
                names[many] = ""
    return names


def _whole_statement(node: SgNode) -> SgNode:
    parent = node.parent()
    if parent is not None and parent.kind() == "expression_statement":
        return parent
    return node


def matches(source: str, swap: Swap) -> list[Match]:
    """Every place where `swap` fits, in order."""
    root = SgRoot(source, "python").root()
    first, *rest = _statements(textwrap.dedent(swap.before).strip())
    found: dict[tuple[int, int], Match] = {}
    for node in root.find_all(pattern=first):
        names, last = _capture(node, first), node
        if rest:
            last = _whole_statement(node)
        for pattern in rest:
            filled = _fill(pattern, names)
            following = last.next()
            while following is not None and following.kind() == "comment":
                following = following.next()
            hit = None
            if following is not None:  # the statement itself, or the expression that it wraps
                begin = following.range().start.index
                hit = next((n for n in following.find_all(pattern=filled) if n.range().start.index == begin), None)
            if hit is None:
                break
            names |= _capture(hit, filled)
            last = following
        else:
            further = (swap.where,) if isinstance(swap.where, str) else swap.where
            if any(root.find(pattern=_fill(pattern, names)) is None for pattern in further):
                continue
            begin, stop = node.range().start, last.range().end
            found[(begin.index, stop.index)] = Match(
                begin.index, stop.index, begin.line + 1, stop.line + 1, tuple(names.items()), swap
            )
    return [found[key] for key in sorted(found)]


def _number(expression: str) -> str:
    """`0.001 * 100` -> `0.1`: an expression of literals is worked out, any other stays."""
    try:
        tree = parse(expression.strip(), mode="eval")
    except SyntaxError:
        return expression
    allowed = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop)
    if not all(isinstance(node, allowed) for node in ast.walk(tree)):
        return expression
    value = eval(compile(tree, "<fold>", "eval"))
    return repr(float(f"{value:.12g}")) if isinstance(value, float) else repr(value)


def _render(match: Match, params: Mapping[str, object], source: str) -> tuple[int, int, str]:
    """The edit for one match: range and new text, indented like the statement that it replaces."""
    names = dict(match.names)
    after = textwrap.dedent(match.swap.after).strip("\n")
    after = _META.sub(lambda m: names.get(m[1] or m[2] or "", m[0]), after)
    after = _PARAM.sub(lambda m: repr(params[m[1]]) if m[1] in params else m[0], after)
    after = _FOLD.sub(lambda m: _number(m[1]), after)
    line_start = source.rfind("\n", 0, match.start) + 1
    indent = re.match(r"[ \t]*", source[line_start:])[0]
    if after:
        lines = after.splitlines()
        return match.start, match.end, "\n".join([lines[0]] + [indent + ln if ln else ln for ln in lines[1:]])
    # nothing is left: take the line away, or leave `pass` where the block would be empty
    line_end = source.find("\n", match.end)
    line_end = len(source) if line_end < 0 else line_end
    alone = not source[line_start : match.start].strip() and re.match(r"[ \t]*(#.*)?$", source[match.end : line_end])
    if not alone or _only_statement(source, match):
        return match.start, match.end, "pass" if _is_statement(source, match) else "None"
    return line_start, min(line_end + 1, len(source)), ""


def _is_statement(source: str, match: Match) -> bool:
    """Or part of an expression: `optimizer.zero_grad() if step % 4 == 0 else None`, the body of a lambda."""
    try:
        parse(f"{source[: match.start]}pass{source[match.end :]}")
    except SyntaxError:
        return False
    return True


def _only_statement(source: str, match: Match) -> bool:
    for node in ast.walk(parse(source)):
        for body in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            if (
                isinstance(body, list)
                and body
                and body[0].lineno == match.line
                and body[-1].end_lineno == match.end_line
            ):
                return not isinstance(node, ast.Module)
    return False


def choose(source: str, entry: Swap | Either, owner: str, label: str, at: int | None = None) -> Match:
    """The one place for a swap. Raises UserError, naming text, pattern and count, when there is none or several."""
    alternatives = entry.edits if isinstance(entry, Either) else (entry,)
    several: list[Match] = []
    for swap in alternatives:
        fits = matches(source, swap)
        if at is not None:
            fits = [m for m in fits if m.line <= at <= m.end_line]
        if len(fits) == 1:
            return fits[0]
        several = several or fits
    patterns = " | ".join(dict.fromkeys(" ; ".join(swap.before.split("\n")) for swap in alternatives))
    if several:
        lines = source_lines(source)
        places = "\n".join(f"  line {m.line}: {lines[m.line - 1].strip()}" for m in several)
        raise UserError(
            f"{owner} fits {len(several)} places in {label} (pattern `{patterns}`):\n{places}\n"
            f"Choose one with --at LINE, for example --at {several[0].line}."
        )
    where = f" at line {at}" if at is not None else ""
    listed = patterns.replace(" | ", "\n  ")
    raise UserError(
        f"{owner} does not fit {label}: its pattern matches 0 places{where}, 1 is needed. It would fit a script that has "
        f"one of these ($NAMES stand for anything):\n  {listed}"
    )


def inject(
    source: str,
    faults: Iterable[tuple[Fault, Mapping[str, object]]],
    label: str = "this script",
    at: int | None = None,
) -> Injection:
    """All swaps of all faults, found in `source` and made together.

    `at` (a line) chooses the place where a swap fits several; it applies to every swap that has a match there.
    Raises UserError for a syntax error in `source`, a swap that does not fit exactly once, or two faults at one place.
    """
    check_syntax(source, label)
    edits: list[Edit] = []
    for fault, params in faults:
        for entry in fault.edits:
            single = entry.edits if isinstance(entry, Either) else (entry,)
            here = at if at is not None and any(len(matches(source, swap)) > 1 for swap in single) else None
            match = choose(source, entry, fault.id, label, here)
            start, end, text = _render(match, params, source)
            edits.append(Edit(start, end, text, fault.id, match.line))
    edits.sort(key=lambda edit: (edit.start, edit.end))
    for one, two in pairwise(edits):
        if two.start < one.end or (two.start, two.end) == (one.start, one.end):
            raise UserError(
                f"{one.owner} and {two.owner} both change line {max(one.line, two.line)} of {label}; "
                "they cannot be combined there. Take one of them, or another program."
            )
    result = Injection(source, tuple(edits))
    check_syntax(result.broken, f"{label} after {', '.join(sorted({e.owner for e in edits}))}")
    return result


def check_syntax(source: str, label: str) -> None:
    """Raises UserError with line and reason when the text is not Python."""
    try:
        parse(source)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        reason = getattr(error, "msg", str(error))
        raise UserError(f"{label} is not valid Python: {reason}" + (f" (line {line})." if line else ".")) from None


def diff(before: str, after: str, label: str = "train.py") -> str:
    """Unified diff, the answer key of every scenario."""
    lines = difflib.unified_diff(
        source_lines(before, keepends=True),
        source_lines(after, keepends=True),
        f"healthy/{label}",
        f"broken/{label}",
        n=2,
    )
    return "".join(lines)
