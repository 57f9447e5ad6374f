"""Recurrent networks: hidden state, packing, padding, batch_first."""
