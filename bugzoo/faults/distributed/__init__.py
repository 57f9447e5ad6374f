"""Several ranks: DDP, samplers, collectives that hang."""
