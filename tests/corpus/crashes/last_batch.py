import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Lstm(nn.Module):
    def __init__(self, batch):
        super().__init__()
        self.embedding, self.lstm, self.out = nn.Embedding(50, 16), nn.LSTM(16, 32, batch_first=True), nn.Linear(32, 2)
        self.state = (torch.zeros(1, batch, 32), torch.zeros(1, batch, 32))

    def forward(self, ids):
        hidden, _ = self.lstm(self.embedding(ids), self.state)
        return self.out(hidden[:, -1])


data = torch.utils.data.TensorDataset(torch.randint(50, (100, 12)), torch.randint(2, (100,)))
net = Lstm(32)
optimizer = torch.optim.Adam(net.parameters())
for ids, labels in torch.utils.data.DataLoader(data, batch_size=32):
    optimizer.zero_grad()
    F.cross_entropy(net(ids), labels).backward()
    optimizer.step()
