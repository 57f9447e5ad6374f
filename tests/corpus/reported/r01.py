"""Seq2seq echo bot: GRU encoder/decoder, padded targets, masked likelihood."""
import torch
from torch import nn

PAD, SOS, VOCAB, HID = 0, 1, 16, 48
torch.manual_seed(6)


def batch(n=32):
    lengths = torch.randint(2, 8, (n,))
    t = torch.arange(8)
    src = torch.randint(2, VOCAB, (n, 8))
    src[t >= lengths[:, None]] = PAD
    tgt = torch.where(src != PAD, (src - 2 + 3) % (VOCAB - 2) + 2, src)
    return src.t(), tgt.t(), (tgt != PAD).t()


def mask_nll_loss(inp, target, mask):
    n_total = mask.sum()
    cross_entropy = -torch.log(torch.gather(inp, 1, target.view(-1, 1)))
    loss = cross_entropy.masked_select(mask).mean()
    return loss, n_total.item()


class Encoder(nn.Module):
    def __init__(self, emb):
        super().__init__()
        self.emb, self.gru = emb, nn.GRU(HID, HID)

    def forward(self, src):
        return self.gru(self.emb(src))


class Decoder(nn.Module):
    def __init__(self, emb):
        super().__init__()
        self.emb, self.cell, self.out = emb, nn.GRUCell(HID, HID), nn.Linear(2 * HID, VOCAB)

    def step(self, token, h, enc, t):
        h = self.cell(self.emb(token), h)
        return torch.softmax(self.out(torch.cat([h, enc[t]], 1)), 1), h


emb = nn.Embedding(VOCAB, HID)
enc, dec = Encoder(emb), Decoder(emb)
bot = nn.ModuleList([enc, dec])
opt = torch.optim.Adam(bot.parameters(), lr=3e-3)
for it in range(1, 181):
    src, tgt, mask = batch()
    outs, h = enc(src)
    h, token, loss, shown, count = h[-1], torch.full((src.shape[1],), SOS), 0, 0.0, 0
    for t in range(tgt.shape[0]):
        prob, h = dec.step(token, h, outs, t)
        if not mask[t].any():
            break
        step_loss, n = mask_nll_loss(prob, tgt[t], mask[t])
        loss, shown, count = loss + step_loss, shown + step_loss.item() * n, count + n
        token = tgt[t]
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(bot.parameters(), 50.0)
    opt.step()
    if it % 60 == 0:
        print(f"iteration {it}: average loss {shown / count:.4f}")
