"""What a suspect's score is, which causes a script cannot have, and what stays a reading."""

import numpy as np
import pytest

from bugzoo.diagnostics import Suspect, Verdict, _weigh
from bugzoo.diagnostics._presupposed import FACTS, missing, possible, presupposes
from bugzoo.diagnostics._rank import STRONG, Ranked, apart, rank
from bugzoo.diagnostics._weigh import refuted, score, weighed
from bugzoo.diagnostics.checkup import Report, report
from bugzoo.faults import catalogue
from bugzoo.running.reading import Reading
from bugzoo.running.result import Run
from bugzoo.scenario import Scenario, fits
from bugzoo.watching.records import Graph
from bugzoo.watching.trace import Trace

BARE = "loss = (net(x) - y).abs().mean()"
ADDED = {
    "class scores": "loss = nn.CrossEntropyLoss()(net(x), y)",
    "a sigmoid or a binary loss": "loss = F.binary_cross_entropy(net(x), y)",
    "attention": "h = nn.MultiheadAttention(8, 2)(x, x, x)",
    "batch norm": "h = nn.BatchNorm1d(8)(x)",
    "an embedding": "h = nn.Embedding(8, 2)(x)",
    "a recurrent layer": "h = nn.GRU(8, 2)(x)",
    "an evaluation": "net.eval()",
    "a loss scale": "scale = torch.amp.GradScaler()",
    "low precision": "net.half()",
    "a schedule": "rate = torch.optim.lr_scheduler.StepLR(opt, 3)",
    "a checkpoint": "net.load_state_dict(torch.load('net.pt'))",
    "workers of a loader": "loader = DataLoader(data, num_workers=2)",
    "gradient clipping": "nn.utils.clip_grad_norm_(net.parameters(), 1)",
    "an image": "h = nn.Conv2d(1, 2, 3)(x)",
    "tokens": "vocabulary = sorted(set(text))",
    "something sampled": "next = scores.softmax(-1).multinomial(1)",
    "rows of several lengths": "rows = pad_sequence(rows)",
    "a mask": "scores = scores.masked_fill(hidden, -math.inf)",
    "parts that are frozen or pretrained": "net.body.requires_grad_(False)",
    "dropout": "h = F.dropout(x)",
    "accumulated gradients": "if (step + 1) % 4 == 0: opt.step()",
    "a compiled model": "net = torch.compile(net)",
    "a GPU": "net.cuda()",
    "a loader": "for x, y in DataLoader(data): pass",
    "several processes": "torch.distributed.init_process_group()",
}


def made(text: str, **graph) -> Run:
    return Run(Trace(step=np.arange(1, 9), graph=Graph(**graph)), source=f"import torch\n{text}\n")


@pytest.mark.parametrize("fact", FACTS)
def test_a_fact_is_missing_until_the_script_speaks_of_it(fact):
    assert missing(fact, made(BARE)) and not missing(fact, made(ADDED[fact]))


def test_what_the_run_saw_speaks_for_a_fact_that_the_text_does_not_hold():
    assert not missing("class scores", made(BARE, ops=("NllLossBackward0",)))
    assert not missing("low precision", made(BARE, autocast="bfloat16"))
    recurrent = made(BARE)
    recurrent.trace.modules = ["Net.first (LSTM)"]
    assert not missing("a recurrent layer", recurrent)


@pytest.mark.parametrize("text", ["from . import parts", "from parts import Net", "import transformers"])
def test_nothing_is_missing_where_the_script_has_parts_that_were_not_read(text):
    assert not any(missing(fact, made(f"{text}\n{BARE}")) for fact in FACTS)


def test_nothing_is_missing_from_a_script_that_was_not_seen_to_train():
    assert not any(missing(fact, Run(Trace(), source=BARE)) for fact in FACTS)
    assert not any(missing(fact, Run(Trace(step=np.arange(3)))) for fact in FACTS)


def test_each_beginning_is_that_of_a_fault_and_a_pack_s_fault_is_looked_up_like_ours():
    for fact in FACTS.values():
        for beginning in fact.causes:
            assert any(name.startswith(beginning) for name in catalogue()), beginning
    assert presupposes("acme:loss/double_softmax") == ("class scores",)
    assert possible("loop/stale_gradients", made(BARE)) and not possible("loss/double_softmax", made(BARE))


def test_each_broken_program_of_ours_speaks_of_what_its_fault_presupposes():
    for name, fault in catalogue().items():
        for program in fits(fault):
            source = Scenario(program, (name,)).source
            assert possible(name, made(source)), (name, program)


def verdict(*suspects, by="crash", numbers=None):
    return Verdict(by, bool(suspects), "seen", numbers or {}, tuple(Suspect(*pair, "seen") for pair in suspects))


@pytest.fixture
def counts(monkeypatch):
    table = {"one": {"loop/stale_gradients": [8, 8], "loss/double_softmax": [4, 0]}}
    monkeypatch.setattr(_weigh, "_counts", lambda: table)


@pytest.mark.parametrize(
    ("instrument", "cause", "expected"),
    [
        ("one", "loop/step_missing", 9 / 14),  # never named there
        ("one", "loop/stale_gradients", (8 + 2 * 9 / 14) / 10),
        ("one", "loss/double_softmax", (0 + 2 * 9 / 14) / 6),
        ("other", "loop/stale_gradients", 1 / 2),
    ],
)
def test_a_score_is_counted_for_the_instrument_and_then_for_its_cause(counts, instrument, cause, expected):
    assert score(instrument, cause) == pytest.approx(expected)


def test_an_instrument_s_own_number_caps_its_score_and_the_count_caps_that(counts):
    (first,) = weighed([verdict(("loop/stale_gradients", 0.4), by="one")], made(BARE))
    (second,) = weighed([verdict(("loop/stale_gradients", 0.95), by="one")], made(BARE))
    assert [first.suspects[0].score, second.suspects[0].score] == [0.4, pytest.approx((8 + 2 * 9 / 14) / 10)]


def test_a_verdict_does_not_fire_on_what_the_script_cannot_have(counts):
    accusation = verdict(("loss/double_softmax", 0.9), ("fit/capacity_too_small", 0.3), by="one")
    (left,) = weighed([accusation], made(BARE))
    assert left.fired and [suspect.cause for suspect in left.suspects] == ["fit/capacity_too_small"]
    (none,) = weighed([verdict(("loss/double_softmax", 0.9), by="one")], made(BARE))
    assert not none.fired


def test_what_a_measurement_excludes_is_named_by_nothing():
    spread = verdict(by="double_normalisation", numbers={"log_prob_spread": 3.2})
    retained = verdict(by="retain_graph", numbers={"kept_share": 0.0})
    assert refuted([spread, retained]) == {"loss/double_softmax", "memory/retain_graph_left_on"}
    narrow = verdict(by="double_normalisation", numbers={"log_prob_spread": 0.7})
    assert refuted([narrow]) == set() and refuted([], ["negative loss"]) == {"loss/sign_flipped"}


def test_what_is_weak_is_a_reading_and_what_belongs_to_a_suspect_stays_with_it():
    ranked = rank([verdict(("loop/stale_gradients", 0.9), by="one"), verdict(("optimizer/lr_too_high", 0.8), by="two"),
                   verdict(("data/no_shuffle", 0.5), by="three")])  # fmt: skip
    strong, weak = apart(ranked)
    assert [suspect.cause for suspect in strong] == ["loop/stale_gradients", "optimizer/lr_too_high"]
    assert strong[1].score < STRONG and strong[1].explained_by == "loop/stale_gradients"
    assert [suspect.cause for suspect in weak] == ["data/no_shuffle"]
    assert apart([Ranked("a/b", STRONG, "seen")])[1] == []


def test_a_report_tells_a_reading_and_names_no_cause(monkeypatch):
    run = made("net.eval()")
    accusation = verdict(("data/ordered_split", 0.8), ("data/no_shuffle", 0.3), by="validation_shift")
    monkeypatch.setattr("bugzoo.diagnostics.checkup.judge_all", lambda readings: [accusation])
    run.readings = {"validation_shift": Reading({"x": 1.0})}
    summary = report(run)
    assert isinstance(summary, Report) and summary.outcome == "nothing" and summary.suspects == []
    [reading] = summary.readings  # the order is that of the counted scores
    assert reading.instrument == "validation_shift"
    assert set(reading.could_be) == {"data/ordered_split", "data/no_shuffle"}
    assert summary.to_json()["readings"][0]["message"] == "seen" and "validation_shift: seen" in str(summary)
