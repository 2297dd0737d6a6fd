import pytest

from aurora_memory.tokens import MAX_WORD, plain_terms, split_word, terms, words


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("login", ("login",)),
        ("getUser", ("get", "user", "getuser")),
        ("get_user", ("get", "user", "getuser")),
        ("HTTPResponse", ("http", "response", "httpresponse")),
        ("parseHTTPResponse2", ("parse", "http", "response", "2", "parsehttpresponse2")),
        ("ETag", ("e", "tag", "etag")),  # and so the whole is found where it is written as one
        ("utf8", ("utf", "utf8")),
        ("SCREAMING_CASE", ("screaming", "case", "screamingcase")),
        ("__init__", ("init",)),
        ("größeÄndern", ("grosse", "andern", "grosseandern")),
        ("Łódź", ("lodz",)),
        ("ﬁle", ("file",)),
        ("ёлка", ("ёлка",)),
    ],
)
def test_an_identifier_says_its_words(word: str, pieces: tuple[str, ...]) -> None:
    assert split_word(word) == pieces


def test_styles_of_one_name_share_every_term() -> None:
    assert set(terms("expandUrlTemplate")) == set(terms("expand_url_template")) == set(terms("ExpandURLTemplate"))


def test_terms_are_stemmed_and_words_are_not() -> None:
    assert terms("expanding templates") == terms("expand template")
    assert words("expanding templates") == ["expanding", "templates"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("café", "cafe"), ("re\u0301sume\u0301", "résumé"), ("ＡＰＩ", "api"), ("Ελλάδα", "ΕΛΛΑΔΑ"), ("ﾊﾟｽ", "パス")],
)
def test_letters_fold(one: str, other: str) -> None:
    assert terms(one) == terms(other)


@pytest.mark.parametrize(("one", "other"), [("й", "и"), ("が", "か"), ("파", "바")])
def test_a_mark_that_makes_another_letter_stays(one: str, other: str) -> None:
    assert terms(one) != terms(other)


def test_text_without_spaces_is_pairs_of_characters() -> None:
    assert terms("ユーザー認証を行う") == ["ユー", "ーザ", "ザー", "ー認", "認証", "証を", "を行", "行う"]
    assert terms("JWT検証v2 検") == ["jwt", "検証", "v", "2", "検"]
    assert words("ユーザー認証を行う") == ["ユーザー認証を行う"]
    assert words("認証" * MAX_WORD) == ["認証" * MAX_WORD]
    assert terms("認証" * MAX_WORD)[:3] == ["認証", "証認", "認証"]


def test_data_is_not_words() -> None:
    assert terms("x" * (MAX_WORD + 1)) == []


def test_a_plain_word_is_split_as_any_text() -> None:
    for word in ("expanding", "_private", "__init__", "HTTPServer", "sha256", "a_b", "___", "x" * 81, "_" + "x" * 80):
        assert plain_terms(word) == tuple(terms(word))
