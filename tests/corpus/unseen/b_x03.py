# distil a wide network into a small one
import torch, torch.nn as nn, torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.manual_seed(0)
X, Y = load_digits(return_X_y=True)
Xtr, Xte, Ytr, Yte = train_test_split(X / 16, Y, test_size=0.3, random_state=0, stratify=Y)
Xtr, Xte = torch.tensor(Xtr).float(), torch.tensor(Xte).float()
Ytr, Yte = torch.tensor(Ytr), torch.tensor(Yte)

def net(width):
    return nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Dropout(0.1), nn.Linear(width, 10))

def accuracy(m):
    was = m.training
    m.eval()
    with torch.no_grad():
        a = (m(Xte).argmax(-1) == Yte).float().mean().item()
    m.train(was)
    return a

teacher = net(256)
o = torch.optim.AdamW(teacher.parameters(), lr=3e-3)
for ep in range(8):
    for idx in torch.randperm(len(Xtr)).split(64):
        o.zero_grad()
        F.cross_entropy(teacher(Xtr[idx]), Ytr[idx]).backward()
        o.step()
print("teacher", accuracy(teacher))

teacher.eval()
for p in teacher.parameters():
    p.requires_grad_(False)

T, alpha = 3.0, 0.7
student = net(16)
o = torch.optim.AdamW(student.parameters(), lr=5e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(o, T_max=20)
for ep in range(20):
    for idx in torch.randperm(len(Xtr)).split(64):
        with torch.no_grad():
            soft = F.softmax(teacher(Xtr[idx]) / T, dim=-1)
        out = student(Xtr[idx])
        kd = F.kl_div(F.log_softmax(out / T, dim=-1), soft, reduction="batchmean") * T * T
        hard = F.cross_entropy(out, Ytr[idx])
        loss = alpha * kd + (1 - alpha) * hard
        o.zero_grad(set_to_none=False)
        loss.backward()
        o.step()
    sched.step()
print("student", accuracy(student))
