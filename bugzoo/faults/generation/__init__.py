"""Text generation: KV cache, positions, dropout while sampling."""

from bugzoo.faults.model import Cause

CAUSE = Cause(
    "a KV cache that does not match the text", also=("cache", "key value cache", "kv cache", "positions while sampling")
)
