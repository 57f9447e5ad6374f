"""What the settings are called: `learning_rate` as `lr`, `hidden_size` as `n_hidden`."""

from random import Random

from bugzoo.dialects._scopes import renamed

KIND = "names"
USUAL = {
    "batch_size": ("bs", "samples_per_batch", "train_batch_size"),
    "learning_rate": ("rate", "base_lr", "step_size"),
    "hidden_size": ("n_hidden", "hidden_dim", "units"),
    "weight_decay": ("decay", "wd", "l2"),
    "dropout": ("p_drop", "dropout_rate", "drop_probability"),
    "width": ("d_model", "embed_dim", "dim"),
    "heads": ("n_heads", "num_heads"),
    "layers": ("n_layers", "depth", "num_layers"),
    "context": ("block_size", "window", "max_len"),
    "longest": ("max_words", "max_length", "cut_at"),
    "reviews": ("n_reviews", "num_reviews", "how_many"),
    "negated": ("negated_share", "p_negated"),
    "contrasted": ("contrasted_share", "p_contrasted"),
    "max_norm": ("clip_at", "grad_clip", "norm_limit"),
    "tokens_per_update": ("tokens_in_update", "update_tokens"),
    "warmup": ("warmup_steps", "warm_steps"),
    "count": ("n_lines", "lines_used"),
    "share": ("train_share", "fraction"),
    "modulus": ("prime", "modulo", "n_numbers"),
    "pretraining": ("pretrain_epochs", "first_epochs"),
    "frozen": ("frozen_epochs", "epochs_frozen"),
    "slower": ("backbone_factor", "slow_factor"),
    "images_used": ("n_images", "subset_size"),
    "num_workers": ("workers", "loader_processes"),
    "checkpoint": ("checkpoint_file", "ckpt_path"),
    "prompt": ("prompt_length", "n_given"),
    "more": ("new_tokens", "n_written"),
    "data": ("data_path", "own_data"),
}


def rewrite(source: str, draw: Random) -> str | None:
    return renamed(source, USUAL, draw)
