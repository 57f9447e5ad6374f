"""`bugzoo bug-report` in a real process: the folder, what the shorter script still shows, and refusals."""

import json
import subprocess
import sys

import pytest

from bugzoo.cli import main
from bugzoo.diagnostics.bug_report import Symptom
from bugzoo.diagnostics.checkup import checkup
from bugzoo.errors import UserError
from bugzoo.running import overlay
from tests.corpus import ROOT

BROKEN = """
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
WIDTH = 32
x = torch.randn(256, 8)
y = (x[:, 0] > 0).long()


def unused(value):
    return value + 1


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, WIDTH), nn.ReLU())
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, x):
        return F.softmax(self.head(self.body(x)), dim=1)


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(12):
    for rows in torch.randperm(256).split(32):
        loss = F.cross_entropy(net(x[rows]), y[rows])  # what is wrong
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
"""

WRITES = BROKEN.replace("    print(epoch", "    open('rows.txt', 'a').write('row')\n    print(epoch")


def bugzoo(*words, cwd):
    return subprocess.run(
        [sys.executable, "-m", "bugzoo", "bug-report", *words], cwd=cwd, capture_output=True, text=True
    )


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_a_shorter_script_shows_the_same_and_the_folder_says_where(tmp_path):
    text = BROKEN if overlay.impossible() else WRITES  # without an overlay a script that writes is not run again
    (tmp_path / "train.py").write_text(text)
    process = bugzoo("train.py", "-o", "report", "--json", "found.json", cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    summary = json.loads((tmp_path / "found.json").read_text())
    assert summary["cause"] == "loss/double_softmax" and summary["shown"] and summary["lines"] < 27
    minimal = (tmp_path / "report" / "minimal.py").read_text()
    assert "unused" not in minimal and "print" not in minimal and "softmax" in minimal
    assert (tmp_path / "report" / "original.py").read_text() == text
    assert checkup(tmp_path / "report" / "minimal.py").suspects[0].cause == "loss/double_softmax"
    markdown = (tmp_path / "report" / "report.md").read_text()
    assert (
        "setting: `WIDTH = 32`" in markdown
        and "torch: " in markdown
        and "first batch: (32, 8) float32, sha256 " in markdown
    )
    assert "double_softmax" in markdown and "line " in markdown
    checkups = json.loads((tmp_path / "report" / "checkup.json").read_text())
    assert checkups["original"]["suspects"][0]["cause"] == checkups["minimal"]["suspects"][0]["cause"]
    assert {path.name for path in tmp_path.iterdir()} == {"train.py", "report", "found.json"}, "none of its rows"


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_a_crash_is_kept_with_its_message(tmp_path):
    process = bugzoo(str(ROOT / "crashes" / "deep_linear.py"), "-o", "report", cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    minimal = tmp_path / "report" / "minimal.py"
    ran = subprocess.run([sys.executable, str(minimal)], capture_output=True, text=True)
    assert "32x64 and 48x128" in ran.stderr and "optimizer" not in minimal.read_text()


@pytest.mark.slow
def test_a_folder_that_is_not_empty_is_left_alone(tmp_path, monkeypatch, capsys):
    (tmp_path / "train.py").write_text(BROKEN)
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "notes.txt").write_text("mine")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        main(["bug-report", "train.py", "-o", "report"])
    message = capsys.readouterr().err
    assert end.value.code == 2 and "not empty" in message and "Traceback" not in message
    assert [file.name for file in (tmp_path / "report").iterdir()] == ["notes.txt"]


@pytest.mark.slow
def test_where_nothing_is_wrong_there_is_nothing_to_report(tmp_path):
    healthy = BROKEN.replace("F.softmax(self.head(self.body(x)), dim=1)", "self.head(self.body(x))")
    (tmp_path / "train.py").write_text(healthy)
    with pytest.raises(UserError, match="nothing to report"):
        Symptom.of(checkup(tmp_path / "train.py", most_reruns=0))
