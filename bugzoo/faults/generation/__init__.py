"""Text generation: KV cache, positions, dropout while sampling."""
