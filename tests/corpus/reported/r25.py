"""Knowledge distillation: a wide teacher, a narrow student, few labels."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(67)
X, y = load_digits(return_X_y=True)
X, y = torch.tensor(X, dtype=torch.float32) / 16, torch.tensor(y)
perm = torch.randperm(len(X))
tr, te = perm[:1300], perm[1300:]
loader = DataLoader(TensorDataset(X[tr], y[tr]), batch_size=65, shuffle=True)


def build(width, p):
    return nn.Sequential(nn.Linear(64, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(p), nn.Linear(width, 10))


@torch.no_grad()
def test_accuracy(model):
    was = model.training
    model.eval()
    acc = (model(X[te]).argmax(1) == y[te]).float().mean().item()
    model.train(was)
    return acc


teacher = build(256, 0.3)
opt = torch.optim.Adam(teacher.parameters(), lr=2e-3)
for _ in range(8):
    teacher.train()
    for xb, yb in loader:
        loss = F.cross_entropy(teacher(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
teacher.eval()
print(f"teacher acc {test_accuracy(teacher):.3f}")

TEMP, ALPHA = 4.0, 0.9
student = build(12, 0.0)
opt = torch.optim.Adam(student.parameters(), lr=8e-3)
for epoch in range(12):
    student.train()
    for xb, yb in loader:
        with torch.no_grad():
            soft = F.softmax(teacher(xb) / TEMP, dim=1)
        out = student(xb)
        kd = F.kl_div(F.log_softmax(out / TEMP, dim=1), soft, reduction="batchmean") * TEMP ** 2
        loss = ALPHA * kd + (1 - ALPHA) * F.cross_entropy(out, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1} distillation loss {loss.item():.3f} student acc {test_accuracy(student):.3f}")
