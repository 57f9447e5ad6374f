"""The parts of a program that an edit has to leave alone, such as its model, its loss or its attention mask.

Syntax trees are compared, not texts. Comments, docstrings, annotations and layout do not count, and neither do names:
each name that the program binds itself is replaced by its place in the part. A name that is bound once, to a plain
number or text, is replaced by its value, so `learning_rate = 0` changes the optimizer.
"""

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bugzoo.grading.program_syntax import ARGUMENT, Syntax, Variable
from bugzoo.syntax import last_name, source_lines

MOST = 60
"""Characters of a line that a message quotes."""


@dataclass(frozen=True)
class Piece:
    """One statement or use: its form, which is compared, and its line."""

    form: str
    line: int


@dataclass(frozen=True)
class Part:
    """A part of a program: which calls and names belong to it, and how these names may be used."""

    title: str
    names: Callable[[Syntax], set[str] | set[Variable]]
    """Names, of whichever function, or variables: what binds them belongs to the part, and so does every use that is not
    free."""
    free: tuple[str, ...]
    """Uses that may be added or left out: attributes that only read, "()" for a call, ANY for all of them."""
    classes: bool = False
    """Whether the program's modules belong to it."""
    statement: str = ""
    """A method of such a name: its calls are compared as whole statements."""
    calls: tuple[str, ...] = ()
    """Functions and methods of any object: a statement that calls one is compared as a whole. So is then any other
    statement of the part."""
    stored: Callable[[Syntax], set[str]] = lambda program: set()
    """Names of attributes, such as `mask` of `self.mask`: a statement that names one is compared as a whole."""


ANY = "*"
"""Any use of a name."""
FILLS = ("masked_fill", "masked_fill_")
WEIGHS = ("softmax", "log_softmax", "Softmax", "scaled_dot_product_attention", "MultiheadAttention")
PARTS = {
    "model": Part("model", lambda program: {"model"}, ("()", "train", "eval", "training"), classes=True),
    "optimizer": Part(
        "optimizer with its learning rate", lambda program: program.calling("step"), ("step", "zero_grad")
    ),
    "loss": Part(
        "loss",
        lambda program: program.calling("backward"),
        ("", ARGUMENT, "item", "detach", "backward"),
        statement="backward",
    ),
    "mask": Part(
        "attention mask",
        lambda program: program.given(FILLS),
        (ARGUMENT,),
        calls=(*FILLS, "tril", "triu", "register_buffer", "buffers", "named_buffers", "get_buffer"),
        stored=lambda program: program.kept_for(program.given(FILLS)),
    ),
    "softmax": Part("softmax", lambda program: program.made_by(WEIGHS), (ANY,), calls=WEIGHS),
}
"""Name of a part -> how it is found in any program."""


def changed(part: str, source: str, handed_out: str) -> str:
    """Return where a part of `source` differs from that of the text handed out, in a sentence; "" if it does not.

    Raises SyntaxError, and KeyError for an unknown part.
    """
    pieces, theirs = (list(_pieces(PARTS[part], Syntax(text))) for text in (source, handed_out))
    left = Counter(piece.form for piece in theirs)
    for piece in pieces:
        left[piece.form] -= 1
        if left[piece.form] < 0:
            return f"Line {piece.line} is not as it was: `{_quoted(source, piece.line)}`."
    if missing := [piece for piece in theirs if left[piece.form] > 0]:
        return f"This line is gone: `{_quoted(handed_out, missing[0].line)}`."
    return ""


def _quoted(source: str, line: int) -> str:
    text = source_lines(source)[line - 1].strip()
    return text if len(text) <= MOST else f"{text[: MOST - 4]} ..."


def _pieces(part: Part, program: Syntax) -> Iterator[Piece]:
    """Yield what a part consists of: its classes, its statements, and uses of its names that are not free."""
    names, stored = part.names(program), part.stored(program)
    whole: dict[ast.AST, int] = {}
    for node in ast.walk(program.tree):
        if part.classes and isinstance(node, ast.ClassDef) and any("Module" in ast.dump(base) for base in node.bases):
            whole[node] = node.lineno
        if isinstance(node, ast.Call) and last_name(node.func) in part.calls:
            whole.setdefault(program.statement(node), node.lineno)
        if isinstance(node, ast.Attribute) and node.attr in stored:
            whole.setdefault(program.statement(node), node.lineno)
        if isinstance(node, ast.Name) and (node.id in names or program.variable(node) in names):
            use = program.use(node)
            odd = use not in part.free and ANY not in part.free
            if not isinstance(node.ctx, ast.Load) or (use and use == part.statement) or (odd and part.calls):
                whole.setdefault(program.statement(node), node.lineno)
            elif odd:
                yield Piece(f"use: {use}", node.lineno)
    for statement, line in whole.items():
        yield Piece(program.form(statement), line)
