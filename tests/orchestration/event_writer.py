"""A process that records events for ever and says of each, once it is acknowledged, its number. Made to be killed."""

import asyncio
import sys
import time
from pathlib import Path

from aurora_deliverables.deliverables import Deliverables
from aurora_deliverables.events import Event, ToolCalled
from aurora_memory.store import Store


async def main(path: Path) -> None:
    store = await Store.open(path)
    deliverables = Deliverables(store, time.time)
    number = 0
    while True:
        batch = [Event(f"e{number + n}", f"change-{n % 3}", float(number + n), ToolCalled("bash")) for n in range(7)]
        await deliverables.record(batch)
        number += len(batch)
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


asyncio.run(main(Path(sys.argv[1])))
