"""Phrases (sentence templates) that answers are put together from: a set the checks were developed on, and one that
only measures.

`{n}` is a name as an answer gives it, `{s}` the short one, `{p}` its place, `{f}` its file, `{l}` its first line, `{e}`
its last, `{c}` what it calls, `{d}` another of those. The second set was written at once, in other words and forms, and
no check was changed for it afterwards; CONTRIBUTING.md says so, keep it that way.
"""

from __future__ import annotations

from msgspec import Struct


class Phrases(Struct, frozen=True):
    """Phrases of one set: about a definition, its docstring, another call; awkward ones; contradictions; inventions.

    Of `inventions`, `{i}` is the invented name and `{g}` a folder; of `contradictions`, `{w}` is a thing, `{k}` and
    `{m}` are two numbers.
    """

    questions: tuple[str, ...]
    told: tuple[str, ...]
    docs: tuple[str, ...]
    more: tuple[str, ...]
    awkward: tuple[str, ...]
    contradictions: tuple[tuple[str, str], ...]
    inventions: tuple[str, ...]


_FIRST = Phrases(
    questions=("What do {} and {} do, and what do they call?", "Compare {} with {}.", "How do {} and {} work?"),
    told=(
        "`{n}` ({p}) calls `{c}`.",
        "`{n}` is defined in `{p}` and uses `{c}`.",
        "`{n}()` at {p} then calls `{c}()`.",
        "In {p}, `{n}` invokes `{c}`.",
        "The function `{n}` starts at line {l} of {f}.",
        "- **`{n}`** — {p}: calls `{c}`.",
        "`{n}` (see {p}) is where this happens; there, `{c}` is called.",
        "{p} defines `{n}`, which uses `{c}`.",
    ),
    docs=("{t}", "Its docstring says: {t}", "`{s}`: {t}"),
    more=("`{s}` also calls `{d}`.", "Within it, `{d}` is called as well."),
    awkward=(
        "If that is too slow, I would suggest a new `cached_{s}_v2` beside it.",
        "When nothing is passed, `{s}` is not changed; otherwise it is.",
        "`{s}` is also called from other places, which were not looked at.",
        "You could consider `functools.lru_cache` for `{s}`.",
        "There is no `{s}_async` yet.",
        "Errors of `{c}` are not caught in `{s}` itself.",
        "Nothing here talks to the network, e.g. to https://example.org:8080/status.",
        "Note that `{s}` is called once for each item, and is never called for an empty list.",
    ),
    contradictions=(
        ("The {w} of `{s}` is cached.", "The {w} of `{s}` is not cached."),
        ("`{s}` calls `{c}`.", "`{s}` never calls `{c}`."),
        ("`{s}` retries {k} times.", "`{s}` retries {m} times."),
        ("`{s}` runs synchronously.", "`{s}` runs asynchronously."),
        ("The {w} is validated by `{s}`.", "The {w} isn't validated by `{s}`."),
        ("Callers of `{s}` always get a copy.", "Callers of `{s}` do not get a copy."),
        ("`{s}` returns `{c}`.", "`{s}` returns `None`."),
        ("The {w} argument is mandatory.", "The {w} argument is optional."),
    ),
    inventions=(
        "`{s}` hands the work over to `{i}`.",
        "The work itself is done by {i}().",
        "Its behaviour is set by the option `{i}=True`.",
        "It relies on `{o}.{i}` for that.",
        "Results are kept by the class `{i}`.",
        "See `{s}({i}=1)` for the details.",
        "The rest lives in {g}/{i}.py.",
        "{i} is called at the end.",
    ),
)

_SECOND = Phrases(
    questions=(
        "Explain the difference between {} and {}.",
        "Walk me through {} and then {}: where are they and what do they depend on?",
        "Where are {} and {} implemented?",
    ),
    told=(
        "The entry point is `{n}` [{f}:{l}], and it relies on `{c}` for the heavy lifting.",
        "`{n}` can be found at `{f}#L{l}-L{e}`; internally it delegates to `{c}`.",
        "Look at {f}, lines {l} to {e}: that is `{n}`.",
        "1. **{n}** (`{p}`) – goes through `{c}`.",
        "`{n}`, implemented in {f}:{l}, makes use of `{c}`.",
        "The body of `{n}` spans {f}:{l}-{e} and contains a call to `{c}`.",
        "* `{f}:{l}` — `{n}` ends up in `{c}`.",
        "Here `{n}` ({f}, line {l}) is the interesting part, because it calls `{c}` directly.",
    ),
    docs=("According to its documentation: {t}", "In short: {t}", "{t} That is what `{s}` is for."),
    more=("A second dependency of `{s}` is `{d}`.", "Besides, `{d}` shows up in its body."),
    awkward=(
        "A helper along the lines of `safe_{s}_or_default` might make callers simpler.",
        "On an empty input `{s}` does nothing, but for anything else it runs to its end.",
        "I did not check whether `{s}` is thread-safe.",
        "Be careful: `{s}` used to be slower, it no longer is since the last release.",
        "A test such as `test_{s}_with_nothing` does not exist.",
        "It takes 3 steps in the common case and 5 steps when `{c}` fails.",
        "Run `pytest -k {s}` to see it at work.",
        "Unlike in PostgreSQL, nothing here is locked; `{s}` is not meant for that.",
    ),
    contradictions=(
        ("Every {w} is written to disk by `{s}`.", "`{s}` does not write any {w} to disk."),
        ("`{s}` is safe to call from several threads.", "`{s}` isn't safe to call from several threads."),
        ("By design `{s}` keeps the {w} in memory.", "By design `{s}` never keeps the {w} in memory."),
        ("The limit of `{s}` is {k} entries.", "The limit of `{s}` is {m} entries."),
        ("`{s}` swallows errors of `{c}`.", "Errors of `{c}` are not swallowed by `{s}`."),
        ("The {w} is encrypted.", "The {w} is stored unencrypted."),
        ("`{s}` raises `{c}` on bad input.", "`{s}` raises nothing on bad input."),
        ("The {w} cache is enabled in `{s}`.", "The {w} cache is disabled in `{s}`."),
    ),
    inventions=(
        "Afterwards control returns to `{i}()`.",
        "There is also a public method `{s}.{i}()` that does the reverse.",
        "Set `{i}` in the configuration to switch it off.",
        "Internally a `{i}` object keeps track of the state.",
        "The constant {i} bounds it.",
        "`{o}` is a thin wrapper around `{i}`.",
        "Errors surface as `{i}`, which callers catch.",
        "The helper lives in `{g}/{i}.py`.",
    ),
)

_THIRD = Phrases(
    questions=(
        "What is the role of {}, and what of {}?",
        "I want to change {}; how does it relate to {}?",
        "Give me an overview of {} and {} with their locations.",
    ),
    told=(
        "You will find `{n}` in `{f}` on lines {l}-{e}; for its work it needs `{c}`.",
        "**{n}** lives at {f}:{l}. It hands its input to `{c}`.",
        "({f}:{l}) `{n}`: here the result of `{c}` is taken.",
        "`{n}` — `{p}` — wraps `{c}`.",
        "At {p} we see `{n}`; its implementation touches `{c}`.",
        "The definition of `{n}` is at `{f}:{l}`, where `{c}` gets called.",
        "Both the check and the call of `{c}` happen in `{n}` ({p}).",
        "`{n}()` → `{c}()` ({f}:{l})",
    ),
    docs=("The authors describe it so: {t}", "{t}", "Purpose of `{s}`: {t}"),
    more=("Further down, `{s}` needs `{d}` too.", "`{d}` is the other one it leans on."),
    awkward=(
        "An alternative would be a `{s}_lazy` that does its work later.",
        "Depending on the platform `{s}` blocks or does not block.",
        "Its tests were not run for this answer.",
        "The name `{s}` is a bit misleading: it does not only do that.",
        "If `{c}` raises, `{s}` does not catch it; if it returns, the value is used.",
        "In contrast to Redis or RabbitMQ, no server is needed for it.",
        "Whoever needs the opposite has to write an `un_{s}` first.",
        "One caller passes 1 argument, the others pass 2 arguments.",
    ),
    contradictions=(
        ("The {w} survives a restart.", "The {w} does not survive a restart."),
        ("`{s}` allows duplicates.", "`{s}` forbids duplicates."),
        ("Each {w} is logged in `{s}`.", "`{s}` doesn't log any {w}."),
        ("`{s}` waits {k} seconds.", "`{s}` waits {m} seconds."),
        ("`{s}` has side effects.", "`{s}` has no side effects."),
        ("The {w} is sorted.", "The {w} isn't sorted."),
        ("The default of `{s}` is `{c}`.", "The default of `{s}` is `0`."),
        ("`{s}` holds a lock on the {w}.", "No lock on the {w} is held by `{s}`."),
    ),
    inventions=(
        "Before that, `{i}` normalises the arguments.",
        "A subclass, `{i}`, overrides this.",
        "Its return type is `{i}`.",
        "`{s}` registers itself in `{i}`.",
        "With `{i}()` one gets the same for many items.",
        "The environment variable `{i}` changes that.",
        "Details are in {g}/{i}.py.",
        "All of that is driven by {i}.",
    ),
)

DEVELOPMENT = Phrases(
    *(getattr(_FIRST, name) + getattr(_SECOND, name) + getattr(_THIRD, name) for name in Phrases.__struct_fields__)
)

HELD_OUT = Phrases(
    questions=(
        "Can you tell me what {} is good for and how {} comes into it?",
        "Which code is behind {} and {}?",
        "Before I touch {} or {}, what should I know?",
    ),
    told=(
        "First, `{n}` in {f}:{l}-{e}, which gets its data from `{c}`.",
        "The code of `{n}` is here: {f}:{l}. Have a look at how it deals with `{c}`.",
        "`{f}:{l}`: `{n}` starts, and soon `{c}` follows.",
        "- {n} (`{p}`): one call of `{c}`, little else.",
        "What `{n}` does can be read in {f} from line {l} on; `{c}` does most of the job.",
        "`{n}` ({p}) applies `{c}` to what it is given.",
        "Line {l} of {f} is where `{n}` begins. A call to `{c}` is part of it.",
        "One of the callers of `{c}` is `{n}`, see {p}.",
    ),
    docs=("It is documented as follows: {t}", "As its comment puts it: {t}", "{t}"),
    more=("`{s}` also involves `{d}`.", "Note the use of `{d}` there."),
    awkward=(
        "Perhaps `{s}` could be split, for instance into `{s}_prepare` and `{s}_finish`.",
        "In most cases `{s}` returns at once, in rare cases it does not.",
        "I have not found any use of it in the documentation.",
        "Its first version was slow; the current one is not.",
        "Nobody calls `{s}` with more than 3 arguments, and most callers give it 2 arguments.",
        "Do not confuse it with the `{s}` of Kubernetes.",
        "Mocking `{s}` by `unittest.mock.patch` works.",
        "This holds for Python 3.11 and later.",
    ),
    contradictions=(
        ("`{s}` modifies its argument.", "`{s}` does not modify its argument."),
        ("A {w} can be reused after `{s}`.", "A {w} cannot be reused after `{s}`."),
        ("`{s}` keeps at most {k} items.", "`{s}` keeps at most {m} items."),
        ("The {w} is checked twice.", "The {w} is never checked twice."),
        ("`{s}` is part of the public interface.", "`{s}` is part of the private interface."),
        ("`{s}` blocks the event loop.", "The event loop is not blocked by `{s}`."),
        ("`{s}` is deprecated.", "`{s}` isn't deprecated."),
        ("The {w} is held in memory by `{s}`.", "`{s}` holds no {w} in memory."),
    ),
    inventions=(
        "Internally this is what {i} is about.",
        "It inherits from `{i}`.",
        "`{i}` is set to `True` by it.",
        "Later the value is read by `{i}()`.",
        "A decorator `@{i}` is put around it.",
        "One may pass `{i}=None`.",
        "Compare {g}/{i}.py.",
        "It raises `{i}` in that case.",
    ),
)
