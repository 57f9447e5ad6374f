"""What classes, helpers and the steps of a forward pass are called: `Net` as `Classifier`, `hidden` as `h`."""

from random import Random

from bugzoo.dialects._scopes import renamed

KIND = "names"
# not `write`: an instrument that runs an evaluation once more leaves one alone that calls it, as it might write to a file
USUAL = {
    "Net": ("Model", "Network", "Predictor", "MyModel"),
    "Block": ("Layer", "ResidualBlock", "EncoderLayer"),
    "Attention": ("SelfAttention", "MultiHead", "Attend"),
    "Digits": ("CachedDigits", "DigitsDataset", "PreparedDigits"),
    "hidden": ("h", "z", "activations", "feats"),
    "x": ("stream", "residual", "states"),
    "queries": ("q", "query"),
    "keys": ("k", "key_vectors"),
    "values": ("v", "value_vectors"),
    "scores": ("similarity", "attn_logits", "raw_weights"),
    "weights": ("probs", "attn", "shares"),
    "attended": ("mixed", "context_vectors", "gathered"),
    "mask": ("allowed", "visible", "keep"),
    "size": ("n", "b", "rows_in_batch"),
    "time": ("t", "length", "seq_len"),
    "head_size": ("d_head", "head_dim", "per_head"),
    "places": ("pos", "position_ids", "indices_of_places"),
    "block": ("stage", "one_block", "residual_block"),
    "embedded": ("emb", "vectors"),
    "packed": ("packed_rows", "squeezed"),
    "lengths": ("n_words", "row_lengths"),
    "cache": ("kv", "memory", "past"),
    "caches": ("kvs", "memories", "pasts"),
    "known": ("n_known", "reach"),
    "starts": ("offsets", "begins", "positions_drawn"),
    "windows": ("chunks", "slices", "pieces"),
    "character": ("char", "ch", "letter"),
    "word": ("term", "w", "entry"),
    "numbers": ("padded", "matrix", "encoded_rows"),
    "words": ("terms", "ids_of_row", "entries"),
    "batch": ("get_batch", "sample_batch", "draw_batch"),
    "encode": ("vectorise", "to_numbers", "encode_rows"),
    "collate": ("collate_rows", "pad_batch", "to_batch"),
    "evaluate": ("validate", "measure_on", "score_on"),
}


def rewrite(source: str, draw: Random) -> str | None:
    return renamed(source, USUAL, draw)
