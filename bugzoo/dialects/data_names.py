"""What the data, its parts and its loaders are called: `images` as `pixels`, `order` as `permutation`."""

from random import Random

from bugzoo.dialects._scopes import renamed

KIND = "names"
USUAL = {
    "digits": ("raw", "loaded", "bunch"),
    "images": ("all_x", "pictures", "pixels"),
    "labels": ("all_y", "classes", "digit_labels"),
    "table": ("raw", "dataset", "bunch"),
    "rows": ("all_x", "measurements", "columns"),
    "values": ("all_y", "outcomes", "progressions"),
    "order": ("permutation", "shuffled", "perm"),
    "train": ("train_part", "fit_part", "train_ids"),
    "validation": ("val_part", "dev_part", "val_ids"),
    "test": ("test_part", "last_part", "test_ids"),
    "validation_loader": ("val_loader", "dev_loader", "val_batches"),
    "test_loader": ("final_loader", "test_batches"),
    "old_loader": ("first_loader", "loader_a"),
    "new_loader": ("second_loader", "loader_b"),
    "mean": ("mu", "centre", "average"),
    "std": ("sigma", "deviation", "spread_of_pixels"),
    "augment": ("jitter", "random_shift", "augmentation"),
    "normalise": ("standardise", "scale_pixels", "normalize"),
    "prepare": ("transform", "preprocess", "pipeline"),
    "train_set": ("train_data", "fit_set"),
    "validation_set": ("val_data", "val_set"),
    "text": ("corpus", "document", "raw_text"),
    "texts": ("documents", "samples"),
    "codes": ("tokens", "ids", "encoded"),
    "train_codes": ("train_tokens", "train_ids", "fit_codes"),
    "validation_codes": ("val_tokens", "val_ids", "dev_codes"),
    "lines": ("sentences", "all_lines"),
    "pairs": ("examples_all", "samples_all", "everything"),
    "sums": ("answers_all", "all_sums"),
    "counts": ("frequencies", "word_counts", "tally"),
    "frequent": ("kept_words", "common", "known_words"),
    "vocabulary": ("vocab", "word_ids", "lookup"),
}


def rewrite(source: str, draw: Random) -> str | None:
    return renamed(source, USUAL, draw, top=True)
