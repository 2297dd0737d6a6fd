"""Cues of complexity: which wording tells how hard a question is, beside the keywords of configuration. Data for
`keywords`; pure.

Appendix G has some thirty words; these tables add how developers ask. All are of ordinary English about software, none
of any one project. A phrase is matched as whole words; `|` separates phrases.
"""

from __future__ import annotations


def phrases(text: str) -> tuple[tuple[str, ...], ...]:
    """`a b|c` as (("a", "b"), ("c",)); white space and line ends do not matter."""
    return tuple(tuple(phrase.replace("-", " ").split()) for phrase in text.split("|") if phrase.strip())


LOOKUP = phrases(
    """what is|what are|what was|what does|what do|what did|what kind|what type|what version|what port|which|where|who|
    when|list|show|define|tell me|print|give me the|how many|how much|how often|how long|how big|how old|name the|
    in which|in what|on which|from which|what|is there|are there|is|are|does|do|did|has|have|was|were|can i|can we|
    can it|find where|find the file|find the definition|find all|locate|look up|display|count|remind me"""
)
"""A clause that begins so is answered from one place."""

SMALL = phrases(
    """rename|fix the typo|fix typo|fix a typo|correct the typo|correct the spelling|add a type hint|add type hint|
    add type hints|add a docstring|add docstring|add a comment|bump|sort the imports|sort imports|format|convert|
    remove the unused|remove unused|delete the unused|translate|capitalize|reformat|indent"""
)
"""A change of one place that needs no plan."""

OPERATING = frozenset(
    """run start restart stop undo install uninstall check see list get find open view print exit quit delete rename
    set enable disable revert reset format convert kill clear launch activate log login connect know tell change clone
    switch pull push rebase squash stash escape sort count close read access show rerun skip increase upgrade lint
    regenerate generate""".split()
)
"""After "how do I": one command or setting answers it."""

EXPLAINING = phrases(
    """explain|compare|analyze|why|how come|how does|how do the|how do our|how is|how are|how did|walk me through|walk
    through|describe|difference between|differences between|the difference|pros and cons|advantages and disadvantages|
    trade offs|tradeoffs|versus|vs|what happens|what would happen|what could|what might|what causes|what caused|
    what is causing|what is wrong|what goes wrong|what is the best way|what is the right way|what is the difference|
    what are the differences|which is better|which one is better|what are the pros|summarize|outline|understand|
    show me how|tell me how|tell me why|show how|show why|give me an overview"""
)
"""Wording that asks how things hang together: two or three looks, little doubt what is meant."""

OPEN = phrases(
    """what would it take|what needs to|what steps|what should|what can we|what can be done|what do we need|what do i
    need|what approach|what strategy|what if|what about|what to do|which steps|which approach|which strategy|is it
    possible|is it worth|is it a good idea|are there any risks|what are the risks|should"""
)
"""A beginning like a look-up's that leaves open how much is asked."""

ADVICE = phrases("should|best|better|recommend|recommended|suggest|worth|ideal|appropriate|preferable|right way")
"""Wording that asks for a judgement, not a fact."""

YES_OR_NO = frozenset("is are does do did has have was were can".split())

CHANGING = frozenset(
    """add write extract simplify update change remove replace move fix debug improve handle support test document
    review analyze investigate check split merge make create configure extend log cache validate mock inline wrap
    expose reduce speed cleanup clean find trace diagnose reproduce generate patch adapt adjust deduplicate set turn
    introduce allow let show stop catch avoid prevent use switch convert rename delete verify run measure profile
    benchmark backfill deploy publish send store save upgrade downgrade pin rework extend register export import
    parse render hide display paginate sort filter document enrich refresh restore recover rotate revoke""".split()
)
"""A clause that begins so asks for a change or a look that takes a few steps."""

FAILING = phrases(
    """error|errors|exception|fails|fail|failing|failed|crash|crashes|crashing|crashed|broken|breaks|bug|bugs|wrong|
    leak|leaks|leaking|not working|does not work|do not work|is not|stopped working|no longer|slow|slower|hang|hangs|
    hanging|stuck|flaky|deadlock|race condition|instead of|undefined|segfault|timeout|timeouts|times out|timing out|
    refused|denied|unexpected|unexpectedly|regression|duplicate|duplicates|twice|403|401|404|500|502|503|504|can not"""
)
"""Wording of something that does not do what it should."""

PLANNING = phrases(
    """design|architect|re architect|rearchitect|redesign|migrate|migration|plan|rewrite|restructure|modernize|overhaul|
    consolidate|decouple|untangle|roll out|propose a|come up with|strategy|roadmap|decompose|break up"""
)
"""A clause that begins so moves something large, or begins something new."""

BUILDING = phrases(
    """implement|build|optimize|port|integrate|set up|parallelize|containerize|propose|develop|invent|scale|automate|
    refactor|replace|create|make"""
)
"""A clause that begins so does the same where what follows is large; where it is not, nobody knows without a look."""

HOW_TO_BUILD = phrases(
    """how should we|how would you structure|how would you design|how would you architect|how would you build|how
    should i structure|how should i design|how should i architect|how should the|how can we scale|how do we scale|
    how do we migrate|how to migrate|how to design|how to architect|how to structure|what is the best architecture|
    how do we move|what architecture|how would we"""
)

LARGE = phrases(
    """system|pipeline|platform|framework|architecture|infrastructure|microservices|monolith|engine|subsystem|
    multi tenant|multi tenancy|distributed|event driven|event sourcing|real time|high availability|layer|data model|
    workflow|services|marketplace|cluster|plugin|protocol|backend|application|website|compiler|interpreter|sdk|portal|
    mobile app|oauth|oauth2|sso|saml|authentication|authorization|rbac|role based|offline|i18n|internationalization|
    localization|sharding|replication|encryption|cqrs|observability|kubernetes|websockets|graphql|rest api|public api|
    rate limiting|rate limiter|full text search|recommendation|versioning|permissions|audit log|collaborative"""
)
"""What is built, added or moved is large."""

LITTLE = phrases(
    """function|method|helper|regex|class|unit test|unit tests|query|button|endpoint|script|hook|decorator|test|
    one liner|snippet|component|field|column|flag|loop|iterator|validator|getter|setter|constant|property|dropdown|
    tooltip|modal|page|dockerfile|makefile|docker image|alias|hello world|fizzbuzz|comparator|enum"""
)
"""What is built is little, whatever the verb."""

SCOPE = phrases(
    """across all|across the|across several|across multiple|across every|all services|every service|all our|whole|
    entire|codebase|code base|end to end|from scratch|without breaking|without downtime|zero downtime|no downtime|
    at scale|backwards compatible|backward compatible|backwards compatibility|multi tenant|multi region|all modules|
    every module|all tables|all endpoints|every endpoint|rollback|roll back|rollout|roll out|step by step|in phases|
    gradually|in parallel|third parties|high availability|exactly once|fault tolerant|trade offs|tradeoffs"""
)
"""Wording that widens what is asked."""

CONDITIONS = phrases("if|unless|otherwise|depending on|as long as|provided that|except|while keeping|such that|so that")
"""Wording that ties what is asked to conditions."""

IN_USE = phrases(
    """production|prod|customers|customer data|patients|patient|primary database|payments|payroll|all pods|the site|
    our site|backups|public repo|our servers|main database|all nodes"""
)
"""What people depend on now."""

PERHAPS_IN_USE = phrases("live|users|user data|payment|checkout|everyone|accounts|the database")
"""Words that mean it in some sentences."""

HARM = phrases(
    """down|outage|data loss|losing data|lost data|losing|corrupt|corrupted|corrupting|corruption|breach|breached|
    exploited|compromised|leaked|ransomware|hacked|attacked|attackers|crash looping|crash loop|unavailable|charged|
    overcharged|double charged|wiped|malware|stolen"""
)
"""What must not happen to it."""

PERHAPS_HARM = phrases(
    """lost|leaking|exposed|attack|attacks|incident|deleted|injection|unencrypted|drop|truncate|irreversible|disable|
    exploit|vulnerable|hijack"""
)
"""Words that mean harm in some sentences."""

GRAVE = phrases(
    """mission critical|safety critical|life critical|life threatening|data loss|data breach|security breach|
    being exploited|security incident|sev1|sev 1|p0|production outage|production is down|prod is down|site is down|
    production down|zero day|ransomware|remote code execution"""
)
"""Wording that is critical by itself, wherever it stands."""

ADMITTED = phrases(
    """security audit|security review|audit|vulnerability|vulnerabilities|penetration test|threat model|threat modeling|
    hipaa|gdpr|pci|sox|iso 26262|iec 62304|do 178c|legally|comply|compliance|is it safe to|safe to|disclosure|
    postmortem|post mortem|emergency stop|fail safe|life support|disaster recovery|incident response|go live|sign off|
    regulator|regulators|auditors"""
)
"""Wording of decisions others will be held to; critical together with another word of that kind, or what is in use."""
