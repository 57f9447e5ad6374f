import torch
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader

torch.manual_seed(62)
pics, names = load_digits(return_X_y=True)
pics = torch.tensor(pics, dtype=torch.float32) / 16
names = torch.tensor(names)

pic_loader = DataLoader(pics[:1500], batch_size=50, shuffle=True)
name_loader = DataLoader(names[:1500], batch_size=50, shuffle=True)


class Perceptron(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w1 = torch.nn.Linear(64, 48)
        self.w2 = torch.nn.Linear(48, 10)

    def forward(self, p):
        return torch.log_softmax(self.w2(torch.relu(self.w1(p))), dim=-1)


brain = Perceptron()
teacher = torch.optim.SGD(brain.parameters(), lr=0.05, momentum=0.9)
for day in range(6):
    for p, n in zip(pic_loader, name_loader):
        wrongness = torch.nn.functional.nll_loss(brain(p), n)
        teacher.zero_grad()
        wrongness.backward()
        teacher.step()
    with torch.no_grad():
        print("day", day, wrongness.item(), (brain(pics[1500:]).argmax(1) == names[1500:]).float().mean().item())
