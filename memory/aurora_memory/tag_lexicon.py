"""Tag lexicon (domain keywords, topic taxonomy): words that tell of an area of work, verbs that make a role: the data
of `semantic_tags`.

Words stand here as people write them; `semantic_tags` compares their stems. A word that several areas could claim
stands in the one it tells most of, or in none.
"""

from __future__ import annotations

GENERAL = "general"
"""The domain of what tells of none."""

DOMAINS: dict[str, str] = {
    "security": """
        auth authenticate authentication authorize authorization oauth oauth2 jwt login logout signin password
        credential secret token permission role encrypt decrypt cipher crypto cryptography hash salt signature sign
        certificate tls ssl csrf xss sanitize vulnerability audit trust privilege access session""",
    "persistence": """
        database db sql sqlite postgres mysql mongo redis query table column row schema migration migrate transaction
        commit rollback cursor orm repository store storage persist save cache index record entity upsert insert""",
    "networking": """
        http https url uri socket tcp udp dns request response endpoint route router client server proxy webhook rest
        grpc rpc websocket download upload fetch header cookie retry timeout connection connect listen port host""",
    "user-interface": """
        ui view widget render component button dialog modal window layout style css theme screen page form menu icon
        click hover keyboard mouse scroll display draw paint canvas animation react vue dom terminal prompt""",
    "testing": """
        test tests spec assert mock stub fixture fake pytest unittest expect coverage hypothesis snapshot scenario
        testcase conftest benchmark""",
    "performance": """
        performance optimize optimise optimization speed fast slow latency throughput profile profiler memoize lazy
        prefetch batch vectorize bottleneck hot""",
    "build": """
        build compile compiler bundle package packaging release deploy deployment docker container image pipeline ci
        makefile install installer dependency version wheel artifact lint toolchain""",
    "configuration": """
        config configuration configure setting settings option options environment env preference default override
        flag toml yaml ini argv argparse cli profile""",
    "parsing": """
        parse parser lexer grammar syntax ast node regex pattern match scanner decode encode
        serialize deserialize json xml markdown format template""",
    "concurrency": """
        thread threading async await asyncio lock mutex semaphore queue worker pool concurrent parallel process
        deadlock race coroutine future promise channel goroutine executor schedule scheduler""",
    "data": """
        dataset dataframe array matrix vector tensor aggregate statistics mean median sort filter transform etl
        analytics numpy pandas sum histogram sample math polynomial integral derivative equation solve solver model
        train predict learning""",
    "messaging": """
        message event publish subscribe subscriber topic broker kafka mqtt notify notification listener emit dispatch
        signal inbox mail email sms push handler""",
    "observability": """
        log logging logger trace tracing telemetry metric monitor span alert health diagnostic diagnostics dashboard
        exporter""",
    "files": """
        file folder directory path read write open glob watch watcher filesystem copy move rename archive zip tar
        stream""",
    "architecture": """
        architecture design refactor refactoring module modular interface abstraction plugin extension layer
        microservice monolith decouple pattern service""",
    "documentation": """
        documentation docs readme guide tutorial manual changelog docstring comment glossary""",
}
"""Domain → its telling words. Where two domains score the same, the one that stands first here wins."""

AGENT_NOUNS: dict[str, str] = {
    "validator": "validate check verify ensure assert accept",
    "handler": "handle on receive respond answer process dispatch react",
    "parser": "parse scan read_from lex tokenize understand",
    "loader": "load open import",
    "reader": "read peek",
    "writer": "write save store persist dump flush put append record remember",
    "accessor": "get fetch lookup retrieve obtain",
    "finder": "find search locate query match select recall",
    "lister": "list iterate walk enumerate each all",
    "builder": "build create make generate compose construct prepare produce new",
    "updater": "update set change modify replace rewrite patch adjust",
    "remover": "delete remove drop clear forget discard purge pop",
    "converter": "convert transform translate map to as from cast",
    "encoder": "encode serialize pack encrypt",
    "decoder": "decode deserialize unpack decrypt",
    "formatter": "format render print show display describe draw",
    "calculator": "calculate compute count sum measure estimate score rank weigh",
    "comparator": "compare diff equals sort order",
    "predicate": "is has can should may was needs",
    "starter": "start begin launch boot init initialize setup open",
    "stopper": "stop close end shutdown exit cancel abort kill",
    "runner": "run execute call perform apply invoke do main",
    "sender": "send publish emit notify post push tell",
    "connector": "connect join link attach bind register subscribe",
    "merger": "merge combine concat join",
    "splitter": "split divide cut chunk",
    "resolver": "resolve decide choose infer",
    "collector": "collect gather accumulate aggregate",
    "filterer": "filter exclude skip ignore",
    "migrator": "migrate upgrade",
    "watcher": "watch observe monitor poll",
    "wrapper": "wrap decorate enclose",
    "copier": "copy clone duplicate",
    "indexer": "index",
    "solver": "solve integrate differentiate simplify expand factor",
}
"""Agent nouns: what a chunk is called that does such a thing. The verb is the first word of its name."""

WHOLE_ROLES: dict[str, str] = {
    "authentication-handler": "login logout signin signout authenticate auth logon signup",
    "authorization-handler": "authorize permit grant deny",
    "entry-point": "main __main__",
    "initializer": "init __init__ new constructor setup",
    "text-representation": "__repr__ __str__ repr str tostring",
    "comparison": "__eq__ __lt__ __hash__ equals compare",
}
"""Names that say the whole role by themselves."""

SPEAKING_NOUNS = frozenset(
    """
    adapter client command controller error exception factory field filter form iterator listener manager middleware
    mixin node observer plugin provider registry repository request response router scheduler serializer server service
    settings store test view visitor warning worker
    """.split()
)
"""A type whose name ends so, or in an agent noun, says its role by its name: `TokenValidator`, `HttpClient`."""

KIND_ROLES: dict[str, str] = {
    "function": "function",
    "method": "method",
    "class": "model",
    "interface": "interface",
    "struct": "record",
    "trait": "trait",
    "enum": "enumeration",
    "type": "type",
    "namespace": "namespace",
    "macro": "macro",
    "module": "module",
}
"""Roles by kind, where a chunk's name has no verb: `User`, a class, is a `user-model`."""

ACTIONS: dict[str, str] = {
    "implementation": "implement build add create make write develop introduce integrate",
    "fix": "fix repair solve debug correct resolve mend bug broken error crash failing issue problem",
    "refactoring": "refactor restructure clean rewrite simplify rename extract split reorganize modernize",
    "optimization": "optimize optimise speed faster improve tune reduce",
    "migration": "migrate upgrade port move convert switch",
    "testing": "test cover verify",
    "explanation": "explain understand describe how why what document",
    "comparison": "compare evaluate choose versus research investigate analyze analyse",
    "deployment": "deploy release publish ship",
    "removal": "remove delete drop deprecate",
    "configuration": "configure setup set install",
}
"""Actions that a question may want done, and the words that say so."""
