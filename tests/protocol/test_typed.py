"""Decoding into types from many threads at once, each type for the first time: msgspec alone crashes the process."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from aurora_protocol import typed
from tests.shares import examples

RACE = """
import random, sys, threading, time, types
import msgspec
from aurora_protocol import typed

sys.setswitchinterval(1e-6)
fields = "".join(f"    f{i}: 'dict[str, tuple[int, ...]] | None' = None\\n" for i in range(30))
source = f"class S(msgspec.Struct):\\n{fields}class T(msgspec.Struct):\\n    a: S\\n    b: 'list[S]'\\n{fields}"
value = {"a": {"f1": {"x": [1]}}, "b": [{}], "f29": {"x": [2]}}
done = []
for n in range(TYPES):
    module = types.ModuleType(f"m{n}")
    module.msgspec = msgspec
    sys.modules[module.__name__] = module
    exec(source, module.__dict__)

    def use(work, kind, given):
        time.sleep(random.random() * 0.003)
        work(given, kind)
        done.append(n)

    uses = [(WAY.convert, module.T, value), (WAY.convert, module.T, value), (WAY.convert, module.S, value["a"])]
    threads = [threading.Thread(target=use, args=each) for each in uses]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print(len(done))
"""


@pytest.mark.hypothesis
def test_a_type_is_learned_by_one_thread_and_used_by_many() -> None:
    types = examples(160)
    race = RACE.replace("WAY", "typed").replace("TYPES", str(types))
    ran = subprocess.run([sys.executable, "-c", race], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, f"{3 * types}\n"), ran.stderr[-500:]


class Inner(msgspec.Struct):
    n: int


class Outer(msgspec.Struct):
    inner: Inner
    many: tuple[Inner, ...] = ()


def test_values_and_json_become_what_is_asked_for() -> None:
    given = {"inner": {"n": 1}, "many": [{"n": 2}]}
    whole = Outer(Inner(1), (Inner(2),))
    assert typed.convert(given, Outer) == whole == typed.decode(msgspec.json.encode(given), Outer)
    assert typed.decode('{"a": [1]}') == {"a": [1]}
    assert typed.decoder(dict[str, int]).decode('{"a": 1}') == {"a": 1}
    assert typed.convert("5", int | None, strict=False) == 5


@pytest.mark.parametrize("kind", [Outer, list[Outer], dict[str, Outer]])
def test_what_does_not_fit_is_refused(kind: type) -> None:
    for _ in range(2):
        with pytest.raises(msgspec.ValidationError):
            typed.convert(5, kind)
