import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments

torch.manual_seed(0)
x = torch.randn(512, 12)
y = x[:, :4].argmax(1)


class Rows(Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return {"inputs": self.x[index], "labels": self.y[index]}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 4))

    def forward(self, inputs, labels=None):
        logits = self.net(inputs)
        return {"loss": F.cross_entropy(logits, labels), "logits": logits}


arguments = TrainingArguments(
    "out",
    num_train_epochs=12,
    per_device_train_batch_size=32,
    learning_rate=3e-3,
    report_to=[],
    save_strategy="no",
    use_cpu=True,
    disable_tqdm=True,
)
Trainer(model=Net(), args=arguments, train_dataset=Rows(x[:400], y[:400]), eval_dataset=Rows(x[400:], y[400:])).train()
