"""Lines are counted as the parser counts them, whatever stands in a comment."""

import ast
import gc
import sys

import pytest

from bugzoo.programs import load
from bugzoo.scenario import Scenario, break_source, with_settings
from bugzoo.syntax import parse, source_lines

# what str.splitlines takes for the end of a line and Python does not
STRANGE = ["\f", "\v", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]


@pytest.mark.parametrize("sign", STRANGE)
def test_a_line_is_what_the_tree_calls_a_line(sign):
    source = f"# one {sign} line\r\nhere = 1  # {sign}\n'''\n{sign}'''\nthere = 2\n"
    tree = ast.parse(source)
    for node in tree.body:
        assert ast.get_source_segment(source, node) in "\n".join(source_lines(source)).replace("\r", "")
        if isinstance(node, ast.Assign):
            assert source_lines(source)[node.lineno - 1].startswith(node.targets[0].id)
    assert "".join(source_lines(source, keepends=True)) == source


@pytest.mark.parametrize("sign", STRANGE)
def test_settings_come_into_their_own_line(sign):
    source = f"# one {sign} line\nfirst = 1\nword = 'é'; seed = 0  # keep\n"
    assert with_settings(source, {"seed": 7}, "own") == source.replace("seed = 0", "seed = 7")


def test_a_program_with_such_a_sign_is_read_and_broken_in_the_right_line(monkeypatch):
    text = load("mlp").source.replace("# %% Settings\n", "# %% Settings\n# \f\u2028 odd\n")
    injection = break_source(text, ["loop/stale_gradients"])
    assert injection.broken == text.replace("        optimizer.zero_grad()\n", "")
    assert Scenario("mlp", ("loop/stale_gradients",)).base.count("seed = 0") == 1


def let_others_run(*_):
    return sum(range(50))


def test_threads_of_the_pool_parse_at_the_same_time():
    """CPython 3.11.7 fails here within 30 parses when a library parses without bugzoo's lock."""
    from bugzoo.running.pool import run_all

    text = load("mlp").source
    usual, interval = gc.get_threshold(), sys.getswitchinterval()
    gc.callbacks.append(let_others_run)  # in the middle of a parse
    gc.set_threshold(50)
    sys.setswitchinterval(1e-5)
    try:
        counts = run_all(
            lambda own: [len((parse if own else ast.parse)(text).body) for _ in range(60)], [0, 1, 0, 1], workers=4
        )
    finally:
        gc.callbacks.remove(let_others_run)
        gc.set_threshold(*usual)
        sys.setswitchinterval(interval)
    assert len({size for sizes in counts for size in sizes}) == 1
