"""Which steps are compared is known to the supervisor alone, and a kept step leaves the script's process at once."""

import os
from dataclasses import replace

import numpy as np
import pytest
import torch

from bugzoo.grading.model import FOR_A_PERSON
from bugzoo.grading.unreadable import Ahead, of_error, usable
from bugzoo.running import Job, Limits, portable, run_worker
from bugzoo.running.draw import AHEAD, ASK, LEAVE, NO, STRANGE, TOO_MUCH, YES, Asking, Draw, files
from bugzoo.watching.steps import read
from tests.running.test_ranks import DDP

STEPS = 24
WANTED = bytes(int(step in (1, 6, 7, 11, 14, 15, 21)) for step in range(STEPS))
KEPT = [step + 1 for step in range(STEPS - 1) if WANTED[step]]
SCRIPT = """\
import contextlib, gc, os, stat, threading, time
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
found = torch.zeros(1)

def sockets():
    handles = [int(name) for name in os.listdir("/proc/self/fd")]
    return [fd for fd in handles if os.path.exists(f"/proc/self/fd/{fd}") and stat.S_ISSOCK(os.fstat(fd).st_mode)]

def pipes():
    links = {int(name): f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")}
    return [fd for fd, link in links.items() if os.path.exists(link) and os.readlink(link).endswith("questions-0")]

for step in range(STEPS):
    if step == 7:
        ATTACK
    optimizer.zero_grad()
    loss = model(torch.randn(3, 4)).square().mean()
    loss.backward()
    optimizer.step()
    AFTER
"""


def ran(attack: str = "pass", after: str = "pass", **more):
    text = SCRIPT.replace("ATTACK", attack).replace("AFTER", after).replace("STEPS", str(STEPS))
    job = Job(text, export=("found", "model"), keep_steps=WANTED, quiet=True, withheld={}, limits=Limits(seconds=60))
    return run_worker(replace(job, **more))


def steps_of(run) -> dict[str, np.ndarray]:
    return {name: value for name, value in run.arrays.items() if name.startswith("steps")}


def test_one_question_for_each_step_that_was_made(tmp_path):
    draw = Draw(b"\0\1\0", tmp_path, 0, 1)
    assert draw.take(ASK, 1) == NO and not draw.broken
    assert draw.take(ASK, 2) == YES and draw.take(LEAVE + bytes(8), 2) == b"", "this one could not be kept"
    assert draw.take(ASK, 3) == NO and draw.take(ASK, 4) == NO, "steps after the last one that was drawn"
    assert draw.take(ASK, 4) == b"" and draw.broken == AHEAD
    assert not files(tmp_path, 0)


@pytest.mark.parametrize(
    ("sent", "made", "why"),
    [
        (ASK, 0, AHEAD),
        (ASK + ASK, 5, AHEAD),
        (ASK + LEAVE + bytes(8) + ASK + ASK, 5, AHEAD),
        (b"x", 1, STRANGE),
        (LEAVE + bytes(8), 1, STRANGE),
        (ASK + b"x", 1, STRANGE),
    ],
)
def test_any_other_question_ends_the_run(tmp_path, sent, made, why):
    draw = Draw(b"\1\1", tmp_path, 0, 1)
    assert draw.take(sent, made) == b"" and draw.broken == why


def test_a_kept_step_goes_to_a_file_in_pieces_and_up_to_the_limit(tmp_path):
    (reader, writer), sent = os.pipe(), {"values": np.arange(5.0)}
    with os.fdopen(reader, "rb") as pipe:
        Asking(writer, -1).leave(sent)
        os.close(writer)
        packed = pipe.read()
    draw = Draw(b"\1\1", tmp_path, 3, 1)
    assert draw.take(ASK, 1) == YES
    for place in range(len(packed)):
        assert draw.take(packed[place : place + 1], 1) == b""
    assert draw.take(ASK, 2) == YES, "the first one is whole"
    with np.load(files(tmp_path, 3)[1]) as archive:
        assert archive["values"].tolist() == sent["values"].tolist()
    assert draw.take(LEAVE + (2**20).to_bytes(8, "little"), 2) == b"" and draw.broken == TOO_MUCH.format(1)


@pytest.mark.usefixtures("sandboxed")
@pytest.mark.parametrize("isolated", [True, False])
def test_steps_are_kept_and_nothing_of_the_training_changes(isolated):
    run = ran(isolated=isolated)
    steps, lost, settings = read(run.arrays)
    assert [step.number for step in steps] == KEPT and not lost and len(settings) == 1
    assert all(step.answers is not None and step.answers.shape == (3, 2) for step in steps)
    plain = ran(isolated=isolated, keep_steps=b"")
    assert not steps_of(plain) and plain.trace.loss.tolist() == run.trace.loss.tolist()
    assert all((plain.arrays[name] == run.arrays[name]).all() for name in plain.arrays)


READ_EVERYTHING = f"""
        backwards, seen = {WANTED[8:][::-1]!r}, []
        for fd in range(3, 64):
            link = f"/proc/self/fd/{{fd}}"
            if os.path.isfile(link):
                with contextlib.suppress(OSError):
                    seen.append(open(link, "rb").read(4096))
                with contextlib.suppress(OSError):
                    seen.append(os.pread(fd, 4096, 0))
        for place, folders, names in os.walk("/tmp"):
            folders[:] = [one for one in folders if os.access(os.path.join(place, one), os.W_OK)]  # no installed package
            seen += [open(os.path.join(place, name), "rb").read() for name in names]
        seen += [one for one in gc.get_referents(*gc.get_objects()) if isinstance(one, bytes | bytearray)]
        found[0] = sum(backwards in bytes(one)[::-1] for one in seen)
"""
"""By every means that reached `os`: what the draw says of later steps. It stands in the script backwards, so that only what
the grader left is counted."""


@pytest.mark.usefixtures("sandboxed")
def test_no_file_and_no_object_holds_the_draw():
    run = ran(READ_EVERYTHING.strip(), isolated=True)
    assert not run.trouble and run.outcome == "finished", (run.trace.error, run.stdout)
    assert run.arrays["found"].item() == 0
    leaks = READ_EVERYTHING.replace(
        "        for fd", f"        leak = bytes({WANTED[::-1]!r}[::-1])\n        for fd", 1
    )
    assert ran(leaks.strip(), isolated=True).arrays["found"].item() > 0, "it would be seen"
    lines = f"        open('/tmp/kept', 'wb').write(bytes({WANTED[::-1]!r}[::-1]))\n        for fd"
    in_a_file = READ_EVERYTHING.replace("        for fd", lines, 1).replace("gc.get_referents(*gc.get_objects())", "()")
    assert ran(in_a_file.strip(), isolated=True).arrays["found"].item() > 0, "in a file, too"


ASKS_AHEAD = {
    "ahead": "[os.write(fd, b'?') for fd in sockets()]",
    "a thread": "threading.Thread(target=lambda: [os.write(fd, b'?') for fd in sockets()]).start(); time.sleep(0.2)",
    "a fork": "os.fork() or ([os.write(fd, b'?') for fd in sockets()], time.sleep(0.2), os._exit(0)); time.sleep(0.2)",
    "something else": "[os.write(fd, b'!') for fd in sockets()]",
}


@pytest.mark.usefixtures("sandboxed")
@pytest.mark.parametrize("how", ASKS_AHEAD)
def test_who_asks_ahead_goes_to_a_person(how):
    run = ran(ASKS_AHEAD[how], isolated=True)
    assert run.spoilt and run.trouble.startswith(STRANGE if how == "something else" else AHEAD)
    with pytest.raises(Ahead) as raised:
        usable(run)
    assert of_error(raised.value).status == FOR_A_PERSON


@pytest.mark.usefixtures("sandboxed")
def test_who_asks_between_a_step_and_its_own_question_has_asked_twice():
    run = ran(after="[os.write(fd, b'?') for fd in sockets() if step == 7]", isolated=True)
    assert run.trouble.startswith(AHEAD) and len(run.trace.step) in (8, 9)


REWRITE = """
        from bugzoo.watching.steps import Call, Step
        mine = {id(p) for p in model.parameters()} | {id(v) for s in optimizer.state.values() for v in s.values()}
        for one in gc.get_objects():
            if isinstance(one, Step | Call):
                found += 1
                one.number = 99
"""
"""Counts what is there of steps: the one that is open, and the one before it, whose answer is still to be read."""


@pytest.mark.usefixtures("sandboxed")
def test_a_kept_step_is_gone_from_the_process():
    attack = REWRITE.strip().replace("one.number = 99", "[setattr(one, 'after', {}), setattr(one, 'inputs', [])]")
    run, usual = ran(attack, isolated=True), ran(isolated=True)
    assert not run.trouble and run.arrays["found"].item() <= 4, "two steps and their calls"
    before = [step for step in KEPT if step < 6]
    assert before and all(
        (run.arrays[name] == value).all() for name, value in usual.arrays.items()
        if name.startswith("steps.") and name.split(".")[1] in map(str, before)
    )  # fmt: skip


@pytest.mark.slow
def test_each_of_several_ranks_asks_for_itself():
    run = run_worker(Job(DDP.replace("TWIST", "pass"), ranks=2, keep_steps=b"\0\1\0\1"))
    assert run.outcome == "finished", (run.trace.error, run.stdout)
    numbers = [[step.number for step in read(rank.arrays)[0]] for rank in run.ranks]
    assert numbers == [[2, 4], [2, 4]]


@pytest.fixture
def in_portable_mode(monkeypatch):
    monkeypatch.setenv("BUGZOO_PORTABLE", "1")
    yield
    while portable._spare:
        portable._end(portable._spare.pop())


@pytest.mark.slow
@pytest.mark.usefixtures("in_portable_mode")
@pytest.mark.parametrize("ranks", [1, 2])
def test_portable_mode_goes_the_same_way(ranks):
    run = run_worker(Job(DDP.replace("TWIST", "pass"), ranks=2, keep_steps=b"\0\1\0\1")) if ranks > 1 else ran()
    assert not run.trouble and run.outcome == "finished", (run.trace.error, run.stdout)
    numbers = [[step.number for step in read(rank.arrays)[0]] for rank in (run.ranks or [run])]
    assert numbers == ([[2, 4], [2, 4]] if ranks > 1 else [KEPT])
    if ranks == 1:
        attack = ASKS_AHEAD["ahead"].replace("sockets()", "pipes()")
        assert ran(attack).trouble.startswith(AHEAD)


BY_HAND = """\
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(4, 2)
found = torch.zeros(1)
for step in range(STEPS):
    model.zero_grad()
    model(torch.randn(3, 4)).square().mean().backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= 0.01 * p.grad
"""


@pytest.mark.usefixtures("sandboxed")
def test_steps_made_by_hand_are_reported_before_they_are_asked_for():
    job = Job(
        BY_HAND.replace("STEPS", str(STEPS)), export=("found", "model"), keep_steps=WANTED, isolated=True, withheld={}
    )
    run = run_worker(job)
    steps, lost, _ = read(run.arrays)
    assert not run.trouble and [step.number for step in steps] == KEPT and not lost
    space = {"found": None}
    before = BY_HAND.replace(
        "    model.zero_grad()\n", "    weights.append(model.weight.detach().clone())\n    model.zero_grad()\n"
    )
    exec(f"weights = []\n{before.replace('STEPS', str(STEPS))}", space)
    assert all(torch.equal(step.parameters["weight"], space["weights"][step.number - 1]) for step in steps)


SAVES_INTO_HANDLES = """
import os
links = {}
for name in os.listdir("/proc/self/fd"):
    try:
        links[name] = os.readlink(f"/proc/self/fd/{name}")
    except OSError:
        pass
opened = 0
for name, link in links.items():
    if link.split(":")[0] in ("pipe", "socket") and link not in (links["1"], links["2"]):
        try:
            torch.save(torch.zeros(1), f"/proc/self/fd/{name}")
            opened += 1
        except (OSError, RuntimeError):
            pass
found = torch.tensor(float(opened))
"""


@pytest.mark.usefixtures("sandboxed")
def test_what_a_script_saves_reaches_no_channel_of_the_supervisor():
    attack = SAVES_INTO_HANDLES.strip().replace("\n", "\n        ")
    run = ran(attack, isolated=True)
    assert run.outcome == "finished" and run.arrays["found"].item() == 0, (run.trace.error, run.stdout)
    pipe = "import os; ends = os.pipe()\n        " + attack
    assert ran(pipe, isolated=True).arrays["found"].item() > 0, "a pipe would be seen"
