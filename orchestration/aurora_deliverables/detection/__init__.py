"""Detection without being told: files, commits, hooks and issues become events, with evidence."""
