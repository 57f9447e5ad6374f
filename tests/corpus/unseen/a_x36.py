import torch
from torch import nn

# predict the next value of a chaotic map from the last four, with warm-up
torch.manual_seed(26)
x = torch.empty(3000)
x[0] = 0.3
for i in range(2999):
    x[i + 1] = 3.8 * x[i] * (1 - x[i])
windows = x.unfold(0, 5, 1)
past, nxt = windows[:, :4], windows[:, 4:]

brain = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.SGD(brain.parameters(), lr=8.0)
warm = torch.optim.lr_scheduler.LinearLR(opt, start_factor=0.001, total_iters=60)
step = 0
while step < 200:
    rows = torch.randint(0, 2500, (50,))
    gap = nn.functional.mse_loss(brain(past[rows]), nxt[rows])
    opt.zero_grad()
    gap.backward()
    opt.step()
    warm.step()
    step += 1
    if step % 20 == 0:
        print(step, "lr", warm.get_last_lr()[0], "mse", gap.item())
with torch.no_grad():
    print("held out", nn.functional.mse_loss(brain(past[2500:]), nxt[2500:]).item(), "variance", nxt.var().item())
