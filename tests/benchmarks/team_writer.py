"""Writer of a record (load generator), one of fifty, with its arguments: PATH REPOSITORY AUTHOR MACHINE CLIENT QUOTA.

Appends entries until it is killed, or until it has its quota. What was appended is written down after, in
`AUTHOR-CLIENT.appended` beside the home, so that what was said to be on the disk can be looked for. It imports little:
it is killed and begun anew all the time.
"""

from __future__ import annotations

import sys
import time
from contextlib import closing, suppress
from pathlib import Path

from aurora_memory import StoreError
from aurora_memory.record.record_file import Record
from tests.team.records import access

AT_ONCE = 100
FUNCTIONS = 50
LINE = 33
"""Bytes that an id takes where it is written down."""


def main() -> None:
    """Append until there is enough."""
    path, repository, author, machine, client, quota = sys.argv[1:]
    log = Path(path).parents[2] / f"{author}-{client}.appended"
    with log.open("ab") as file:
        file.truncate(file.tell() // LINE * LINE)  # killed while it wrote
        done = file.tell() // LINE
        while done < int(quota):
            with suppress(StoreError), closing(Record.open(Path(path), repository, author, machine)) as record:
                while done < int(quota):
                    began = time.time() + int(client) * 1e-6
                    made = record.append(access(began + n * 1e-5, f"f{n % FUNCTIONS}") for n in range(AT_ONCE))
                    file.write(b"".join(f"{each.id}\n".encode() for each in made))
                    file.flush()
                    done += len(made)


if __name__ == "__main__":
    main()
