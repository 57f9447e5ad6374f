"""The shrinker, asked questions that need no training; and on a script that does train."""

import ast

import pytest

from bugzoo.diagnostics._shrink import Shrinker

SCRIPT = '''
"""What it is for."""
import os
import math
from json import dumps, loads

EPOCHS = 40


def helper(x):
    """Helps."""
    return x + 1


def other(x):
    print(x)
    return helper(x)


total = 0
for epoch in range(EPOCHS):
    if epoch > 1:
        total += helper(epoch)
        with open(os.devnull) as file:
            total -= 1
            marker = "here"
    else:
        print(math.pi)
print(total, dumps({}))
'''


def shrunk(needs, **settings):
    scripts = []

    def ask(sources):
        scripts.extend(sources)
        return [needs in source for source in sources]

    return Shrinker(ask, **settings).shrink(SCRIPT), scripts


def test_only_what_is_needed_is_left():
    text, _ = shrunk("marker = 'here'")
    assert text == "marker = 'here'\n"


def test_what_is_left_is_a_script_and_what_lacks_a_name_is_never_run():
    text, scripts = shrunk("total += helper(epoch)")
    assert "def helper" in text and "other" not in text and "import" not in text and "else" not in text
    for source in scripts:
        ast.parse(source)
        assert "helper(" not in source or "def helper" in source


def test_runs_get_shorter_first():
    _, scripts = shrunk("total += helper(epoch)")
    assert "EPOCHS = 1\n" in scripts[1] and len(scripts[1].splitlines()) > 20


def test_where_nothing_shorter_shows_it_the_script_stays():
    text, _ = shrunk("nothing of the kind")
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(SCRIPT))


def test_no_try_after_its_time():
    text, scripts = shrunk("marker", until=0.0)
    assert not scripts and "marker" in text


def test_no_python():
    with pytest.raises(SyntaxError):
        Shrinker(lambda sources: []).shrink("def")
