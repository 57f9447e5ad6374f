"""Knowledge distillation: the teacher is trained first, then frozen; KLDivLoss + CE for the student."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
ds = TensorDataset(torch.tensor(d.data, dtype=torch.float) / 16, torch.tensor(d.target))
loader = DataLoader(ds, 64, shuffle=True)
teacher = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10))
student = nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 10))


def fit_teacher():
    o = torch.optim.Adam(teacher.parameters(), 3e-3)
    teacher.train()
    for _ in range(3):
        for a, b in loader:
            o.zero_grad()
            F.cross_entropy(teacher(a), b).backward()
            o.step()


def distil(T=3.0, alpha=0.7):
    teacher.eval()
    for p in teacher.parameters():
        p.requires_grad = False
    o = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    kl = nn.KLDivLoss(reduction="batchmean")
    for ep in range(4):
        student.train()
        tot = 0.0
        for a, b in loader:
            with torch.no_grad():
                t = teacher(a)
            s = student(a)
            soft = kl(F.log_softmax(s / T, 1), F.softmax(t / T, 1)) * T * T
            hard = F.cross_entropy(s, b)
            L = alpha * soft + (1 - alpha) * hard
            o.zero_grad()
            L.backward()
            o.step()
            tot += L.item() * len(a)
        print(ep, tot / len(ds))


fit_teacher()
distil()
