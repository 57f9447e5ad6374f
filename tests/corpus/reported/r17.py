"""Document regression: averaged word vectors, a regression head and dict batches."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(31)


class Documents(Dataset):
    def __init__(self, n, seed):
        g = np.random.default_rng(seed)
        self.tokens = g.integers(0, 80, (n, 30))
        value = np.linspace(-1, 1, 80)
        self.scores = 8 + 40 * value[self.tokens].mean(1) + g.normal(0, 0.5, n)

    def __len__(self):
        return len(self.scores)

    def __getitem__(self, i):
        return {"tokens": torch.from_numpy(self.tokens[i]), "label": torch.tensor([self.scores[i]], dtype=torch.float32)}


class RegressionHead(nn.Module):
    def __init__(self, dims):
        super().__init__()
        self.ff = nn.Linear(*dims)
        self.loss_fct = nn.MSELoss(reduction="none")

    def forward(self, pooled):
        return self.ff(pooled)

    def logits_to_preds(self, logits):
        return logits.squeeze(-1)

    def logits_to_loss(self, logits, label):
        return self.loss_fct(self.logits_to_preds(logits), label).mean()


class AdaptiveModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.language_model = nn.EmbeddingBag(80, 32, mode="mean")
        self.prediction_head = RegressionHead([32, 1])

    def forward(self, tokens):
        return self.prediction_head(self.language_model(tokens))


train = DataLoader(Documents(1200, 0), batch_size=32, shuffle=True)
dev = DataLoader(Documents(200, 1), batch_size=100)
model = AdaptiveModel()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
for epoch in range(8):
    for batch in train:
        logits = model(batch["tokens"])
        loss = model.prediction_head.logits_to_loss(logits, batch["label"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    preds, labels = [], []
    with torch.no_grad():
        for batch in dev:
            preds.append(model.prediction_head.logits_to_preds(model(batch["tokens"])))
            labels.append(batch["label"].flatten())
    preds, labels = torch.cat(preds), torch.cat(labels)
    r2 = 1 - ((preds - labels) ** 2).sum() / ((labels - labels.mean()) ** 2).sum()
    print(f"epoch {epoch} train loss {loss.item():.3f} dev r2 {r2:.3f}")
