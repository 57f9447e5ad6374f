"""Recurrent layers and attention: which dimension is the batch."""

from bugzoo.contracts.model import PAGES, Call, Contract, Numbers

_F = "torch.nn.functional."
_LOSSES = tuple(
    _F + name
    for name in ("cross_entropy", "nll_loss", "binary_cross_entropy_with_logits", "binary_cross_entropy", "mse_loss")
)
FLOOR, STUCK = "loss falls little", "nothing learned"


def _batch(call: Call) -> Numbers | None:
    """Keep the sizes of what layers are fed, and compare them with the number of targets of the next loss.

    What has as many time steps as there are targets, and not as many samples, takes the batch for the time.
    """
    if call.target not in _LOSSES:
        tensor = call["input"] if "input" in call.arguments else call["query"]
        if getattr(tensor, "ndim", 0) != 3:
            return None
        first = bool(getattr(call["self"], "batch_first", False))
        time, batch = tensor.shape[1 if first else 0], tensor.shape[0 if first else 1]
        call.shared[call.site] = (call.step, time, batch, first)
        return None
    target, layers = call["target"], dict(call.shared)
    call.shared.clear()
    if getattr(target, "ndim", 0) != 1 and not (getattr(target, "ndim", 0) == 2 and target.shape[1] == 1):
        return None
    for site, (step, time, batch, first) in layers.items():
        folded = batch % len(target) == 0  # windows or channels of each sample as samples of their own
        if step == call.step and len(target) == time and batch > 1 and not folded:
            call.site = site
            return {"time": float(time), "batch": float(batch), "targets": float(len(target)), "first": str(first)}
    return None


CONTRACTS = (
    Contract(
        name="batch_first",
        on=(
            "torch.nn.RNN.forward",
            "torch.nn.LSTM.forward",
            "torch.nn.GRU.forward",
            _F + "multi_head_attention_forward",
            *_LOSSES,
        ),
        demand="Recurrent and attention layers take (time, batch, features), unless they are made with `batch_first=True`.",
        given="The layer sees {time:.0f} time steps of {batch:.0f} samples, and the loss has {targets:.0f} targets.",
        instead="Pass `batch_first=True` to the layer for (batch, time, features), or transpose the input.",
        page=PAGES + "generated/torch.nn.LSTM.html",
        kind="convention",
        measure=_batch,
        broken=lambda numbers: numbers["time"] == numbers["targets"],
        breaks=(
            "lstm, head = nn.LSTM(3, 4), nn.Linear(4, 2)\n"
            "out, _ = lstm(torch.randn(16, 7, 3))\n"
            "F.cross_entropy(head(out[:, -1]), torch.zeros(16).long())"
        ),
        keeps=(
            "lstm, head = nn.LSTM(3, 4, batch_first=True), nn.Linear(4, 2)\n"
            "F.cross_entropy(head(lstm(torch.randn(16, 7, 3))[0][:, -1]), torch.zeros(16).long())\n"
            "F.cross_entropy(head(lstm(torch.randn(16, 7, 3))[0]).flatten(0, 1), torch.zeros(16 * 7).long())\n"
            "tags = nn.LSTM(3, 2)(torch.randn(7, 1, 3))[0].view(7, 2)  # one sentence\n"
            "F.cross_entropy(tags, torch.zeros(7).long())\n"
            "windows = nn.GRU(4, 2, batch_first=True)(torch.randn(7 * 3, 7, 4))[1][0].view(7, 3, 2).mean(1)\n"
            "F.cross_entropy(windows, torch.zeros(7).long())\n"
            "x = torch.randn(16, 7, 4)\n"
            "out = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)(x)\n"
            "nn.MSELoss()(nn.GRU(4, 1)(out.transpose(0, 1))[0][-1], torch.zeros(16, 1))"
        ),
        wrong="Parts of samples are the batch, and their length happens to be the number of samples.",
        explains=("by itself",),
        causes=("recurrent/batch_first_mismatch",),
    ),
)
