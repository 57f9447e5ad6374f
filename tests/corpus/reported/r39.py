"""Fine-tuning style causal LM training: collator, model with built-in loss, trainer."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(15)
PAD, EOS, VOCAB = 0, 1, 20


def corpus(pairs, n):
    """Arithmetic walks: next token = current + stride, the stride is given by the first token."""
    out = []
    for _ in range(n):
        stride, start = pairs[int(torch.randint(0, len(pairs), (1,)))]
        k = int(torch.randint(6, 12, (1,)))
        out.append(torch.tensor([stride] + [3 + (start + stride * i) % 17 for i in range(k)] + [EOS]))
    return out


def collate(seqs):
    ids = nn.utils.rnn.pad_sequence(seqs, batch_first=True, padding_value=PAD)
    labels = torch.full_like(ids, -100)
    labels[:, :-1] = ids[:, 1:]
    return {"input_ids": ids, "labels": labels.masked_fill(labels == PAD, -100)}


class GRUForCausalLM(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, d, padding_idx=PAD)
        self.rnn = nn.GRU(d, d, batch_first=True)
        self.lm_head = nn.Linear(d, VOCAB)

    def forward(self, input_ids, labels=None):
        logits = self.lm_head(self.rnn(self.embed(input_ids))[0])
        if labels is None:
            return {"logits": logits}
        shift_logits, shift_labels = logits[:, :-1], labels[:, 1:]
        loss = F.cross_entropy(shift_logits.reshape(-1, VOCAB), shift_labels.reshape(-1), ignore_index=-100)
        return {"loss": loss, "logits": logits}


@torch.no_grad()
def continuation_accuracy(model, seqs):
    hits = 0
    for s in seqs:
        cut = len(s) - 3
        hits += int(model(s[None, :cut])["logits"][0, -1].argmax()) == int(s[cut])
    return hits / len(seqs)


pairs = [(stride, start) for stride in range(2, 7) for start in range(17)]
pairs = [pairs[i] for i in torch.randperm(len(pairs))]
train, held_out = corpus(pairs[:65], 700), corpus(pairs[65:], 100)
loader = DataLoader(train, batch_size=40, shuffle=True, collate_fn=collate)
model = GRUForCausalLM()
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
for epoch in range(10):
    total = 0.0
    for batch in loader:
        out = model(**batch)
        out["loss"].backward()
        optimizer.step()
        optimizer.zero_grad()
        total += out["loss"].item()
    if epoch % 3 == 0:
        print({"epoch": epoch, "loss": round(total / len(loader), 4), "next_token_acc": round(continuation_accuracy(model, held_out), 3)})
