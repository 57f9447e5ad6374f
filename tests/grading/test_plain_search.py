"""Pairs of forty forms: what the reader lets through reaches no module of the interpreter and no file, where it is run."""

import json

import pytest

from bugzoo.grading import plain
from bugzoo.grading.isolation import isolate
from bugzoo.grading.plain import outside
from bugzoo.running import Job, Limits, run_worker
from tests.grading.plain_forms import FORMS, HEAD, programs
from tests.sampling import only_in_prove

FORTY = 40
PROBE = """
import contextlib, io, json, types
programs = json.loads({programs!r})
for name, text in programs:
    space = {{"__name__": "kept"}}
    with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
        exec(text, space)
    found = space.get("reached")
    module = isinstance(found, types.ModuleType) and found.__name__ in ("os", "sys", "posix", "io", "builtins")
    table = isinstance(found, dict) and "__import__" in found
    if module or table or isinstance(found, types.FrameType | io.IOBase):
        print("reached:", name)
print("all were run")
"""


def let_through() -> list[tuple[str, str]]:
    return [(name, text) for name, text in programs() if not outside(text, HEAD)]


def reached(found: list[tuple[str, str]]) -> list[str]:
    """Run programs in a sandbox; return the names of those that got at something."""
    job = isolate(Job(PROBE.format(programs=json.dumps(found)), limits=Limits(seconds=300)))
    result = run_worker(job)
    printed = result.stdout.splitlines()
    assert printed[-1:] == ["all were run"], result
    return [line.removeprefix("reached: ") for line in printed if line.startswith("reached: ")]


def test_there_are_forty_forms_and_each_pair_of_them_is_read() -> None:
    assert len(FORMS) == len({form.name for form in FORMS}) == FORTY
    pairs = let_through()
    assert len(pairs) > FORTY, "a search that lets nothing through tries nothing"


@pytest.mark.parametrize("which", [only_in_prove("let through")])
def test_what_is_let_through_reaches_nothing(which: str) -> None:
    assert reached(let_through()) == []


@pytest.mark.parametrize("which", [only_in_prove("without a rule")])
def test_the_search_sees_what_a_rule_keeps_out(which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "attribute", lambda *_: [])
    assert len(reached(let_through())) > FORTY
