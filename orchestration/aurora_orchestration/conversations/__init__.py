"""Conversation logs: the complete record of every run, as Markdown (AURORA §9.7), and reports drawn from them."""
