"""What developers call the same thing, what they call its opposite, and which words any plan has.

A word stands for its stem and for every group of words it belongs to, so that "document" is found in "describe in the
guide". Data, and the few functions that look it up.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from aurora_memory.everyday import STOP_WORDS
from aurora_memory.tokens import terms, words

_SAME = """
document documentation describe docs readme guide page changelog write explain explanation announce tutorial manual handbook
test tests verify check prove proof assert confirm cover regression exercise simulate validate stress validation reproduce
measure benchmark profile time latency response millisecond p99 p95 performance fast slow speed quick smooth fluid throughput render rerender memoize
log logging record entry trace audit journal history
reject refuse refused turned deny block 429 discard decline throttle ban offending invalid rejects refuses
limit limiting throttle quota threshold cap bound bucket rate depth nested most below timeout deadline
authenticate authentication login signin sign auth oauth sso saml session token credential password identity account signup register registration onboarding
encrypt encryption cipher hash hashing argon2 kms hmac signature signed decrypt crypt unencrypted plain
secret credential key leaked exposed token password vault hardcoded
rotate revoke replace reissue renew invalidate evict
save store persist keep remember retain storage persistent stored saved saving database cache mirror
delete remove erase drop unlink disconnect purge anonymize anonymise deletion erasure destroy clean clear deduplicate
fix repair correct remedy mend resolve cure bug solve patch hardened rid settle close rewrite
cause reason why root diagnose regression explain
find identify locate trace detect determine discover spot pinpoint list name inventory map scan catalogue catalog inspect count single audit review
compare comparison evaluate assess weigh versus difference rank judge consider contrast evaluation choose choice
recommend recommendation decide decision pick choose select suggest propose advice conclude conclusion
upgrade bump raise update migrate port newer version migration move modernize rewrite convert import
migrate migration convert move port switch transition cutover shift swap import transfer replace rewrite backfill
deploy deployment release rollout ship publish roll serve launch canary staging production
rollback revert undo restore recovery recover back drill
notify notification alert inform alarm page mail email message announce send remind tell warn pager
monitor metrics observability dashboard panel grafana prometheus instrument counter histogram alert watch
schedule nightly cron night daily weekly monthly month periodic every
retry retries repeat again attempt backoff redeliver resend replay
fallback fall resume degrade gracefully backup alternative
cache caching cached reuse redis memoize ttl
speed faster fast parallel parallelize shard cache optimize latency quick halve performance
size small smaller big large slim reduce shrink lean
page pagination paginate paged cursor connection batch chunk stream
stream streaming batch chunk cursor memory exhausting flat
downtime outage interruption uninterrupted gradually zero rollback seamless interrupt maintenance
change changing alter modify edit altered behaviour behavior keep unchanged same stable characterization
unchanged same stable keep compatible compatibility contract public api interface signature behaviour before
async asynchronous asynchronously background queue enqueue task worker event
realtime live push websocket socket poll polling
lock locking atomic race concurrent concurrency duplicate transaction
theme dark mode palette colour color style stylesheet css prefers preference
preference system default prefers os setting choose
translate translation german japanese locale language internationalize i18n catalogue string literal
string text literal message catalogue extract
plural count icu form
keyboard mouse focus tab navigation
label screen reader assistive announce aria field
contrast colour color ratio
user customer client person people consumer owner author caller tenant member admin visitor
filter search query find narrow exclude leave
exclude filter omit leave skip except vanish hide
export download csv extract dump
upload receive accept ingest import
malware virus antivirus infected scan scanner
resize scale thumbnail dimension
immutable append readonly tamper alter deny unchangeable
who author user actor person
when timestamp time date period day
date period time timestamp day
version versioning v1 v2 release api
deprecate deprecation sunset retire warning obsolete
type hints annotate annotation typing mypy typed strict
strict mypy check typing
lint linter rule static check
ci pipeline workflow github actions build continuous runner merge commit job
hook commit precommit
config configuration setting settings option yaml
error failure fail failing exception broken break breakage crash message wrong invalid outage
message event notification payload record
unstable flaky random intermittent
quarantine isolate separate nonblocking
worst top highest
rest remaining other others
order sequence sequencing ordering step
duration long time estimate schedule effort extrapolate
estimate estimation extrapolate forecast effort compute
cost expense price pricing money
effort operational operation running operate demand maintain
sample number size users power
architecture component structure overview design layout
setup install installation set configure
run execute running
stop shutdown sigterm drain terminate graceful
timeout deadline bound context
skip affected unaffected only select omit
unknown unrecognised typo misspelled fuzzy tolerance nearest
typo misspelled misspelling fuzzy tolerance
sync synchronise synchronize synchronisation consistent current fresh feed replicate
conflict merge diverging diverge settle
offline airplane local locally device network
invoice bill receipt billing
trial free period begin
payment charge pay dunning subscription
percentage percent share gradual bucket portion
kill switch override off emergency
provision create automatically time account
automatic automatically automate itself auto
enterprise tenant business organisation organization
tenant isolation row multi
drift difference deviation diverge
lose lost losing loss missing
legal reason law compliance gdpr license
immediately once instant
autoscaling autoscaler scale scaling replica horizontal
probe health liveness readiness
security policy policies restrict permission access rights grants isolation isolate
secure security vulnerability xss csrf injection safe harden hardened
csrf forgery token
xss script escaping html injection
comment remark note
replace instead substitute swap alternative supersede
library dependency package module
dependency dependencies package third library
refactor extract split smaller unit cluster decompose simplify restructure
split separate extract own partition shard isolate
partition partitioning range shard
script scripts resumable
tag tagged git
pypi distribution upload package
changelog notes release
require required mandatory obligatory
call called caller callers calls site invoke invocation usage
usage use used usages call consumer
endpoint route url path api handler
url address receiver endpoint
watch observe monitor folder directory saved save
directory folder path
convert conversion render turn transform
expiry ttl minute expire
incoming inbound
opening open opens pixel track tracking
welcome greeting
line lines position column number
helpful precise suggest message
leak memory heap retain retention garbage
image picture photo avatar thumbnail container docker
view show display list screen visible page see
choice select selected theme option
parametrize parameter parameterize parameterized bound placeholder bind
regression test guard lint prevent
prevent reject refuse block guard
break fail breakage breaking
distribution ship shipping proprietary
proprietary closed source
dedupe deduplicate duplicate duplicates merge once unique
manual manually hand
correlation correlate trace id
mask masked redact masking anonymize hide personal
personal private pii name mail
interface ui screen frontend
"""

_PROCESS = """
add build create implement write make set up provide introduce support handle ensure need want allow enable use using used define
develop produce prepare apply work new existing current our all every code project system feature app application service module
function file class component thing way part step piece data task result results goal plan list find identify analyse analyze check
test verify review research document design measure run test tests change update improve please should must can able each any also
then so that user users people available based via own properly correctly proper right good clean finished working complete full
whole suite case cases under through against before after while without between both one two three first next previous later long
only again still just across around let lets have has give put take place keep get become report
"""

_OPPOSITES = """
add create build implement introduce install insert publish write emit enable apply put place show|remove drop delete eliminate omit never nothing disable skip without strip
enable activate allow permit turn_on|disable deactivate forbid prohibit turn_off switch_off switched_off
keep retain preserve leave stay remain continue|remove drop delete erase replace discard convert migrate rewrite rename
encrypt encrypted encryption encrypting|unencrypted plaintext plain decrypted
mask masked redact anonymize|unmasked unredacted
sign signed signature|unsigned
scan scanner scanned|unscanned
escape escaping escaped sanitize|unescaped raw
sync synchronous synchronously blocking|async asynchronous asynchronously background nonblocking enqueue queue
upgrade raise bump newer|downgrade lower older stay pin
increase raise grow extend scale_up|decrease reduce shrink lower cut
split extract smaller separate partition partitions decompose|merge combine larger unpartitioned monolithic single
include expose|exclude omit hide skip ignore leave_out
bounded bound limit limits throttle deadline quota|unbounded unlimited ever without_limit endless
retry repeat retries again|never_repeat never_retry once_only
lock locked locking atomic|lockless unlocked
eager eagerly prefetch preload join|lazy lazily
public|private
mandatory required|optional
local locally offline device|remote network online
batch batches stream streaming cursor|at_once load_all one_list
gradually gradual share percentage canary canaries stepwise|at_once immediately instantly
parallel concurrently shard runners|sequentially serially one_after_another single_runner
restrict deny refuse reject block isolate|allow permit ignore accept let
immutable append-only readonly|editable mutable edit
revoke invalidate rotate evict expire|valid forever keep
parameterized bound parametrized|concatenation concatenate concatenated
autoscaler autoscaling horizontal|fixed
virtualize paged pages cursor-based pagination|complete_lists everything all_at_once
soft|physically hard
fallback|no_fallback
"""

PROCESS = frozenset(terms(_PROCESS))
"""Stems that any plan has, whatever it is for."""


def _groups() -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, line in enumerate(_SAME.strip().splitlines()):
        for stem in terms(line):
            found.setdefault(stem, set()).add(number)
    return {stem: frozenset(numbers) for stem, numbers in found.items()}


_GROUPS = _groups()
_NONE: frozenset[int] = frozenset()


class Words(NamedTuple):
    """The telling words of a text: stems, and the groups any of them belongs to."""

    stems: frozenset[str]
    groups: frozenset[int]

    def has(self, stem: str) -> bool:
        """Whether the word, or another for the same thing, stands in the text."""
        return stem in self.stems or not self.groups.isdisjoint(groups_of(stem))

    def says(self, stem: str) -> bool:
        """Whether the very word stands in the text."""
        return stem in self.stems


def groups_of(stem: str) -> frozenset[int]:
    """The groups a stem belongs to."""
    return _GROUPS.get(stem, _NONE)


@lru_cache(maxsize=4096)
def telling(text: str) -> Words:
    """The words of a text that are not everyday English."""
    stems = frozenset(stem for word in words(text) if word not in STOP_WORDS for stem in terms(word))
    return Words(stems, frozenset(group for stem in stems for group in groups_of(stem)))


def union(texts: Iterable[str]) -> Words:
    """The telling words of several texts."""
    found = [telling(text) for text in texts]
    return Words(
        frozenset(stem for one in found for stem in one.stems),
        frozenset(group for one in found for group in one.groups),
    )


class Opposites(NamedTuple):
    """Words of one kind and of the opposite kind: stems, and phrases of several words."""

    ones: frozenset[str]
    others: frozenset[str]
    one_phrases: tuple[str, ...]
    other_phrases: tuple[str, ...]


def _sides(line: str) -> Opposites:
    one, other = (side.split() for side in line.split("|"))

    def stems(side: list[str]) -> frozenset[str]:
        return frozenset(stem for word in side if "_" not in word and "-" not in word for stem in terms(word))

    def phrases(side: list[str]) -> tuple[str, ...]:
        return tuple(word.replace("_", " ") for word in side if "_" in word or "-" in word)

    return Opposites(stems(one), stems(other), phrases(one), phrases(other))


OPPOSITES = tuple(_sides(line) for line in _OPPOSITES.strip().splitlines())
"""Pairs that cannot both be done to one thing."""
