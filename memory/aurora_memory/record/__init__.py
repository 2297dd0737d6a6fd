"""Record of a repository (a CRDT: a set with tombstones): what was learned of it, append-only, shared by its work trees
and clones, merged by union without conflicts.

`entry` is what it is made of, `record_file` the file on this machine, `repositories` whose record it is.
"""
