"""Reverse a string: encoder-decoder with padding on both sides."""
import torch
from torch import nn

PAD, BOS, EOS, V, D = 0, 1, 2, 13, 48


def batch(n):
    src = torch.zeros(n, 9, dtype=torch.long)
    tgt = torch.zeros(n, 11, dtype=torch.long)
    tgt[:, 0] = BOS
    for i in range(n):
        k = int(torch.randint(3, 10, ()))
        w = torch.randint(3, V, (k,))
        src[i, :k] = w
        tgt[i, 1:k + 1] = w.flip(0)
        tgt[i, k + 1] = EOS
    return src, tgt


class Seq2Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.ps, self.pt = nn.Embedding(V, D, padding_idx=PAD), nn.Embedding(9, D), nn.Embedding(10, D)
        self.core = nn.Transformer(D, 4, 1, 1, 96, dropout=0.0, batch_first=True)
        self.head = nn.Linear(D, V)

    def forward(self, s, t):
        causal = torch.ones(t.shape[1], t.shape[1], dtype=torch.bool).triu(1)
        hid = self.core(
            self.e(s) + self.ps.weight, self.e(t) + self.pt.weight[: t.shape[1]], tgt_mask=causal, tgt_is_causal=True,
            src_key_padding_mask=s == PAD, memory_key_padding_mask=s == PAD, tgt_key_padding_mask=t == PAD,
        )
        return self.head(hid)


def main(steps=260):
    torch.manual_seed(4)
    net = Seq2Seq()
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    lossf = nn.CrossEntropyLoss(ignore_index=PAD)
    for k in range(steps):
        for g in opt.param_groups:
            g["lr"] = 3e-3 * min((k + 1) / 40, 1.0)
        s, t = batch(24)
        opt.zero_grad()
        loss = lossf(net(s, t[:, :-1]).flatten(0, 1), t[:, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        if k % 70 == 0:
            print(k, loss.item())
    net.eval()
    with torch.no_grad():
        s, t = batch(200)
        ok = (net(s, t[:, :-1]).argmax(-1) == t[:, 1:])[t[:, 1:] != PAD].float().mean()
    print("tokens right", ok.item())


main()
