"""Training scripts that use less common parts of torch, as text; the rest are in `styles.py`."""

CHECKPOINTED = """
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
torch.manual_seed(0)
block = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Dropout(0.3), nn.Linear(24, 6))
head = nn.Linear(6, 3)
opt = torch.optim.AdamW([*block.parameters(), *head.parameters()], lr=0.01)
record = []
for _ in range(30):
    x, y = torch.randn(12, 6), torch.randint(0, 3, (12,))
    opt.zero_grad()
    cost = nn.functional.cross_entropy(head(checkpoint(block, x, use_reentrant=False)), y)
    cost.backward()
    opt.step()
    record.append(cost.item())
"""

REENTRANT = CHECKPOINTED.replace("use_reentrant=False", "use_reentrant=True").replace(
    "x, y = torch.randn(12, 6)", "x, y = torch.randn(12, 6).requires_grad_()"
)

BY_HAND = """
import torch
from torch import nn
from torch.autograd import grad as slope
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), lr=0.05)
record = []
for _ in range(30):
    x = torch.randn(8, 4)
    gap = (net(x) - x[:, :2]).pow(2).mean()
    for p, g in zip(net.parameters(), slope(gap, net.parameters())):
        p.grad = g
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    opt.step()
    record.append(gap.item())
"""

THREADED = """
import threading
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
record = []
def work():
    for _ in range(30):
        x = torch.randn(8, 4)
        opt.zero_grad()
        off = (net(x) - x[:, :2]).pow(2).mean()
        off.backward()
        opt.step()
        record.append(off.item())
thread = threading.Thread(target=work)
thread.start()
thread.join()
del thread
"""

DISTILLED = """
import torch
from torch import nn
torch.manual_seed(0)
teacher, student = nn.Linear(5, 3), nn.Sequential(nn.Linear(5, 9), nn.GELU(), nn.Dropout(0.1), nn.Linear(9, 3))
slow = torch.optim.SGD(student[0].parameters(), lr=0.01)
fast = torch.optim.Adam(student[3].parameters(), lr=0.05)
teacher.eval()
record = []
for _ in range(25):
    x = torch.rand(10, 5)
    with torch.no_grad():
        wanted = teacher(x).softmax(-1)
    gap = nn.functional.kl_div(student(x).log_softmax(-1), wanted, reduction="batchmean")
    for o in (slow, fast):
        o.zero_grad()
    gap.backward()
    slow.step()
    fast.step()
    record.append(gap.item())
"""

SECOND_ORDER = """
import torch
torch.manual_seed(0)
w = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(w.parameters(), lr=0.05)
record = []
for _ in range(20):
    x = torch.randn(6, 3, requires_grad=True)
    out = w(x)
    slope, = torch.autograd.grad(out.sum(), x, create_graph=True)
    penalised = out.pow(2).mean() + (slope.norm(dim=1) - 1).pow(2).mean()
    opt.zero_grad()
    penalised.backward()
    opt.step()
    record.append(penalised.item())
"""

MORE = {
    "checkpointed": CHECKPOINTED, "reentrant": REENTRANT, "threaded": THREADED, "distilled": DISTILLED,
    "second_order": SECOND_ORDER,
}  # fmt: skip

COMPILED = CHECKPOINTED.replace("checkpoint(block, x, use_reentrant=False)", "block(x)").replace(
    "head = nn.Linear(6, 3)", "block = torch.compile(block, backend='eager')\nhead = nn.Linear(6, 3)"
)
"""Without a C++ compiler: the graph is traced by dynamo, and run as it is."""
