"""Phrasal verbs (query expansion by synonyms): what code calls that which people say with a verb and a small word,
`sign in`, `tear down`.

Neither of the two says it alone: a word index finds signatures for `sign in` and whatever is `set` for `set up`. Code
spells such a verb as one name or has another word for it: whoever signs in is authenticated. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

_VERBS = """
    add up: sum total | back up: backup snapshot dump | boot up: boot start initialize | break up: split partition |
    build up: construct assemble accumulate | call off: cancel abort | carry on: resume continue |
    carry out: execute perform run | catch up: sync resume | check out: checkout | clean up: cleanup dispose purge |
    clear out: purge reset | close down: shutdown terminate close | cut down: shrink reduce trim |
    cut off: truncate trim | fall back: fallback default | figure out: determine detect infer |
    fill in: populate complete | fill out: populate complete | fill up: populate refill |
    find out: determine detect discover | fold up: collapse fold | free up: release free |
    give back: release return restore | give up: abort cancel abandon | go over: iterate traverse walk |
    hand out: distribute dispense assign | hand over: delegate transfer pass | hang up: disconnect close |
    hold back: suspend delay defer | hold on: wait pause | hook up: attach connect bind |
    join up: concatenate join connect | kick off: trigger launch start | kick out: evict expel |
    leave off: omit skip | leave out: omit exclude skip | line up: align | load up: load initialize |
    log in: login authenticate signin | log off: logout signout session | log on: login authenticate signin |
    log out: logout signout session | look up: lookup find resolve | make up: generate fake |
    mix up: shuffle confuse | opt in: enable consent subscribe | opt out: disable unsubscribe exclude |
    pack up: pack bundle archive | pass on: forward delegate propagate | pass over: skip ignore |
    pick out: select choose extract | pick up: collect receive resume | plug in: plugin attach register |
    point out: indicate report | print out: print dump output | put away: store archive |
    put back: restore replace | put off: postpone defer delay | read in: load parse read |
    roll back: rollback revert undo | roll out: deploy release | round down: floor truncate | round up: ceil round |
    run out: exhaust expire | scale down: shrink downscale resize | scale up: grow upscale resize |
    send back: respond return reply | send on: forward relay | send out: dispatch publish broadcast |
    set off: trigger fire | set up: setup initialize configure prepare | shut down: shutdown stop terminate close |
    shut off: disable stop | sign in: login authenticate signin | sign off: approve logout signout |
    sign on: login authenticate signin | sign out: logout signout session |
    sign up: signup register registration account | slow down: throttle delay | sort out: resolve classify sort |
    speed up: accelerate optimize | spin up: spawn launch start | split up: split partition tokenize |
    spread out: distribute scatter | start over: restart reset | start up: startup boot initialize launch |
    strike out: delete strikethrough | strip off: strip trim | sum up: sum summarize total |
    swap out: replace swap | switch off: disable deactivate | switch on: enable activate |
    switch over: toggle failover | take apart: disassemble parse decompose | take away: remove subtract |
    take back: revert undo revoke | take off: detach remove | take out: extract remove |
    take over: takeover acquire | tear down: teardown destroy dispose cleanup | throw away: discard drop |
    throw out: discard reject evict | tidy up: cleanup normalize | time out: timeout expire deadline |
    track down: locate trace | turn back: revert undo | turn off: disable deactivate | turn on: enable activate |
    use up: consume exhaust | wait on: await join | wake up: wakeup notify resume |
    warm up: warmup preload prefetch | wind down: shutdown drain | wipe out: erase delete clear |
    work out: compute calculate evaluate | wrap up: finalize finish complete | write back: flush persist writeback |
    write down: record persist log | write out: dump serialize flush | zip up: compress archive
"""
"""What people say, and what code may call it; the two words as one come besides."""


def meanings(verb: str, particle: str) -> tuple[str, ...]:
    """Words, lower-case, that code may have for such a verb, of which the first is the two as one; () where none."""
    return _known().get((verb, particle), ())


def phrases_in(words: Sequence[str]) -> list[tuple[str, str]]:
    """The phrasal verbs among lower-case words that follow each other."""
    return [pair for pair in pairwise(words) if pair in _known()]


def taken_apart(word: str) -> tuple[str, str] | None:
    """The phrasal verb that a lower-case word is (`logout`), spelled as one."""
    return _as_one().get(word)


@cache
def _known() -> dict[tuple[str, str], tuple[str, ...]]:
    known: dict[tuple[str, str], tuple[str, ...]] = {}
    for entry in _VERBS.split("|"):
        said, _, meant = entry.partition(":")
        verb, particle = said.split()
        known[verb, particle] = tuple(dict.fromkeys((verb + particle, *meant.split())))
    return known


@cache
def _as_one() -> dict[str, tuple[str, str]]:
    return {verb + particle: (verb, particle) for verb, particle in _known()}
