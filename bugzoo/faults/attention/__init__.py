"""Attention: masks, scaling, heads, position embeddings."""
