"""Does a logarithm of x - min(x) + 1e-9, set in after 50 steps, give NaN?"""

from bugzoo.claims._model import HOLDS, NOT, PART, Claim, Finding, Numbers, Seen
from bugzoo.claims._runs import SEEDS, ended, job, middle, of
from bugzoo.running.job import Job
from bugzoo.running.result import Run

CLAIM = Claim(
    said="log(x - x.min() + 1e-9) behind the second layer, from step 50 on, gives NaN in that layer.",
    by="Folklore of exercises on debugging; that such an epsilon is what prevents the NaN is told as often, here for torch.log",
    url="https://runebook.dev/en/docs/pytorch/generated/torch.log",
    tried=(
        "mlp, digits_cnn, finetune and regression_mlp, where a ReLU stands behind the logarithm, and modular_addition; with "
        "eps = 1e-9 and with 0, and on the mlp with the ReLU taken out, three seeds. It holds where every run with 1e-9 ends "
        "in NaN."
    ),
    limits="float32. In float16 1e-9 is zero, and then eps = 1e-9 is eps = 0.",
)
FAULT = "numerics/log_at_step?step=50&eps={}"
PROGRAMS = ("mlp", "digits_cnn", "finetune", "regression_mlp", "modular_addition")
BARE = "mlp, no ReLU behind it"
NO_RELU = "        hidden = F.relu(hidden)\n", ""


def jobs() -> dict[str, Job]:
    """Every program with both values of eps, and healthy."""
    found = {}
    for seed in SEEDS:
        for eps in ("1e-9", "0"):
            for program in PROGRAMS:
                found[f"{program} {eps} {seed}"] = job(program, FAULT.format(eps), seed=seed)
            found[f"{BARE} {eps} {seed}"] = job("mlp", FAULT.format(eps), seed=seed, changes=(NO_RELU,))
        for program in PROGRAMS:
            found[f"{program} healthy {seed}"] = job(program, seed=seed)
        found[f"{BARE} healthy {seed}"] = job("mlp", seed=seed, changes=(NO_RELU,))
    return found


def look(run: Run) -> Numbers:
    """How it ended, and where the first number was lost."""
    event = run.trace.first_non_finite()
    where = {} if event is None else {part: event.data.get(part) for part in ("module", "op", "direction")}
    return {
        **ended(run),
        "finite": run.outcome == "finished" and event is None,
        "lost_at": event and event.step,
        **where,
    }


def count(seen: Seen) -> Numbers:
    """Per program and eps the share of finite runs, what the first lost number was, and the loss beside the healthy one."""
    found: Numbers = {}
    for program in (*PROGRAMS, BARE):
        healthy = middle(of(seen, f"{program} healthy", "loss"))
        for eps in ("1e-9", "0"):
            finite, first = of(seen, f"{program} {eps}", "finite"), seen[f"{program} {eps} {SEEDS[0]}"]
            found[f"{program}, eps {eps}"] = {
                "finite_share": sum(finite) / len(finite),
                "lost_at": first["lost_at"],
                "module": first.get("module"),
                "op": first.get("op"),
                "direction": first.get("direction"),
                "times_the_loss": middle(of(seen, f"{program} {eps}", "loss")) / healthy if all(finite) else None,
            }
    return found


def verdict(numbers: Numbers) -> Finding:
    """By the runs with eps = 1e-9."""
    small = {name.removesuffix(", eps 1e-9"): one for name, one in numbers.items() if name.endswith("1e-9")}
    zero = {name: one for name, one in numbers.items() if name.endswith("eps 0")}
    lost = [name for name, one in small.items() if one["finite_share"] < 1]
    kind = HOLDS if all(one["finite_share"] == 0 for one in small.values()) else PART if lost else NOT
    worse = [one["times_the_loss"] for one in small.values() if one["times_the_loss"]]
    gone = sum(one["finite_share"] == 0 for one in zero.values())
    here = numbers["mlp, eps 0"]
    return Finding(
        kind,
        f"With eps = 1e-9 {len(small) - len(lost)} of {len(small)} networks stay finite on every seed, and the final loss is "
        f"{min(worse):.1f} to {max(worse):.1f} times the healthy one. With eps = 0 {gone} of "
        f"{len(zero)} are lost; on the mlp the first bad number is made by {here['op']} in {here['module']} "
        f"({here['direction']}, step {here['lost_at']}).",
        "What stays finite is the silent variant.",
    )
