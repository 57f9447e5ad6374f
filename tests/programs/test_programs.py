"""Every healthy program: its stated facts, its band on 3 seeds, the phrases that it shares, and that it runs alone."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bugzoo import programs
from bugzoo.errors import UserError
from bugzoo.running import Job, run_worker
from bugzoo.scenario import with_settings
from tests.sampling import only_in_prove

ALONE = [name for name in programs.names() if name != "data_parallel"]
SCORE = {task: {"accuracy", "loss"} for task in ("classification", "language_model", "word_model")}
SCORE |= {"regression": {"r2", "loss"}}
"""What a program prints at least, by its task."""
BETTER = {"accuracy": "higher", "r2": "higher", "loss": "lower"}


def run_text(source: str, folder: Path, *argv: str) -> subprocess.CompletedProcess:
    """The script in a process of its own, one thread."""
    file = folder / "train.py"
    file.write_text(source, encoding="utf-8")
    env = dict(os.environ, OMP_NUM_THREADS="1")
    return subprocess.run(
        [sys.executable, str(file), *argv], capture_output=True, text=True, timeout=900, env=env, check=False
    )


def metrics_of(done: subprocess.CompletedProcess) -> dict[str, float]:
    assert done.returncode == 0, done.stderr[-2000:]
    return ast.literal_eval(done.stdout.strip().splitlines()[-1])


def text_of(name: str, seed: int = 0, size: str = "tiny", **settings: object) -> str:
    program = programs.load(name)
    tiny = program.tiny if size == "tiny" else {}
    return with_settings(program.source, tiny | {"seed": seed} | settings, name)


def test_all_of_them_are_there():
    names = (
        "amp_transformer checkpointed_mlp data_parallel digits_cnn finetune image_pipeline mini_transformer mlp "
        "modular_addition regression_mlp sampler sentiment_lstm sequence_classifier word_lines"
    )
    assert set(names.split()) <= set(programs.names())


def test_an_unknown_name_names_the_nearest():
    with pytest.raises(UserError, match="Did you mean digits_cnn"):
        programs.load("digit_cnn")


def test_the_loader_does_not_import_torch():
    code = "import sys; import bugzoo.programs as p; p.load('mlp'); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", programs.names())
def test_facts_are_complete(name):
    facts, tiny, settings = (getattr(programs.load(name), part) for part in ("facts", "tiny", "settings"))
    assert facts["metric"] in SCORE[facts["task"]] and facts["better"] == BETTER[facts["metric"]]
    assert {"held_out", "training", "validation"} <= facts.keys(), "without them no repair can be graded"
    assert 0 <= facts["floor"] < facts["healthy"][1]
    for band in (facts["healthy"], facts["tiny_healthy"]):
        assert band[0] < band[1]
        beaten = band[0] > facts["chance"] if facts["better"] == "higher" else band[1] < facts["chance"]
        assert beaten, "the healthy band must not reach chance level"
    assert {"seed", "device", "batch_size", "learning_rate"} <= settings.keys()
    assert settings.keys() & {"epochs", "steps"}
    assert tiny.keys() <= settings.keys(), "the tiny size may only override settings"


SHARED = """
    torch.manual_seed(seed)
    model = Net().to(device)
    step = 0
    losses = []
    model.train()
    inputs, targets =
    optimizer.zero_grad()
    step += 1
    losses.append(loss.item()
    model.eval()
    with torch.no_grad():
    metrics = {
""".split("\n")
EPOCHS = [
    "for epoch in range(epochs):",
    "for inputs, targets in train_loader:",
]
CLASSES = ["logits = model(inputs)", "loss = F.cross_entropy(logits"]
NUMBERS = ["predictions = model(inputs)", "loss = F.mse_loss(predictions, targets)"]
ATTENTION = [
    "scores = queries @ keys.transpose(-2, -1) / math.sqrt(head_size)",
    'scores = scores.masked_fill(mask == 0, float("-inf"))',
    "weights = F.softmax(scores, dim=-1)",
    "attended = weights @ values",
]


@pytest.mark.parametrize("name", programs.names())
def test_shared_phrases_are_shared(name):
    source = programs.load(name).source
    marks = [line.removeprefix("# %% ") for line in source.splitlines() if line.startswith("# %%")]
    assert [mark for mark in marks if mark != "Ranks"] == ["Settings", "Data", "Model", "Training", "Evaluation"]
    phrases = [phrase.strip() for phrase in SHARED if phrase.strip()]
    phrases += NUMBERS if programs.load(name).facts["task"] == "regression" else CLASSES
    phrases += EPOCHS if "epochs" in programs.load(name).settings else ["for _ in range(steps):"]
    phrases += ATTENTION if "class Attention" in source else []
    adam = "optimizer = torch.optim.Adam{}(model.parameters(), lr=learning_rate"
    phrases += [adam.format("W" if "weight_decay" in source else "")]
    phrases += [] if name == "amp_transformer" else ["loss.backward()", "optimizer.step()"]
    lines = [line.strip() for line in source.splitlines()]
    for phrase in phrases:
        assert any(line.startswith(phrase) for line in lines), f"{name} lacks the shared phrase {phrase!r}"


def part(name: str, start: str, stop: str) -> str:
    source = programs.load(name).source.replace("predictions = ", "logits = ")
    return source[source.index(start) : source.index(stop, source.index(start))]


@pytest.mark.parametrize(
    ("one", "other", "start", "stop"),
    [
        ("sentiment_lstm", "sequence_classifier", "def encode", "\n\n\n"),
        ("sentiment_lstm", "sequence_classifier", "random.Random(seed)", "# %% Model"),
        ("mlp", "modular_addition", "# %% Training", "print(metrics)"),
        ("mini_transformer", "sampler", "# %% Data", "# %% Model"),
        ("mini_transformer", "amp_transformer", "# %% Model", "optimizer ="),
        ("mini_transformer", "word_lines", "        scores = ", "class Block"),
        ("mlp", "data_parallel", "# %% Model", "model = "),
        ("mlp", "digits_cnn", "# %% Training", "inputs, targets = "),
        ("mlp", "finetune", "    def forward", "return self.head"),
        ("mlp", "finetune", "    model.train()", "# %% Evaluation"),
        ("mlp", "regression_mlp", "# %% Training", "logits = "),
        ("mlp", "regression_mlp", "        loss.backward()", "# %% Evaluation"),
        ("mlp", "sentiment_lstm", "# %% Evaluation", "print(metrics)"),
        ("mlp", "sequence_classifier", "# %% Evaluation", "print(metrics)"),
        ("mlp", "image_pipeline", "# %% Training", "print(metrics)"),
    ],
)
def test_what_is_copied_stays_alike(one, other, start, stop):
    assert part(one, start, stop) == part(other, start, stop)


@pytest.mark.sampled(0)
@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", programs.names())
def test_tiny_runs_end_in_their_band(name, seed, tmp_path):
    facts = programs.load(name).facts
    low, high = facts["tiny_healthy"]
    assert low <= metrics_of(run_text(text_of(name, seed), tmp_path))[facts["metric"]] <= high


@pytest.mark.slow
@pytest.mark.sampled(0)
@pytest.mark.parametrize("seed", [1, 2])  # seed 0 is below
@pytest.mark.parametrize("name", programs.names())
def test_full_runs_end_in_their_band(name, seed, tmp_path):
    facts = programs.load(name).facts
    low, high = facts["healthy"]
    assert low <= metrics_of(run_text(text_of(name, seed, "full"), tmp_path))[facts["metric"]] <= high


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mlp", only_in_prove("sentiment_lstm")])
def test_a_tiny_run_is_healthy_and_the_same_twice(name, tmp_path):
    source = text_of(name).replace("print(metrics)", "print([loss.hex() for loss in losses])\nprint(metrics)")
    first, second = run_text(source, tmp_path), run_worker(Job(source, watch=False))
    low, high = programs.load(name).facts["tiny_healthy"]
    assert low <= metrics_of(first)["accuracy"] <= high
    assert first.stdout == second.stdout


@pytest.mark.slow
@pytest.mark.sampled(0)
@pytest.mark.parametrize("name", programs.names())
def test_each_runs_as_a_module_and_ends_in_its_band(name):
    """Full size and seed 0, as `python -m` finds it; data_parallel starts its two ranks and leaves cleanly."""
    env = dict(os.environ, OMP_NUM_THREADS="1")
    process = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-m", f"bugzoo.programs.{name}"],
        capture_output=True, text=True, timeout=300, env=env, check=False,
    )  # fmt: skip
    facts, metrics = programs.load(name).facts, metrics_of(process)
    assert (
        metrics.keys() >= SCORE[facts["task"]]
        and facts["healthy"][0] <= metrics[facts["metric"]] <= facts["healthy"][1]
    )
    assert len(process.stdout.strip().splitlines()) == 1, "one line of metrics, from one rank"
