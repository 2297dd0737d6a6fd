"""`aurora dashboard`: one local page about memory, the index and deliverables. Served to this machine only."""
