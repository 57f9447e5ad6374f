"""`bugzoo checkup` on whatever people hand it, through the command line in processes of its own."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile

import psutil
import pytest

from bugzoo.cli import examine
from bugzoo.diagnostics._rank import Ranked
from bugzoo.diagnostics.checkup import Measured, Report
from bugzoo.faults import catalogue
from bugzoo.proving.listing import general
from bugzoo.proving.next_test import next_test
from bugzoo.running import overlay
from tests.grading.attempt import left_behind
from tests.sampling import only_in_prove
from tests.scripts import TRAIN

STALE = TRAIN.replace("    opt.zero_grad()\n", "")
SLOWED = TRAIN.replace("torch.manual", "torch.autograd.set_detect_anomaly(True)\ntorch.manual")
ENDLESS = STALE.replace("for i in range(60):", "while True:")
ARGUMENTS = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, required=True)
given = parser.parse_args()
"""
TWO_RANKS = """\
import sys
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(rank * int("apart" in sys.argv))
net = torch.nn.Linear(4, 2)
if "apart" not in sys.argv:
    net = torch.nn.parallel.DistributedDataParallel(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(20):
    x = torch.randn(8, 4) + rank
    err = torch.nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
    opt.zero_grad()
    err.backward()
    opt.step()
dist.destroy_process_group()
"""


@pytest.fixture
def start(tmp_path):
    """start("ok.py", ...) -> the process of `bugzoo checkup ok.py ...` with `tmp_path` as its folder."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = os.environ | {"TMPDIR": str(temporary), "OMP_NUM_THREADS": "1", "COLUMNS": "200"}
    command = [sys.executable, "-m", "bugzoo", "checkup"]

    def call(*words):
        return subprocess.Popen(
            [*command, *words], cwd=tmp_path, env=environment, text=True, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip

    yield call
    left = [p for p in psutil.process_iter(["environ"]) if (p.info["environ"] or {}).get("TMPDIR") == str(temporary)]
    psutil.wait_procs(left, timeout=5)
    assert [p.cmdline() for p in left if p.is_running() and p.status() != psutil.STATUS_ZOMBIE] == []
    assert [path.name for path in temporary.glob("bugzoo-*")] == []


@pytest.fixture
def checkup(bugzoo, tmp_path):
    """checkup("ok.py") -> (exit code, JSON report or None, stderr): the same command, its imports done already."""

    def call(*words):
        called = bugzoo("checkup", "--json", *words)
        return called.code, json.loads(called.out) if called.out else None, called.err

    with contextlib.chdir(tmp_path):
        yield call


def write(folder, text, name="train.py"):
    (folder / name).write_text(text, encoding="utf-8")
    return name


@pytest.mark.slow
def test_the_report_has_the_shape_that_machines_rely_on(checkup, tmp_path, monkeypatch):
    """A child that lives on is ended with the script."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    code, report, error = checkup(write(tmp_path, STALE + "import os, time\nif os.fork() == 0:\n    time.sleep(300)\n"))
    assert left_behind() == []
    assert code == 0, error
    assert report["outcome"] == "found"
    assert set(report["suspects"][0]) == {
        "cause", "score", "reason", "file", "line", "instruments", "explained_by", "instead_of", "next_test",
    }  # fmt: skip
    assert (report["suspects"][0]["cause"], report["suspects"][0]["line"]) == ("loop/stale_gradients", 9)
    assert all(set(item) == {"instrument", "why"} for item in report["not_checked"])


@pytest.mark.slow
def test_the_first_and_the_last_line_say_what_becomes_of_what_it_writes(bugzoo, tmp_path):
    if why := overlay.impossible():
        pytest.skip(why)
    file = tmp_path / write(tmp_path, TRAIN + "open('out.txt', 'w').write('x' * 40)\n")
    called = bugzoo("checkup", str(file))
    assert f"running {file}; files that it writes are discarded (--keep FOLDER copies them)" in called.err.replace(
        "\n", " "
    )
    assert "Discarded: files that the script wrote (40 bytes)" in called.out and not (tmp_path / "out.txt").exists()
    copied = bugzoo("checkup", str(file), "--keep", str(tmp_path / "kept"), "--no-rerun", "--all")
    assert "Copied: 1 file that" in copied.out and (tmp_path / "kept" / "out.txt").read_text() == "x" * 40
    assert "as --no-rerun asks" in copied.out
    again = bugzoo("checkup", str(file), "--keep", str(tmp_path / "kept"))
    assert again.code == 2 and "Name a new folder" in again.err


@pytest.mark.slow
def test_words_for_a_person_say_where_why_and_what_next_and_the_page_is_written_beside_them(bugzoo, tmp_path):
    page = tmp_path / "report.html"
    called = bugzoo("checkup", str(tmp_path / write(tmp_path, STALE)), "--html", str(page))
    assert called.code == 0 and called.out.endswith(f"written: {page}\n")
    assert "loop/stale_gradients" in page.read_text(encoding="utf-8")
    for part in (
        "something is wrong",
        "loop/stale_gradients",
        "line 9: opt.step()",
        "seen ",
        "why ",
        "fix ",
        "test   At one step, compare the gradient",
        "this cause: The gradient also contains older batches.",
        "optimizer/lr_too_high: The gradient comes from the last batch alone.",
        "Not checked",
    ):
        assert part in called.out


def test_why_is_said_without_the_numbers_of_our_own_case():
    assert (
        general("It adds up. On mlp 2809 pairs moved. So the rate is too high.")
        == "It adds up. So the rate is too high."
    )
    assert general("The floor is 1.46. It is 0.3 for two.") == "The floor is 1.46."
    assert "bugzoo's own example" not in general(catalogue()["loop/stale_gradients"].why)


CONTRACT = """import torch
import torch.nn.functional as F
layer = torch.nn.Linear(3, 3)
opt = torch.optim.SGD(layer.parameters(), lr=0.1)
for step in range(40):
    opt.zero_grad()
    loss = F.kl_div(layer(torch.randn(8, 3)).LOGS(-1), torch.full((8, 3), 1 / 3), reduction="batchmean")COMMENT
    loss.backward()
    opt.step()
"""


@pytest.mark.slow
def test_a_broken_contract_is_a_suspect_with_its_effect_and_silent_with_a_reason(bugzoo, tmp_path):
    target = str(tmp_path / "train.py")
    write(tmp_path, CONTRACT.replace("LOGS", "softmax").replace("COMMENT", ""))
    called = bugzoo("checkup", target, "--json", "-")
    first = json.loads(called.out)["suspects"][0]
    assert (first["cause"], first["line"], first["score"]) == ("contracts/kl_div_input", 7, 1.0)
    assert "docs.pytorch.org" in bugzoo("checkup", target).out
    write(tmp_path, CONTRACT.replace("LOGS", "softmax").replace("COMMENT", "  # bugzoo: ok kl_div_input a density"))
    silenced = bugzoo("checkup", target, "--all")
    assert "kl_div_input is silenced there: a density" in silenced.out and "score 1.00" not in silenced.out
    write(tmp_path, CONTRACT.replace("LOGS", "log_softmax").replace("COMMENT", ""))
    assert json.loads(bugzoo("checkup", target, "--json", "-").out)["findings"] == []


@pytest.mark.slow
def test_what_a_library_warns_of_is_told_with_the_line_of_the_script(bugzoo, tmp_path):
    target = str(tmp_path / "train.py")
    text = TRAIN.replace("for i", "rate = torch.optim.lr_scheduler.StepLR(opt, 9)\nfor i")
    write(tmp_path, text.replace("    x = torch", "    if i == 0: rate.step()\n    x = torch"))
    report = json.loads(bugzoo("checkup", target, "--json", "-", "--no-rerun").out)
    (entry,) = [warning for warning in report["warned"] if "before `optimizer.step()`" in warning["message"]]
    assert (entry["kind"], entry["line"]) == ("UserWarning", 7)
    page = tmp_path / "report.html"
    printed = bugzoo("checkup", target, "--no-rerun", "--html", str(page)).out
    assert "A library warned:\n  line 7: Detected call of" in printed
    assert "Warnings of libraries" in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_demand_that_could_not_be_looked_at_says_so_under_all(bugzoo, tmp_path):
    target = str(tmp_path / "train.py")
    replacement = "F.kl_div = lambda p, q, **more: (q * (q.log() - p)).sum()\nlayer ="
    write(tmp_path, CONTRACT.replace("LOGS", "softmax").replace("COMMENT", "").replace("layer =", replacement))
    report = json.loads(bugzoo("checkup", target, "--json", "-", "--no-rerun").out)
    assert set(report["stepped_aside"]) >= {"contracts/kl_div_input"} and report["findings"] == []
    printed = " ".join(bugzoo("checkup", target, "--all", "--no-rerun").out.split())
    assert (
        "contracts/kl_div_input could not judge a call: the script replaces `kl_div` by a function of its own"
        in printed
    )


CODES = {"nothing": (TRAIN, 0), "found": (STALE, 1), "unjudged": ("print('hello')\n", 3)}


@pytest.mark.slow
@pytest.mark.parametrize("outcome", [only_in_prove("nothing"), "found", "unjudged"])
def test_a_script_can_go_by_the_exit_code(bugzoo, tmp_path, outcome):
    text, code = CODES[outcome]
    called = bugzoo("checkup", "--exit-code", str(tmp_path / write(tmp_path, text)))
    assert called.code == code, called.out
    assert outcome != "found" or bugzoo("checkup", str(tmp_path / "train.py")).code == 0


@pytest.mark.parametrize("place", ["", "-", "nowhere/report.html", "."])
def test_a_page_that_cannot_be_written_is_refused_before_the_work(bugzoo, tmp_path, place):
    text = STALE + f"open({str(tmp_path / 'ran')!r}, 'w').close()\n"
    target = place and place != "-" and str(tmp_path / place)
    called = bugzoo("checkup", str(tmp_path / write(tmp_path, text)), "--html", target or place)
    assert called.code == 2 and not (tmp_path / "ran").exists(), called.err


def test_bad_input_is_no_finding(bugzoo, tmp_path):
    assert bugzoo("checkup", "--exit-code", str(tmp_path / "nothing.py")).code == 2


def test_the_help_shows_how_to_bisect(bugzoo):
    assert "git bisect run" in bugzoo("checkup", "--help").out


VERDICTS = {
    "nothing": (TRAIN, (), 0),
    "found": (STALE, (), 1),
    "the cause that is asked for": (STALE, ("--cause", "loop/stale_gradients"), 1),
    "its family": (STALE, ("--cause", "loop"), 1),
    "another cause": (STALE, ("--cause", "loss/double_softmax"), 0),
    "what is measured and names no cause": (SLOWED, (), 0),
    "a reading of the cause that is asked for": (SLOWED, ("--cause", "speed/anomaly_mode_left_on"), 1),
    "no training": ("print('hello')\n", (), 125),
    "no Python": ("for i in range(3)\n", (), 125),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", VERDICTS)
def test_a_verdict_is_what_git_bisect_takes(bugzoo, tmp_path, kind):
    text, words, code = VERDICTS[kind]
    called = bugzoo("verdict", str(tmp_path / write(tmp_path, text)), *words)
    assert called.code == code and len(called.out.splitlines()) == 1, called.out


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_git_finds_the_commit_that_broke_the_training(tmp_path):
    def git(*words):
        name = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
        return subprocess.run(["git", *name, *words], cwd=tmp_path, text=True, capture_output=True, check=True).stdout

    git("init")
    history = [TRAIN, STALE, "def (:\n", STALE + "# one\n", STALE + "# two\n"]  # the third is skipped
    for number, text in enumerate(history):
        write(tmp_path, text)
        git("add", "."), git("commit", "-m", f"commit {number}")
    git("bisect", "start", "HEAD", "HEAD~4")
    printed = git("bisect", "run", sys.executable, "-m", "bugzoo", "verdict", "train.py")
    assert re.search(r"is the first bad commit\n.*^    commit 1$", printed, re.DOTALL | re.MULTILINE), printed


def suspect(cause, **stands):
    return Ranked(cause, 0.5, "seen", instruments=("any",), **stands)


def test_a_reading_is_told_without_a_cause_and_all_says_what_it_could_be():
    first = Measured("overfit_one_batch", "the loss plateaus", ("loss/double_softmax", "fit/capacity_too_small"))
    other = Measured("loss_spikes", "a step jumps")
    report = Report("train.py", "nothing", readings=[first, other, other, other])
    text = examine.tell(report, {})
    assert text.startswith("train.py: no cause named")
    assert "Measured, and too little to name a cause:\n  - the loss plateaus.\n    test   " in text
    assert "double_softmax" not in text and "1 more: `--all` lists them." in text
    assert "loss/double_softmax, fit/capacity_too_small" in examine.tell(report, {}, every=True)
    assert examine.as_json(report, {})["readings"][0] == {
        "instrument": "overfit_one_batch",
        "message": "the loss plateaus",
        "could_be": ("loss/double_softmax", "fit/capacity_too_small"),
    }


def test_what_the_first_explains_stands_with_it_and_what_remains_has_a_number_and_a_test():
    report = Report("train.py", "found", suspects=[
        suspect("loss/double_softmax"),
        suspect("modes/eval_mode_missing"),
        suspect("optimizer/lr_too_low", explained_by="loss/double_softmax"),
        suspect("fit/capacity_too_small", instead_of="loss/double_softmax"),
    ])  # fmt: skip
    tests = examine.next_tests(report)
    assert list(tests) == ["loss/double_softmax", "modes/eval_mode_missing"]
    first, second = examine.tell(report, tests).split("\n2. modes/eval_mode_missing")
    assert "so     optimizer/lr_too_low (score 0.50): explained by loss/double_softmax" in first
    assert "or     fit/capacity_too_small (score 0.50): same evidence as loss/double_softmax" in first
    assert tests["loss/double_softmax"].against == "fit/capacity_too_small", "before all against what is suspected too"
    assert "test " in second and "lr_too_low" not in second
    next_tests = {entry["cause"]: entry["next_test"] for entry in examine.as_json(report, tests)["suspects"]}
    assert next_tests["optimizer/lr_too_low"] is None and set(next_tests["loss/double_softmax"]) == {
        "test", "against", "if_this", "if_other",
    }  # fmt: skip


def test_a_cause_that_no_catalogue_holds_has_no_test():
    assert next_test("other/thing") is None


@pytest.mark.serial
@pytest.mark.slow
def test_ctrl_c_judges_what_was_seen(start, tmp_path):
    """The script says over a connection that it has made twenty steps: its files are seen by itself alone."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(120)
        tell = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]})).close()"
        text = ENDLESS + f"    if i == 20: {tell}\n    i += 1\n    import time; time.sleep(0.01)\n"
        process = start("--json", write(tmp_path, text.replace("while True:", "i = 0\nwhile True:")))
        server.accept()[0].close()
    os.kill(process.pid, signal.SIGINT)
    out, error = process.communicate(timeout=60)
    report = json.loads(out)
    assert process.returncode in (0, 130), error
    assert report["run"]["outcome"] == "stopped" and report["suspects"][0]["cause"] == "loop/stale_gradients"


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_an_endless_loop_is_judged_on_what_was_seen(checkup, tmp_path):
    code, report, _ = checkup("--seconds", "4", write(tmp_path, ENDLESS))
    assert (
        code == 0 and report["run"]["outcome"] == "timed_out" and "the time limit stopped the script" in report["why"]
    )
    assert report["suspects"][0]["cause"] == "loop/stale_gradients"


MISTAKES = {
    "syntax": ("for i in range(3)\n", "train.py:1:"),
    "binary": (b"\xff\xfe\x00\x01", "not UTF-8 text"),
    "notebook": ('{"cells": []}', "nbconvert"),
    "folder": (None, "Is a directory"),
    "missing": (..., "no file"),
}


@pytest.mark.parametrize("kind", MISTAKES)
def test_a_users_mistake_is_one_message_and_code_2(checkup, tmp_path, kind):
    content, message = MISTAKES[kind]
    path = tmp_path / ("train.ipynb" if kind == "notebook" else "train.py")
    if content is None:
        path.mkdir()
    elif content is not ...:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    code, report, error = checkup(path.name)
    assert (code, report) == (2, None) and message in error and "Traceback" not in error


ENDINGS = {
    "no loop": ("print('hello')\n", "unjudged", "no optimizer step"),
    "sys.exit at the end": (TRAIN + "raise SystemExit(3)\n", "nothing", "sys.exit(3)"),
    "os._exit": (TRAIN + "import os; os._exit(0)\n", "unjudged", "os._exit"),
    "100 MB of prints": (TRAIN + "for _ in range(100): print('x' * 2**20)\n", "nothing", ""),
    "reads stdin": ("name = input()\n" + TRAIN, "unjudged", "standard input is empty"),
    "needs arguments": (ARGUMENTS + TRAIN, "unjudged", "after `--`"),
    "missing module": ("import no_such_module_of_mine\n" + TRAIN, "unjudged", "Install that module"),
    "data beside it": ("open('data.txt').read(); import beside\n" + TRAIN, "nothing", ""),
    "changes directory": ("import os; os.chdir('/')\n" + TRAIN, "nothing", ""),
    "wants torchrun": (TWO_RANKS, "unjudged", "--ranks 2"),
    "updates by hand": (TRAIN.replace("opt.step()", "net.weight = torch.nn.Parameter((net.weight - net.weight.grad).detach())")
                        .replace("opt = torch.optim.SGD(net.parameters(), lr=0.1)\n", "").replace("opt.", "net."),
                        "unjudged", "updates written by hand"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", ENDINGS)
def test_whatever_a_script_does_ends_in_a_report(checkup, tmp_path, kind):
    text, outcome, reason = ENDINGS[kind]
    write(tmp_path, "x = 1\n", "beside.py"), write(tmp_path, "1 2 3\n", "data.txt")
    code, report, error = checkup(write(tmp_path, text))
    assert code == 0, error
    assert report["outcome"] == outcome and report["suspects"] == [] and reason in report["why"]


@pytest.mark.slow
def test_arguments_and_folder_are_the_second_runs_as_well(checkup, tmp_path):
    text = ARGUMENTS + "open('data.txt').read()\n" + TRAIN.replace("range(60)", "range(given.epochs)")
    write(tmp_path, "1 2 3\n", "data.txt")
    code, report, _ = checkup(write(tmp_path, text), "--", "--epochs", "20")
    assert code == 0 and report["outcome"] == "nothing" and report["run"]["steps"] == 20
    assert "determinism" not in [item["instrument"] for item in report["not_checked"]]


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_two_ranks_that_agree_are_fine(checkup, tmp_path):
    code, report, _ = checkup("--ranks", "2", write(tmp_path, TWO_RANKS))
    assert code == 0 and report["outcome"] == "nothing", report
    assert "rank_check" not in [item["instrument"] for item in report["not_checked"]]


@pytest.mark.slow
def test_two_ranks_are_compared(checkup, tmp_path):
    report = checkup("--ranks", "2", write(tmp_path, TWO_RANKS), "--", "apart")[1]
    assert report["suspects"][0]["cause"] == "distributed/unsynchronised_model", report
