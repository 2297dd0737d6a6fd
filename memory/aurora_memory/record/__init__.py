"""Record of a repository: what was learned of it, append-only, shared by its work trees and clones, merged by union.

`entry` is what it is made of, `record_file` the file on this machine, `repositories` whose record it is.
"""
