"""Nine phases of a question (AURORA §7): one file each, one orchestrator above them."""
