"""Random augmentation helps with one DataLoader worker, but no longer helps with several."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

DRAW = "torch.rand(len(rows), generator=chance)"
LOADER = "train_loader = DataLoader($$$ARGS, collate_fn=drawn)"
DRAWN = "torch.randint(2**31, ()).item()"
OWN_SEED = "lambda worker: chance.manual_seed(torch.initial_seed() % 2**32)"

FAULT = Fault(
    title="Identical random augmentation in every DataLoader worker",
    level=3,
    symptom="degraded",
    edits=Swap(
        "train_loader = DataLoader($DATA, batch_size, shuffle=True, num_workers=num_workers)",
        "chance = torch.Generator().manual_seed(seed)\n\n\n"
        "def drawn(rows):  # leaves out a tenth of the samples by chance\n"
        f"    stays = {DRAW} > 0.1\n"
        "    return list(map(torch.stack, zip(*(row for row, stay in zip(rows, stays) if stay))))\n\n\n"
        "train_loader = DataLoader($DATA, batch_size, shuffle=True, num_workers=num_workers, collate_fn=drawn)",
    ),
    settings={"num_workers": 2},
    evidence=("worker_noise.identical > 0.5",),
    effect="worker_noise.identical > healthy",
    why=(
        "A worker is a copy of the training process, including its generators. The DataLoader gives each worker its "
        "own seed for torch's default generator, but not for other generators in the script or the dataset. So every "
        "worker draws the same numbers from its copy. Workers are restarted for each epoch, so the same numbers come "
        "again in every epoch."
    ),
    fix=(
        "Draw from torch's default generator in the worker, or seed the other generator in worker_init_fn from "
        "torch.initial_seed()."
    ),
    repairs=instead(
        DRAW,
        {
            "torch's own generator": "torch.rand(len(rows))",
            "in other words": "torch.empty(len(rows)).uniform_()",
            "a generator for each batch": DRAW.replace("=chance", f"=torch.Generator().manual_seed({DRAWN})"),
        },
    )
    | {"seeded by worker": Swap(LOADER, LOADER.replace("drawn)", f"drawn, worker_init_fn={OWN_SEED})"))},
    pretences={
        "another seed": Swap("torch.Generator().manual_seed(seed)", "torch.Generator().manual_seed(seed + 1)"),
        "the same for each worker": Swap(
            LOADER, LOADER.replace("drawn)", "drawn, worker_init_fn=lambda worker: chance.manual_seed(seed))")
        ),
        "NumPy's generator": (
            Swap(
                "chance = torch.Generator().manual_seed(seed)",
                "import numpy\n\nchance = numpy.random.default_rng(seed)",
            ),
            Swap(DRAW, "torch.tensor(chance.random(len(rows)))"),
        ),
        "a generator of the loader": Swap(
            LOADER, LOADER.replace("drawn)", "drawn, generator=torch.Generator().manual_seed(seed))")
        ),
    },
    hints=(
        "How many different draws does the model see in a training of several epochs?",
        "Fetch the same batch through two workers, and again in the next epoch. Compare the results.",
        "Where does each worker get its random numbers, and which state did it inherit?",
    ),
    look_alikes=(
        LookAlike(
            "reproducibility/seed_inside_loop",
            "Draw a number in the training process at two steps, and fetch one batch through two workers.",
            ("The numbers of the two steps differ, but the two workers draw the same: `worker_noise.identical > 0.5`."),
            "The numbers of the two steps are the same: `fresh_noise.seeded > 0.5`.",
        ),
        LookAlike(
            "loop/same_batch_forever",
            "Print the labels of the batches of two steps and compare them.",
            "The labels differ.",
            "The labels are the same.",
        ),
    ),
    sources=(
        "https://pytorch.org/docs/stable/notes/faq.html#my-data-loader-workers-return-identical-random-numbers",
        "https://github.com/xingyizhou/CenterNet/issues/233",
    ),
    cause=Cause(words.REPEATED, also=("repeated augmentation",)),
    terms=("augmentation", "DataLoader worker", "generator"),
)
