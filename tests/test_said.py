"""Which expressions are only said, and which are not."""

import ast

import pytest

from bugzoo.said import said


def texts(source: str) -> set[str]:
    return {ast.unparse(node) for node in said(ast.parse(source).body)}


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("raise UserError(f'{a} is no number')", {"f'{a} is no number'"}),
        ("return Verdict('x', a > 1, 'so much', {'a': a})", {"'so much'"}),
        ("return Check('x', 'wrong', saw=f'{a}', expected='more')", {"f'{a}'", "'more'"}),
        ("text = 'so'\n text += f' and {a}'\n return Verdict('x', 1, text)", {"'so'", "f' and {a}'", "text"}),
        (
            "size = f'{a:.1g}'\n text = f'by {size}'\n return Suspect('x', 1, text)",
            {"f'{a:.1g}'", "f'by {size}'", "text"},
        ),
        # used as something else as well, or not known what for
        ("text = 'so'\n if text: a = 1\n return Verdict('x', a, text)", {"text"}),
        ("text = 'so'\n keep(text)\n return Verdict('x', 1, text)", {"text"}),
        ("text = 'so'\n return text", set()),
        ("for text in a:\n  raise UserError(text)", {"text"}),
        ("return Verdict('x', *a)", set()),
        ("return Result('x', 'so')", set()),
        ("raise UserError(f'{(b := a)}')", set()),
        (  # two of one name: which one is called is not known
            "def told(text, more): return Verdict('x', more, text)\n"
            " class B:\n  def told(self, text): raise UserError(text)\n return told('so', a)",
            {"text"},
        ),
        # a function that does nothing but say it
        ("def told(text, more): return Verdict('x', more, text)\n return told('so', 'much')", {"'so'", "text"}),
        ("def told(text): return Verdict('x', len(text), text)\n return told('so')", {"text"}),
    ],
)
def test_what_is_only_said(body: str, found: set[str]) -> None:
    assert texts(f"def judge(a):\n {body}\n") == found
