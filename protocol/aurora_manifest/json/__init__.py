"""JSON with the place of everything in it: scanned, recovered from errors, scanned again after an edit (RFC 8259)."""
