"""What the loop counts, keeps and moves is called: `step` as `iteration`, `losses` as `history`, `optimizer` as `opt`."""

from random import Random

from bugzoo.dialects._scopes import renamed

KIND = "names"
USUAL = {
    "step": ("iteration", "global_step", "n_steps", "updates"),
    "losses": ("history", "loss_history", "train_losses", "curve"),
    "epoch": ("ep", "epoch_index", "e"),
    "optimizer": ("opt", "optim", "optimiser"),
    "scheduler": ("sched", "schedule"),
    "scaler": ("grad_scaler", "amp_scaler"),
    "sampler": ("dealer", "train_sampler"),
    "correct": ("hits", "n_correct", "right"),
    "total": ("n_seen", "seen", "n_total"),
    "summed": ("loss_sum", "running_loss", "total_loss"),
    "spread": ("variance_sum", "squares"),
    "middle": ("target_mean", "baseline"),
    "finished": ("epochs_done", "done"),
    "saved": ("state", "ckpt", "snapshot"),
    "best_loss": ("lowest", "best_so_far"),
    "best_weights": ("best_state", "kept_state"),
    "validation_loss": ("val_loss", "dev_loss"),
    "accuracy": ("acc", "share_right"),
    "backbone": ("body_parameters", "trunk"),
    "parameter": ("p", "param"),
    "groups": ("param_groups", "parameter_groups"),
    "remembered": ("old_skill", "retained"),
    "written": ("sample_loss", "own_text_loss"),
}


def rewrite(source: str, draw: Random) -> str | None:
    return renamed(source, USUAL, draw)
