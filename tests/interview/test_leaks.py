"""Nothing names the fault before the end: not the ticket, the folder, the list, any view, an error, nor the notebook."""

import os
import re

import pytest

from bugzoo.diagnostics import causes as table
from bugzoo.diagnostics.causes import NOTHING
from bugzoo.errors import UserError
from bugzoo.interview import evidence as module
from bugzoo.interview import notebook, widgets
from bugzoo.interview.deck import Case, draw
from bugzoo.interview.evidence import Evidence, collect
from bugzoo.interview.lines import Lines
from bugzoo.interview.play import Talk
from bugzoo.interview.requests import listed
from bugzoo.interview.session import Session, brief, open_folder
from tests.sampling import only_in_prove

THINGS = {"learning rate", "attention", "padding"}
"""Causes of the form that only name a thing."""


def secrets(case: Case) -> set[str]:
    """Texts in lower case: id, stem in several spellings, title, and the causes that are right in a form."""
    fault, params = case.scenario.specs[0]
    stem = fault.id.rsplit("/", 1)[1]
    texts = {fault.id, fault.id.replace("/", "."), stem, stem.replace("_", " "), stem.replace("_", "-"), fault.title}
    return {text.lower() for text in (texts | set(table.right(fault.id, params))) - THINGS - {NOTHING}}


def told(case: Case, text: str) -> list[str]:
    """The secrets in a text that the program's own text does not have."""
    lowercase, source = text.lower(), case.scenario.source.lower()
    return [secret for secret in sorted(secrets(case)) if secret in lowercase and secret not in source]


def typed(case: Case) -> list[str]:
    """What a curious candidate types: all evidence, steps, names that are not there, and a wrong guess."""
    everything = [request.name for request in listed()]
    wrong = "1" if table.right(case.fault.id, {})[0] else "2"
    return [
        *everything, "look batch 1", "look batch 99999", "look gradients 3", "fresh_gradient", "list", "more weights", "help",
        "look nonsense", "diagnose", wrong, "1", "gradients", "submit nowhere.py",
    ]  # fmt: skip


def terminal(session: Session) -> str:
    """All that a pipe is told, without the causes that are offered."""
    reading, writing = os.pipe()
    os.write(writing, "\n".join([*typed(session.case), ""]).encode())
    os.close(writing)
    messages: list[str] = []
    with open(reading, encoding="utf-8") as stream:
        Talk(session, Lines(stream), lambda text="", **_: messages.append(str(text))).run()
    offered = {cause.title for cause in session.causes() if cause}
    lines = "\n".join(messages).split("\n")
    return "\n".join(line for line in lines if re.sub(r"^ +\d+  ", "", line) not in offered)


def in_notebook(case: Case, evidence: Evidence, monkeypatch, capsys) -> str:
    """All that a notebook shows before its end, as text, and the options of its widgets."""
    monkeypatch.setattr(notebook, "collect", lambda scenario: evidence)
    monkeypatch.setattr(notebook, "draw", lambda seed: case)
    boxes: list = []
    monkeypatch.setattr(widgets, "display", boxes.append)
    desk = notebook.Interview(5, case.seed)
    desk.close()  # before the first action it tells nothing
    desk.evidence()
    for request in listed():
        desk.ask(request.name)
    desk.program()
    with pytest.raises(UserError) as wrong:
        desk.ask("no such view")
    widgets.picker(desk)
    options = [text for text, _ in boxes[0].children[0].options]
    return "\n".join([capsys.readouterr().out, repr(desk), str(wrong.value), *options])


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", [3, *(only_in_prove(seed) for seed in range(10) if seed != 3)])  # 3: a regression
def test_nothing_names_the_fault_before_the_end(seed, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(module, "BUDGET", 10**6)
    case = draw(seed)
    evidence = collect(case.scenario)
    script = open_folder(case, tmp_path / "case", 5)
    session = Session(case, evidence, script, 5, lambda case, source: {})
    texts = {"terminal": terminal(session)}
    assert len(session.evidence.seen) == len(listed()), "all of it was looked at"
    texts["brief"] = brief(case, 5)
    texts["folder"] = "\n".join(f"{file.name}\n{file.read_text()}" for file in script.parent.iterdir())
    again = Evidence(case.scenario, evidence.run, evidence.readings, evidence.twin_losses)
    texts["notebook"] = in_notebook(case, again, monkeypatch, capsys)
    assert {place: told(case, text) for place, text in texts.items() if told(case, text)} == {}


def test_the_search_finds_what_is_told():
    case = draw(5, "loop/stale_gradients", "mlp")
    for text in ("stale gradients", case.fault.title, "loop.stale_gradients", table.right(case.fault.id, {})[0]):
        assert told(case, f"It says {text} here.")
    assert not told(case, "gradients: How long is each tensor's gradient?")
