"""Two instruments that must not blame what is usual: a list of one step's tensors, an alphabet of two letters."""

from bugzoo.diagnostics import held_tensors, instrument, read, token_variety
from bugzoo.running import run_here


def verdict(name: str, source: str):
    run = run_here(source, file="script.py")
    assert run.outcome == "finished", run.trace.error
    reading = read(name, run)
    assert reading.applies, reading.why_not
    return instrument(name).judge(reading.numbers)


def test_the_log_probabilities_of_one_episode_are_no_leak() -> None:
    """As a policy gradient has them: dozens of tensors with a graph in a list that is made anew for each step."""
    usual = held_tensors.HEALTHY.source.replace(
        "        loss = F.cross_entropy(logits, targets[rows])\n",
        "        kept = [one for one in logits.log_softmax(-1)[torch.arange(len(rows)), targets[rows]]]\n"
        "        loss = -torch.stack(kept).mean()\n",
    )
    assert usual != held_tensors.HEALTHY.source
    found = verdict("held_tensors", usual)
    assert found.numbers["held"] == 32 and not found.fired
    assert verdict("held_tensors", usual.replace("kept = [", "kept = []\nfor epoch", 0)).fired is False
    grows = usual.replace("for epoch", "kept = []\nfor epoch", 1).replace("kept = [one", "kept += [one")
    assert verdict("held_tensors", grows.replace("stack(kept)", "stack(kept[-len(rows):])")).fired


def test_two_letters_beside_a_large_table_of_places_are_an_alphabet() -> None:
    bits = token_variety.SICK.source.replace("nn.Embedding(60, 4), nn.Flatten()", "nn.Embedding(2, 4), nn.Flatten()")
    assert bits != token_variety.SICK.source
    assert not verdict("token_variety", bits + "\nmodel.append(nn.Embedding(512, 3))\n").fired
    assert verdict("token_variety", token_variety.SICK.source).fired
