"""Annotations that are texts, such as `"list[int]"`: they are read as the code that they are."""

import ast

from bugzoo.syntax import parse


class Unread(ast.Constant):
    """A text in an annotation that is no Python."""


class _Parser(ast.NodeTransformer):
    """Puts the code of texts in their place; those of a `Literal` are no code."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        named = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
        return node if named == "Literal" else self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if not isinstance(node.value, str):
            return node
        try:
            code = parse(node.value.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.copy_location(Unread(node.value), node)
        for part in ast.walk(code):
            if hasattr(part, "lineno"):
                ast.copy_location(part, node)
        return self.visit(code)


def with_annotations(tree: ast.Module) -> ast.Module:
    """Return the tree with the texts in its annotations parsed, in place."""
    parser = _Parser()
    for node in ast.walk(tree):
        for field in ("annotation", "returns"):
            if isinstance(annotation := getattr(node, field, None), ast.expr):
                setattr(node, field, parser.visit(annotation))
    return tree
