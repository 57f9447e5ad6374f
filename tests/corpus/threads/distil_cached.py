"""Knowledge distillation with the teacher's outputs computed once, before the student is trained."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--teacher-epochs", type=int, default=12)
parser.add_argument("--student-epochs", type=int, default=25)
parser.add_argument("--alpha", type=float, default=0.9)
parser.add_argument("--temperature", type=float, default=4.0)
parser.add_argument("--batch-size", type=int, default=32)
parser.add_argument("--seed", type=int, default=0)


def get_loaders(batch_size, seed):
    x, y = load_digits(return_X_y=True)
    xtr, xte, ytr, yte = train_test_split(x / 16.0, y, test_size=0.4, stratify=y, random_state=seed)
    mk = lambda a, b: TensorDataset(torch.tensor(a, dtype=torch.float32), torch.tensor(b))
    train_dl = DataLoader(mk(xtr, ytr), batch_size=batch_size, shuffle=True, drop_last=True)
    return train_dl, DataLoader(mk(xte, yte), batch_size=256)


def mlp(*widths):
    layers = []
    for a, b in zip(widths[:-1], widths[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def kd_objective(outputs, labels, teacher_logits, alpha, T):
    soft = F.kl_div(F.log_softmax(outputs / T, dim=1), F.softmax(teacher_logits / T, dim=1), reduction="batchmean")
    return alpha * T * T * soft + (1 - alpha) * F.cross_entropy(outputs, labels)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    hits = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    return hits / len(loader.dataset)


@torch.no_grad()
def ask_teacher(teacher, loader):
    teacher.eval()
    return [teacher(x) for x, _ in loader]


def train_teacher(model, loader, epochs):
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(epochs):
        model.train()
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()


def train_student(student, teacher, loader, test_dl, args):
    opt = torch.optim.Adam(student.parameters(), lr=2e-3)
    teacher_logits = ask_teacher(teacher, loader)
    for epoch in range(1, args.student_epochs + 1):
        student.train()
        total = 0.0
        for i, (x, y) in enumerate(loader):
            out_t = teacher_logits[i]
            loss = kd_objective(student(x), y, out_t, args.alpha, args.temperature)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        if epoch % 5 == 0:
            print(f"student epoch {epoch:2d}  kd loss {total / len(loader):.3f}  test acc {evaluate(student, test_dl):.3f}")


def main():
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    train_dl, test_dl = get_loaders(args.batch_size, args.seed)
    teacher, student = mlp(64, 256, 256, 10), mlp(64, 12, 10)
    train_teacher(teacher, train_dl, args.teacher_epochs)
    print(f"teacher test acc {evaluate(teacher, test_dl):.3f}")
    train_student(student, teacher, train_dl, test_dl, args)


if __name__ == "__main__":
    main()
