"""Documentation, and in `generate/` the scripts that write the generated parts of it."""
