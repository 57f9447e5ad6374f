# softmax regression with a smoothed loss display
import torch
from sklearn.datasets import load_digits

torch.manual_seed(83)
X, y = (torch.as_tensor(v) for v in load_digits(return_X_y=True))
X = torch.cat([X.float() / 16, torch.ones(len(X), 1)], 1)
W = torch.zeros(65, 10, requires_grad=True)
H = torch.nn.Linear(65, 65)
opt = torch.optim.Adam([W, *H.parameters()], lr=3e-3)

smooth = None
for epoch in range(8):
    for rows in torch.randperm(1400).split(50):
        loss = torch.nn.functional.cross_entropy(torch.relu(H(X[rows])) @ W, y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        smooth = loss if smooth is None else 0.95 * smooth + 0.05 * loss
    print(f"epoch {epoch}: {smooth:.3f}")
with torch.no_grad():
    print("accuracy", ((torch.relu(H(X[1400:])) @ W).argmax(1) == y[1400:]).float().mean().item())
