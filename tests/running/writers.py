"""Training scripts that write: each adds one thing to a small training, before it, at each step, and behind it."""

from dataclasses import dataclass

HEAD = """
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(128, 6)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
step = 0
"""
LOOP = """
for epoch in range(3):
    for rows in torch.randperm(128).split(16):
        loss = nn.functional.cross_entropy(net(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
"""


@dataclass(frozen=True)
class Writer:
    """`before` stands before the loop, `each` in its body, `behind` behind it."""

    before: str = ""
    each: str = ""
    behind: str = ""

    @property
    def source(self) -> str:
        return joined([self])


def joined(some: list[Writer]) -> str:
    """One script that does all of it."""
    body = "".join(f"        {line}\n" for writer in some for line in writer.each.strip().splitlines())
    before, behind = ("\n".join(getattr(writer, part).strip() for writer in some) for part in ("before", "behind"))
    return f"{HEAD}{before}\n{LOOP}{body}{behind}\n"


WRITERS = {
    "rows of a table": Writer(
        'import csv\ntable = open("log.csv", "a", newline="")\nwriter = csv.writer(table)',
        "writer.writerow([step, loss.item()])",
    ),
    "lines of JSON": Writer(
        "import json",
        'with open("runs.jsonl", "a") as lines:\n    lines.write(json.dumps({"step": step, "loss": loss.item()}) + "\\n")',
    ),
    "logging": Writer(
        'import logging\nlogging.basicConfig(filename="train.log", level=logging.INFO, format="%(message)s", force=True)',
        'logging.info("step %d loss %.6f", step, loss.item())',
    ),
    "best and last": Writer(
        'best = float("inf")',
        'torch.save({"net": net.state_dict(), "step": step}, "last.pt")\n'
        'if loss.item() < best:\n    best = loss.item()\n    torch.save(net.state_dict(), "best.pt")',
    ),
    "sqlite": Writer(
        'import sqlite3\nbase = sqlite3.connect("runs.db")\nbase.execute("PRAGMA journal_mode=WAL")\n'
        'base.execute("CREATE TABLE IF NOT EXISTS loss (step INTEGER, value REAL)")',
        'base.execute("INSERT INTO loss VALUES (?, ?)", (step, loss.item()))\nbase.commit()',
        "base.close()",
    ),
    "memmap": Writer(
        'import numpy as np\ncurve = np.memmap("curve.dat", dtype="float32", mode="w+", shape=(100,))',
        "curve[step] = loss.item()",
        "curve.flush()",
    ),
    "pickle": Writer(
        "import pickle\nhistory = []",
        'history.append(loss.item())\nwith open("history.pkl", "wb") as kept:\n    pickle.dump(history, kept)',
    ),
    "mode x": Writer("", 'if step == 5:\n    with open("once.txt", "x") as once:\n        once.write("here")'),
    "rename": Writer(
        "import os",
        'with open("state.tmp", "w") as part:\n    part.write(str(step))\nos.replace("state.tmp", "state.txt")',
    ),
    "a cache made anew": Writer(
        'import pathlib, shutil\nshutil.rmtree("cache", ignore_errors=True)\ncache = pathlib.Path("cache")\ncache.mkdir()',
        '(cache / f"{step}.txt").write_text("x")',
    ),
    "a program": Writer(
        "import subprocess", "", 'subprocess.run(["sh", "-c", "echo done >> shell.txt"], check=True)'
    ),
    "tqdm": Writer(
        "from tqdm import tqdm\nbar = tqdm(total=24)", "bar.update()", 'bar.close()\nopen("bar.txt", "w").write(str(bar.n))'
    ),
    "a bar of its own": Writer(
        "import sys", 'print(f"\\rstep {step}", end="", file=sys.stderr)', 'open("bar.txt", "w").write(str(step))'
    ),
    "a lock": Writer(
        'import fcntl\nlock = open("train.lock", "w")\nfcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)', "",
        'lock.write("mine")',
    ),
    "an exit handler": Writer(
        'import atexit\natexit.register(lambda: open("bye.txt", "a").write("bye\\n"))',
    ),
    "TensorBoard": Writer(
        'from torch.utils.tensorboard import SummaryWriter\nboard = SummaryWriter("board")',
        'board.add_scalar("loss", loss.item(), step)',
        "board.close()",
    ),
    "a server": Writer(
        "import urllib.request",
        'urllib.request.urlopen(f"http://127.0.0.1:PORT/{step}").read()',
    ),
}  # fmt: skip
RESUMING = f"""import os
{HEAD}
if os.path.exists("state.pt"):
    state = torch.load("state.pt")
    net.load_state_dict(state["net"])
{LOOP}
torch.save({{"net": net.state_dict()}}, "state.pt")
"""
"""Seeded, healthy, and it goes on where it ended: what a second start does depends on what the first one left."""
