"""`torch.utils.data`: loaders that give nothing, or the same again."""

from torch.utils.data import IterableDataset

from bugzoo.contracts.model import PAGES, Call, Contract, Numbers

_D = "torch.utils.data."
_ITER = _D + "DataLoader.__iter__"
_PAGE = PAGES + "data.html"
DATA = "from torch.utils.data import DataLoader, Dataset, DistributedSampler, IterableDataset, get_worker_info, random_split\n"
TRAIN = (
    "import torch\nmodel = torch.nn.Linear(1, 1)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    "sampler = DistributedSampler(range(8), num_replicas=2, rank=0)\nloader = DataLoader(range(8), sampler=sampler)\n"
)


def _size(call: Call) -> Numbers | None:
    loader = call["self"]
    if isinstance(loader.dataset, IterableDataset) or not loader.drop_last or loader.batch_size is None:
        return None
    return {"batches": float(len(loader)), "samples": float(len(loader.sampler)), "batch": float(loader.batch_size)}


def _used_up(call: Call) -> Numbers | None:
    iterator = call["self"]
    if isinstance(iterator._dataset, IterableDataset):
        return None
    return {"given": float(iterator._num_yielded), "batches": float(len(iterator._index_sampler))}


def _epoch(call: Call) -> Numbers | None:
    """Look whether a sampler that training reads starts again with the epoch number of the pass before."""
    sampler, steps, shared = call["self"], call.made, call.shared
    if shared.get("sampler") is not None and steps > shared["made"]:
        shared["sampler"]["trains"] = True
    notes = call.about(sampler)
    before, notes["epoch"], notes["passes"] = notes.get("epoch"), sampler.epoch, notes.get("passes", 0) + 1
    shared.update(sampler=notes, made=steps)
    if not sampler.shuffle or not notes.get("trains"):
        return None
    return {"epoch": float(sampler.epoch), "passes": float(notes["passes"]), "same": float(before == sampler.epoch)}


CONTRACTS = (
    Contract(
        name="loader_without_batches",
        on=(_ITER,),
        demand="`drop_last=True` drops a last batch that is not full, even if it is the only one.",
        given="{samples:.0f} samples make {batches:.0f} batches of {batch:.0f}: the loop over the loader has no pass.",
        instead="Pass a smaller `batch_size`, or `drop_last=False`.",
        page=_PAGE + "#torch.utils.data.DataLoader",
        kind="shape",
        measure=_size,
        broken=lambda numbers: numbers["batches"] == 0 and numbers["samples"] > 0,
        breaks=DATA + "for batch in DataLoader(range(5), batch_size=8, drop_last=True): pass",
        keeps=DATA + "for batch in DataLoader(range(9), batch_size=8, drop_last=True): pass",
        wrong="One of many loaders, such as for a class or a client, may have less than a batch on purpose.",
        explains=("by itself",),
    ),
    Contract(
        name="loader_iterator_used_up",
        on=(_D + "dataloader._BaseDataLoaderIter.__iter__",),
        demand="`iter(loader)` makes one pass; an iterator that has ended gives nothing in a second loop.",
        given="The iterator has given {given:.0f} of its {batches:.0f} batches when a loop over it begins.",
        instead="Loop over the loader itself, or call `iter(loader)` again for each epoch.",
        page="https://docs.python.org/3/glossary.html#term-iterator",
        kind="used twice",
        measure=_used_up,
        broken=lambda numbers: numbers["given"] >= numbers["batches"] > 0,
        breaks=DATA + "batches = iter(DataLoader(range(4)))\nfor epoch in range(2):\n    for batch in batches: pass",
        keeps=DATA + "batches = iter(DataLoader(range(4)))\nfirst = next(batches)\nfor batch in batches: pass",
        wrong="A loop over what is left, which may be nothing.",
        explains=("by itself",),
    ),
    Contract(
        name="distributed_set_epoch",
        on=(_D + "DistributedSampler.__iter__",),
        demand="`sampler.set_epoch(epoch)` is called before each epoch, or `DistributedSampler` gives the same order again.",
        given="Pass {passes:.0f} over the sampler has the epoch number {epoch:.0f}, as the pass before.",
        instead="Call `sampler.set_epoch(epoch)` as the first line of the epoch.",
        page=_PAGE + "#torch.utils.data.distributed.DistributedSampler",
        kind="order of calls",
        measure=_epoch,
        broken=lambda numbers: numbers["same"] > 0,
        breaks=DATA + TRAIN + "for epoch in range(4):\n    for batch in loader: optimizer.step()",
        keeps=(
            DATA + TRAIN + "val = DataLoader(range(8), sampler=DistributedSampler(range(8), num_replicas=2, rank=0))\n"
            "for epoch in range(4):\n    sampler.set_epoch(epoch)\n    for batch in loader: optimizer.step()\n"
            "    for batch in val: pass"
        ),
        wrong="Several passes over the data within one epoch.",
        explains=("by itself",),
        causes=("distributed/set_epoch_missing",),
    ),
)
