"""`bugzoo break` on scripts of somebody else's."""

import ast

import pytest

OWN = """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
for i in range(20):
    x, y = torch.randn(16, 8), torch.randint(3, (16,))
    opt.zero_grad()
    out = net(x)
    err = criterion(out, y)
    err.backward()
    opt.step()
for i in range(20):
    x, y = torch.randn(16, 8), torch.randint(3, (16,))
    opt.zero_grad()
    err = criterion(net(x), y)
    err.backward()
    opt.step()
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(OWN)
    return path


def test_several_places_are_listed_and_at_chooses(bugzoo, script, tmp_path):
    out = tmp_path / "broken.py"
    called = bugzoo("break", str(script), "--fault", "loop/stale_gradients", "-o", str(out))
    assert called.code == 2
    assert "line 9" in called.err and "line 16" in called.err and "--at" in called.err
    assert not out.exists()
    called = bugzoo("break", str(script), "--fault", "loop/stale_gradients", "-o", str(out), "--at", "16")
    assert called.code == 0
    assert out.read_text().splitlines()[8].strip() == "opt.zero_grad()"
    assert out.read_text().count("zero_grad") == 1
    ast.parse(out.read_text())


def test_nothing_is_overwritten(bugzoo, script, tmp_path):
    out = tmp_path / "broken.py"
    out.write_text("mine")
    arguments = ("break", str(script), "-f", "loop/stale_gradients", "--at", "9", "-o")
    assert bugzoo(*arguments, str(out)).code == 2
    assert out.read_text() == "mine"
    assert bugzoo(*arguments, str(out), "--force").code == 0
    assert out.read_text() != "mine"
    called = bugzoo(*arguments, str(script), "--force")
    assert called.code == 2 and "the script itself" in called.err
    assert script.read_text() == OWN


def test_diff_alone_writes_nothing(bugzoo, script, tmp_path):
    called = bugzoo("break", str(script), "-f", "loop/stale_gradients", "--at", "9", "--diff")
    assert called.code == 0
    assert "-    opt.zero_grad()" in called.out
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".py"] == ["own.py"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def broken(:\n", "not valid Python"),
        ("print('no loop')\n", "is missing"),
        (None, "cannot be read"),
        (b"\xff\xfe\x00", "not UTF-8 text"),
    ],
)
def test_scripts_that_cannot_be_broken(bugzoo, tmp_path, text, said):
    path = tmp_path / "odd.py"
    if isinstance(text, bytes):
        path.write_bytes(text)
    elif text is not None:
        path.write_text(text)
    called = bugzoo("break", str(path), "-f", "loop/stale_gradients", "-o", str(tmp_path / "out.py"))
    assert called.code == 2
    assert said in called.err
    assert "Traceback" not in called.err
    assert not (tmp_path / "out.py").exists()


def test_what_is_missing_is_asked_for(bugzoo, script, tmp_path):
    assert "--fault" in bugzoo("break", str(script), "-o", "x.py").err
    assert "-o OUT" in bugzoo("break", str(script), "-f", "loop/stale_gradients").err
    nowhere = str(tmp_path / "missing" / "out.py")
    called = bugzoo("break", str(script), "-f", "loop/stale_gradients", "--at", "9", "-o", nowhere)
    assert called.code == 2 and "could not be written" in called.err
