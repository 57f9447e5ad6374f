"""What is written of each dialect is there, of today's texts; a sample is run again; what trains otherwise is told."""

from dataclasses import replace

import pytest

from bugzoo import dialects, programs
from bugzoo.errors import UserError
from bugzoo.proving import dialects as proofs
from bugzoo.proving import ledger
from bugzoo.running import run_many
from bugzoo.scenario import Scenario

MLP = Scenario("mlp", settings={"epochs": 1})


@pytest.fixture
def the_real_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BUGZOO_PROOFS")


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", programs.names())
def test_the_ledger_lacks_nothing(program: str, the_real_ledger: None) -> None:
    assert proofs.lacking(program) == []


def test_nothing_is_written_about_a_program_that_there_is_not(the_real_ledger: None) -> None:
    assert set(ledger.names(proofs.KIND)) <= set(programs.names())


def test_instruments_see_as_much_behind_those_that_hide_nothing(the_real_ledger: None) -> None:
    open_ones = set(dialects.in_sight())
    for program in programs.names():
        for what, entry in proofs.read(program).items():
            assert not (entry.get("sees") and set(entry["made"]) <= open_ones), (program, what, entry["sees"])


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "program", [name for name in programs.names() if name not in ("image_pipeline", "data_parallel")]
)
def test_a_sample_comes_out_the_same(program: str) -> None:
    todo = list(proofs.pairs(program))[-3:]
    for pair, one, other in proofs.compared(todo):
        assert proofs.differences(one, other) == [], pair.what


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("lr=learning_rate", "lr=learning_rate * (1 + 1e-7)", "the loss of step"),
        ("print(metrics)", "print(metrics, 1)", "prints something else"),
        ('{"accuracy": correct / total', '{"accuracy": 0.0', "metrics"),
        ("print(metrics)", "print(metrics)\nraise ValueError('no')", "ends as crashed"),
        ("print(metrics)", "print(metrics)\nmodel.head.bias.data += 1e-6", "other weights in model.head.bias"),
        ("step += 1", "step += 1\n        if step == 9: break", "9 steps, the original has"),
    ],
)
def test_a_difference_is_told(before: str, after: str, said: str) -> None:
    text = MLP.source.replace(before, after)
    assert text != MLP.source
    pair = proofs.Pair("mlp", "made up", MLP, text, ("made up",))
    ((_, one, other),) = proofs.compared([replace(pair, what="two")], workers=2)
    assert any(said in text for text in proofs.differences(one, other)), proofs.differences(one, other)
    assert proofs.differences(one, one) == []


def test_what_is_proved_is_written_and_believed(proofs_of_two, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    monkeypatch.setattr(
        "bugzoo.running.run_many", lambda jobs, **more: ran.extend(j.source for j in jobs) or run_many(jobs, **more)
    )
    told: list[tuple[int, int]] = []
    found = proofs.check("mlp", progress=lambda done, of: told.append((done, of)))
    assert [entry["problems"] for entry in found.values()] == [[], []] and len(ran) == 3, "the original once"
    assert told == [(0, 2), (2, 2)] and proofs.lacking("mlp") == [] and proofs.read("mlp") == found
    assert proofs.check("mlp") == found and len(ran) == 3
    monkeypatch.setattr(
        proofs, "pairs", lambda program: iter([replace(proofs_of_two[0], text="print(1)"), proofs_of_two[1]])
    )
    assert proofs.lacking("mlp") == ["mlp, quotes: not proved; type `bugzoo dialects check mlp`"]
    problems = proofs.check("mlp")["quotes"]["problems"]
    assert any("0 steps" in text for text in problems) and len(ran) == 5
    assert proofs.lacking("mlp") == ["mlp, quotes: not proved; type `bugzoo dialects check mlp`"], (
        "with problems it is no proof"
    )


@pytest.fixture
def proofs_of_two(monkeypatch: pytest.MonkeyPatch, tmp_path) -> list[proofs.Pair]:
    """A ledger of its own, and two rewritings of the program alone."""
    monkeypatch.setenv("BUGZOO_PROOFS", str(tmp_path / "ledger"))
    text = MLP.source.replace('"cpu"', "'cpu'")
    two = [proofs.Pair("mlp", "quotes", MLP, text, ("quotes",))]
    two.append(proofs.Pair("mlp", "combination 0", MLP, text + "\n", ("quotes", "layout")))
    monkeypatch.setattr(proofs, "pairs", lambda program: iter(two))
    return two


def test_an_unknown_program_is_told() -> None:
    with pytest.raises(UserError, match="Did you mean mlp"):
        proofs.programs_of(["mpl"])


def test_the_draw_of_broken_texts_is_steady(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = proofs.drawn("mlp")
    assert len(drawn) == proofs.BROKEN and drawn == proofs.drawn("mlp")
    known = proofs.catalogue.catalogue()
    fewer = {name: fault for name, fault in known.items() if name not in (drawn[0],)}
    monkeypatch.setattr(proofs.catalogue, "catalogue", lambda: fewer)
    assert set(drawn[1:]) < set(proofs.drawn("mlp")), "one that goes leaves the others"
