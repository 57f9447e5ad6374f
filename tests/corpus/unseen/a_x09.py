# word vectors by negative sampling; no loss module, no zero_grad
import torch
from torch.nn.functional import logsigmoid

torch.manual_seed(50)
# eight "themes" of ten words each; neighbours are mostly of one theme
theme = torch.randint(0, 8, (4000,)).repeat_interleave(5)
stream = theme * 10 + torch.randint(0, 10, (len(theme),))
centre, around = stream[:-1], stream[1:]

inside = torch.nn.Parameter(0.1 * torch.randn(80, 16))
outside = torch.nn.Parameter(0.1 * torch.randn(80, 16))
mover = torch.optim.Adam([inside, outside], lr=0.02)

for turn in range(200):
    pick = torch.randint(0, len(centre), (256,))
    u = inside[centre[pick]]
    good = (u * outside[around[pick]]).sum(-1)
    bad = torch.einsum("bd,bkd->bk", u, outside[torch.randint(0, 80, (256, 5))])
    misfit = -(logsigmoid(good) + logsigmoid(-bad).sum(-1)).mean()
    misfit.backward()
    mover.step()
    inside.grad = outside.grad = None
    if turn % 50 == 0:
        print(turn, misfit.item())

unit = torch.nn.functional.normalize(inside.detach(), dim=1)
near = (unit @ unit.T).fill_diagonal_(-1).argmax(1)
print("nearest word of the same theme:", (near // 10 == torch.arange(80) // 10).float().mean().item())
