"""Declared incidents: complete, proved, solved from their folders alone, and silent about their faults."""

import json
from pathlib import Path

import pytest

from bugzoo.errors import UserError
from bugzoo.incidents import judge, library, proofs, sealed
from bugzoo.incidents.leaks import leaked
from bugzoo.incidents.model import choice
from bugzoo.incidents.stage import stack
from bugzoo.scenario import parse_spec
from tests.incidents.solvers import SOLVERS

PROOFS = Path(__file__).parents[2] / "proofs" / "incidents"
DECLARED = sorted(library.stems())


def test_there_are_eight_kinds_and_each_has_a_solver():
    assert len(library.names()) >= 8 and sorted(SOLVERS) == DECLARED


@pytest.mark.parametrize("name", DECLARED)
def test_each_is_proved_as_it_is_today(name):
    proof = json.loads((PROOFS / f"{name}.json").read_text())
    assert proof["key"] == proofs.key(name), f"type `bugzoo incident prove {name}`"
    assert proof["problems"] == [] and len(proof["answers"]) == library.load(name).QUESTIONS == 3


def test_the_history_is_proved():
    proof = json.loads((PROOFS / f"{library.HISTORY}.json").read_text())
    said = proof["commits"]
    assert len(said) == proofs.USUAL["commits"] and said.count("skip") == 1 and proof["noisy"]
    ran = [one for one in said if one != "skip"]
    assert ran == sorted(ran, reverse=True), "good, and from one commit on bad"
    assert len(proof["seeds"]["before"]) == len(proof["seeds"]["after"]) == 5


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", DECLARED)
def test_it_is_made_from_runs_and_solved_from_the_folder_alone(name, tmp_path, incident):
    folder, one = tmp_path / "made", library.load(name)
    code, out, err = incident("make", name, folder, "--json")
    assert code == 0, err
    made = json.loads(out)
    assert set(one.ARTEFACTS) | {"TICKET.md", "CHAT.md"} == set(made["files"])
    questions = sealed.read(folder)["questions"]
    assert [asked["depth"] for asked in questions] == [1, 2, 3]
    given = SOLVERS[name](folder)
    for number, (answer, asked) in enumerate(zip(given, questions, strict=True), 1):
        assert judge.check(folder, str(answer), number), (number, answer, asked)
        wrong = str(asked["answer"] + 2 * asked["tolerance"] + 1) if asked["kind"] == "number" else None
        wrong = wrong or next(word for word in asked["choices"] if word != asked["answer"])
        assert incident("check", folder, wrong, "--question", number)[0] == 1
    assert not leaked(folder, [parse_spec(spec)[0] for spec in one.FAULTS])
    for file in folder.iterdir():
        text = file.read_text()
        if file.suffix == ".json":
            assert json.loads(text)["traceEvents"]
        if file.suffix == ".jsonl":
            assert all(json.loads(line) for line in text.splitlines())
        assert str(Path.home()) not in text and str(tmp_path) not in text, file.name


def test_what_can_be_typed_wrong(incident, tmp_path):
    new = tmp_path / "new"
    for words, said in (
        (("make", "memory-alram", new), "Did you mean memory-alarm"),
        (("make", "memory-alarm", new, "--program", "mlp"), "--program belongs to used-to-train"),
        (("make", "memory-alarm", new, "--commits", 12), "--commits belongs to used-to-train"),
        (("make", "memory-alarm", tmp_path), "exists"),
        (("prove", "nonsense"), "no incident named 'nonsense'"),
    ):
        code, _, err = incident(*words)
        assert code == 2 and said in err and "Traceback" not in err, err
    assert not list(tmp_path.iterdir())


def test_a_run_that_shows_nothing_leaves_nothing(incident, tmp_path, monkeypatch):
    from bugzoo.incidents import stage

    def none(*_, **__):
        raise stage.nothing("no loss went non-finite")

    monkeypatch.setattr(stage.Stage, "run", none)
    code, _, err = incident("make", "loss-went-nan", tmp_path / "new")
    assert code == 2 and "Take another --seed" in err and not list(tmp_path.iterdir())


def test_the_list_tells_no_cause(incident):
    code, out, _ = incident("list", "--json")
    found = json.loads(out)
    assert code == 0 and [row["name"] for row in found] == list(library.names())
    for row in found[1:]:
        for spec in library.load(row["name"]).FAULTS:
            stem = parse_spec(spec)[0].rsplit("/", 1)[1]
            assert not {stem, stem.replace("_", " ")} & {row["about"], row["name"]} and stem not in row["about"]


def test_the_history_is_not_loaded_as_a_declared_one():
    with pytest.raises(UserError, match="written anew"):
        library.load(library.HISTORY)


def test_two_runs_are_compared_by_the_room_of_the_answer():
    number = {"kind": "number", "answer": 10.0, "tolerance": 1.0}
    assert proofs.same(number, number | {"answer": 12.9}) and not proofs.same(number, number | {"answer": 13.1})
    exact = number | {"tolerance": 0.0}
    assert proofs.same(exact, exact) and not proofs.same(exact, exact | {"answer": 11.0})
    word = {"kind": "choice", "answer": "a"}
    assert proofs.same(word, word) and not proofs.same(word, word | {"answer": "b"})


def test_a_choice_holds_its_answer():
    with pytest.raises(ValueError, match="none of the choices"):
        choice(1, "?", "c", ("a", "b"), "")


def test_a_stack_ends_at_the_script_and_names_no_path_of_the_machine():
    home = "/ho" + "me/x/lib/python3.11"
    frames = [
        f'File "{home}/site-packages/torch/_tensor.py", line 6 in backward',
        '  File "/x/bugzoo/watching/hooks.py", line 1 in backward',
        'File "train.py", line 9 in <module>',
        f'File "{home}/runpy.py", line 1 in run',
    ]
    assert stack(frames) == 'File "torch/_tensor.py", line 6 in backward\nFile "train.py", line 9 in <module>\n'
    assert "come to its end" in stack(frames[:1])
