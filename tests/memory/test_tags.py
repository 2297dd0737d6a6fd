"""Tags told from names and words: roles, domains, keywords."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora_memory.chunks import MODULE_NAME
from aurora_memory.semantic_tags import code_tags, domain_of, keywords_of, knowledge_tags, pattern_name, reasoning_tags
from aurora_memory.tag_lexicon import ACTIONS, AGENT_NOUNS, DOMAINS, KIND_ROLES, WHOLE_ROLES


@pytest.mark.parametrize(
    ("name", "kind", "path", "role"),
    [
        ("AuthService.login", "method", "src/auth.py", "authentication-handler"),
        ("validate_token", "function", "src/auth/token_manager.py", "token-validator"),
        ("TokenValidator", "class", "a.ts", "token-validator"),
        ("User", "class", "models.py", "user-model"),
        ("parseHTTPResponse", "function", "net.ts", "http-response-parser"),
        ("Config.load", "method", "x.py", "config-loader"),
        ("Parser.parse", "method", "x.py", "parser"),
        ("AuthService.__init__", "method", "src/auth.py", "auth-service-initializer"),
        ("test_login_fails", "function", "tests/test_auth.py", "login-fails-test"),
        ("solve", "function", "calc.py", "calc-solver"),
        (MODULE_NAME, "module", "src/db/session.py", "session-module"),
        ("Color", "enum", "a.rs", "color-enumeration"),
        ("operator()", "method", "a.cpp", "operator-method"),
        ("HttpClient", "class", "a.ts", "http-client"),
        ("Server.Login", "method", "a.go", "authentication-handler"),
        ("load_settings_for_user", "function", "a.py", "settings-user-loader"),
        ("parse_parser", "function", "a.py", "parser"),
    ],
)
def test_roles(name: str, kind: str, path: str, role: str) -> None:
    assert code_tags(name, kind, path).semantic_role == role


@pytest.mark.parametrize(
    ("name", "path", "doc", "calls", "domain"),
    [
        ("login", "src/auth.py", "", ["check_password"], "security"),
        ("save_rows", "src/store.py", "Insert rows into the table.", ["execute"], "persistence"),
        ("send_request", "client.py", "", ["http.post"], "networking"),
        ("LoginButton", "Button.tsx", "A button.", ["render"], "user-interface"),
        ("test_sum", "tests/test_sum.py", "", [], "testing"),
        ("tokenize", "grammar/lexer.py", "", ["match"], "parsing"),
        ("load_settings", "config.py", "", ["getenv"], "configuration"),
        ("frobnicate", "x.py", "", ["log"], "general"),
        ("frobnicate", "x.py", "Takes a token.", [], "general"),
        ("frobnicate", "auth/x.py", "", [], "general"),
        ("frobnicate", "auth/x.py", "Takes a token.", [], "security"),
        (MODULE_NAME, "src/login.py", "", [], "security"),
    ],
)
def test_domains(name: str, path: str, doc: str, calls: list[str], domain: str) -> None:
    assert code_tags(name, "function", path, doc, (), calls).domain == domain


def test_a_lone_call_makes_no_domain() -> None:
    assert domain_of([("database", 1.0)]) == "general"
    assert domain_of([("database", 3.0)]) == "persistence"
    assert domain_of([("database", 2.0)]) == "persistence", (
        "what counts as much as a word of the class around it will do"
    )
    assert domain_of([("database", 1.5)]) == "general", "a lone word of the path will not"
    assert domain_of([]) == "general"


@pytest.mark.parametrize(
    ("words", "domain"),
    [
        ("auth login password token permission encrypt certificate", "security"),
        ("database sqlite query table migration transaction repository upsert", "persistence"),
        ("http url socket request endpoint proxy client server timeout", "networking"),
        ("widget render button dialog css screen keyboard", "user-interface"),
        ("assert mock fixture pytest coverage benchmark", "testing"),
        ("optimize latency throughput profiler memoize", "performance"),
        ("compile bundle release docker pipeline wheel", "build"),
        ("config settings environment flag toml argparse", "configuration"),
        ("parse lexer grammar ast regex serialize", "parsing"),
        ("thread async lock queue worker pool deadlock coroutine scheduler", "concurrency"),
        ("dataframe matrix statistics median histogram train", "data"),
        ("event publish subscribe broker kafka notify signal", "messaging"),
        ("log trace telemetry metric alert dashboard", "observability"),
        ("file folder path glob watch rename archive stream", "files"),
        ("architecture refactor module plugin monolith", "architecture"),
        ("readme guide tutorial changelog", "documentation"),
    ],
)
def test_the_words_that_people_use_for_an_area_tell_of_it_alone(words: str, domain: str) -> None:
    """A question of one such word is about that area, and not about another that could claim it."""
    assert {word: domain_of([(word, 3.0)]) for word in words.split()} == dict.fromkeys(words.split(), domain)


def test_keywords_rank_by_how_often_a_word_stands() -> None:
    text = "Tokens expire. A token is refreshed before it expires; the refresh window is short. Tokens, tokens."
    found = keywords_of("", [text])
    assert found[0] == "tokens" and set(found[1:3]) == {"expire", "refreshed"}
    assert len(keywords_of("Research on oauth providers", [text])) == 7


@pytest.mark.parametrize(
    ("title", "texts", "found"),
    [
        pytest.param(
            "Login", ["token token token"], ("login", "token"), id="the title's before what stands more often"
        ),
        pytest.param("", ["expires expired expire"], ("expires",), id="of one stem as it was spelled first"),
        pytest.param("", ["an IP of a host"], ("host",), id="two letters tell nothing"),
        pytest.param("", ["router 404 port"], ("router", "port"), id="neither does a number, and ties are in order"),
    ],
)
def test_which_words_tell_of_a_text(title: str, texts: list[str], found: tuple[str, ...]) -> None:
    assert keywords_of(title, texts) == found


def test_of_two_areas_that_a_text_speaks_for_as_much_the_one_that_is_listed_first_is_its_own() -> None:
    assert domain_of([("table password", 3.0)]) == domain_of([("password table", 3.0)]) == "security"


def test_a_question_that_says_no_more_than_what_is_to_be_done_is_known_by_that() -> None:
    assert reasoning_tags("fix it").keywords == ("fix",)
    assert reasoning_tags("fix it").semantic_role == "fix-decomposition-pattern"
    assert reasoning_tags("fix the parser").keywords == ("parser",)


def test_reasoning_of_the_specifications_example() -> None:
    tags = reasoning_tags("Build OAuth2 authentication", ["Research OAuth2 providers", "Implement token validation"])
    assert tags.semantic_role == "oauth2-decomposition-pattern"
    assert tags.domain == "security"
    assert 5 <= len(tags.keywords) <= 7 and {"oauth2", "authentication", "token"} <= set(tags.keywords)


def test_knowledge_tags() -> None:
    tags = knowledge_tags("OAuth2 provider comparison", ["Auth0 supports social providers."])
    assert (tags.semantic_role, tags.domain) == ("oauth2-provider-knowledge", "security")


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("Implement OAuth2 authentication", "oauth2-authentication-implementation"),
        ("build OAuth2 authentication!", "oauth2-authentication-implementation"),
        ("Fix the database migration issue", "database-migration-issue-fix"),
        ("Why is the cache slow?", "cache-slow-explanation"),
        ("???", "query"),
    ],
)
def test_pattern_names(query: str, name: str) -> None:
    assert pattern_name(query) == name


@given(st.text(max_size=40), st.sampled_from(sorted(KIND_ROLES)), st.text(max_size=40), st.text(max_size=80))
def test_any_chunk_gets_tags_a_document_can_hold(name: str, kind: str, path: str, doc: str) -> None:
    tags = code_tags(name, kind, path, doc, doc.split()[:9], [name])
    assert tags == code_tags(name, kind, path, doc, doc.split()[:9], [name])
    assert 1 <= len(tags.semantic_role) <= 200
    assert tags.domain in DOMAINS or tags.domain == "general"
    assert len(tags.keywords) <= 7


@given(st.text(max_size=200))
def test_any_question_gets_a_name_an_id_can_hold(query: str) -> None:
    name = pattern_name(query)
    assert name and not any(letter.isspace() or letter == ":" for letter in name)
    assert reasoning_tags(query).semantic_role


def test_tables_hold_words_once_an_entry() -> None:
    for table in (DOMAINS, ACTIONS, AGENT_NOUNS, WHOLE_ROLES):
        for entry, words in table.items():
            assert words.split(), entry
            assert len(set(words.split())) == len(words.split()), entry
