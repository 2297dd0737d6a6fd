"""Phase 0: what a question is looked at for before anything else, and what may be spent (AURORA §3.1, §9.4.2)."""
