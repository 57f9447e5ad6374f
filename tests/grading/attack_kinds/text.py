"""The text itself: what a parser, a line counter, a file or a terminal may fall over, in a program that is still broken."""

from collections.abc import Callable

from tests.grading.attack_kinds.parts import Kind, at

READ = "a text is read as Python reads it, or refused with a reason"


def first(text: str) -> Callable[[str], str]:
    return lambda source: text + source


KINDS = {
    name: Kind("10", READ, edit)
    for name, edit in {
        "a lone surrogate": at("End", "x = '\ud800'\n"),
        "a lone surrogate in a comment": at("Settings", "# \udcff\n"),
        "100000 unary minuses": at("End", f"x = {'-' * 100_000}1\n"),
        "100000 brackets": at("End", f"x = {'(' * 100_000}1{')' * 100_000}\n"),
        "100000 additions": at("End", f"x = {'+'.join(['1'] * 100_000)}\n"),
        "900 attributes in a row": at("End", f"x = lambda a: a{'.b' * 900}\n"),
        "95 nested ifs": at("End", "".join(f"{' ' * i}if True:\n" for i in range(95)) + " " * 95 + "pass\n"),
        "20000 attributes in a row": at("End", f"x = lambda a: a{'.b' * 20_000}\n"),
        "a form feed before the seed": lambda source: source.replace("seed = 0\n", "# \f\nseed = 0\n"),
        "U+2028 before the seed": lambda source: source.replace("seed = 0\n", "# \u2028\nseed = 0\n"),
        "U+0085 and vertical tabs": lambda source: source.replace("seed = 0\n", "# \x85 \x0b \x1c\nseed = 0\n"),
        "a BOM": first("\ufeff"),
        "a BOM in the middle": at("Settings", "\ufeffx = 1\n"),
        "a null byte": at("End", "x = '\0'\n"),
        "a null byte in a comment": at("End", "# \0\n"),
        "a line of 10 MB": at("End", f"x = '{'y' * 10**7}'\n"),
        "a million lines": at("End", "x = 1\n" * 10**6),
        "another coding": first("# -*- coding: utf-7 -*-\n"),
        "a coding that is none": first("# coding: nonsense\n"),
        "a coding of rot13": first("# coding: rot13\n"),
        "carriage returns for line ends": lambda source: source.replace("\n", "\r"),
        "both kinds of line ends": lambda source: source.replace("\n", "\r\n", 40),
        "the seed twice": lambda source: source.replace("seed = 0\n", "seed = 0\nseed = 0\n"),
        "the seed in a string": lambda source: source.replace("seed = 0\n", "'''\nseed = 0\n'''\nseed = 0\n"),
        "the seed over two lines": lambda source: source.replace("seed = 0\n", "seed = (\n    0)\n"),
        "the seed that is a walrus": lambda source: source.replace("seed = 0\n", "(seed := 0)\n"),
        "the seed in letters of another alphabet": lambda source: source.replace("seed = 0\n", "\uff53eed = 0\n"),
        "the seed behind a semicolon": lambda source: source.replace("seed = 0\n", "x = 1; seed = 0\n"),
        "the seed put back below": lambda source: source.replace("torch.manual_seed(seed)", "seed = 0\ntorch.manual_seed(seed)"),
        "a future import below": at("Settings", "from __future__ import annotations\n"),
        "tabs and blanks": at("End", "if True:\n\tx = 1\n        y = 2\n"),
        "a backslash at its end": lambda source: source + "x = 1 \\",
        "return at the top": at("Training", "return\n"),
        "await at the top": at("Training", "await model\n"),
        "its sections in another order": lambda source: source.replace("# %% Training", "# %% Model of another kind"),
        "a section twice": lambda source: source + "# %% Training\npass\n",
        "nothing": lambda source: "",
        "blanks": lambda source: " \n" * 1000,
        "a shell's line": at("End", "!ls\n"),
        "right-to-left marks that hide": at("End", "x = 'a\u202e' # \u2066\n"),
        "facts of its own": lambda source: source + "# [facts]\n# held_out = (images[:1], labels[:1])\n# chance = 2.0\n",
    }.items()
}  # fmt: skip
