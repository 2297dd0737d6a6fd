"""Kept words of a request, possible secrets behind placeholders: a model sees `[KEPT-1]` and may place it; the word is
filled in here.

Phrasings of a secret have no end, so this asks for none: where a request has to do with signing in at all, only words
that anybody writes, or that the model is shown with the manifest, go to it as they stand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from msgspec import Struct

from aurora_memory.stopwords import QUESTION_WORDS, STOP_WORDS
from aurora_memory.tokens import terms

_CUE = re.compile(
    r"(?<![^\W\d_])(?:log(?:s|ged|ging)?[ -]?(?:\w{1,12} )?(?:in|on)|log[io]n|sign(?:s|ed|ing)?[ -]?(?:\w{1,12} )?(?:in"
    r"|on|up)|pass[ -]?(?:word|phrase|code|wort|key)s?|pass|passwd|pwd?|pin|otp|2fa|mfa|secrets?"
    r"|credentials?|accounts?|auth\w{0,12}|regist\w{1,8}|identif\w{1,8}|unlock\w{0,3}|codes?"
    r"|tokens?|keys?|bearer|magic words?|get(?:s|ting)? \w{1,12} in(?:side)?|kenn?wort|losung\w{0,5}"
    r"|geheim\w{1,8}|schlüssel|konto|anmeld\w{1,4}|einlogg\w{1,3}|melde|logge|zugang\w{0,8}|mots? de passe"
    r"|mdp|compte|connect\w{1,6}|connexion|clef?|secrètes?|identifi\w{1,6}|contrase[ñn]as?|claves?"
    r"|cuenta|sesi[óo]n|llave|senhas?|conta|parola|accedi|accesso|chiave|segret\w|wachtwoord\w{0,2}"
    r"|inloggen|aanmelden|rekening|l[öo]senord\w{0,2}|konto\w{0,2}|logga|adgangskode\w?|kodeord\w{0,2}"
    r"|passord\w{0,2}|has[łl]\w{1,2}|zaloguj|hesl\w{1,2}|p[řr]ihlas\w{0,3}|jelsz\w{1,5}|salasana\w{0,3}"
    r"|şifre\w{0,3}|парол\w{1,2}|войти|войди|вход|ключ\w{0,2}|код\w{0,2})(?![^\W\d_])|密码|密碼|口令"
    r"|登录|登入|パスワード|暗証番号|ログイン|비밀번호|암호|로그인|סיסמה|كلمة المرور|كلمة السر|รหัสผ่าน|पासवर्ड",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"https?://\S{1,2000}|[\w.+-]{1,64}@[\w.-]{1,200}\w|\[[A-Z_]{2,30}\]|[^\s/:|,;=&()\[\]{}<>\"“”„«»`]{1,2000}"
)
_LETTERS = re.compile(r"[^\W\d_]+")
_PLAIN = re.compile(r"(?:[A-Z]?[^\W\d_A-Z]*|[A-Z]{1,5})(?:['’-][^\W\d_A-Z]{1,20})*")
_MARKER = re.compile(r"\[[A-Z_]{2,30}\]")
_VALUE = re.compile(
    r"\d{1,3}(?:st|nd|rd|th|am|pm|h|s|m|km|kg|mb|gb|px|%|€|\$|x)?|\d{4}-\d{2}(?:-\d{2})?(?:T\d{2})?|\d{1,3}\.\d{1,2}|#\d{1,3}",
    re.IGNORECASE,
)
"""Small numbers, dates and times: what parameters plainly ask for."""
_KEPT = re.compile(r"\[KEPT-(\d{1,6})\]")
_EDGES = ".!?'’‘-–—_*~+>"
_MAX_KNOWN = 3_500
"""Words of the table of word vectors that anybody writes; behind them stand names, and words that are passwords."""
_EVERYDAY = frozenset(
    """
    pay pays euro euros dollar dollars pound pounds afterwards aloud anybody anyone api archive biography bio blog
    busy buy cancel cart cheap cheapest click days email everybody everyone evening friday friend friends hi hey
    hotel invoice invoices january february march april june july august september october november december kindly
    login logins logout mail maybe monday month months morning night ok okay phone photo photos pls press price
    prices quickly reply sign signing thank thanks thursday today tomorrow tonight tuesday unfollow wednesday week
    weeks weekend wife husband boss whatever whenever whichever yes yesterday sunday saturday year years weather
    flight flights book books als am an auf aus bei bin bitte das dass dein deine dem den der des die dich du ein
    eine einem einen einer er es für ich ihr im ist liste mein meine meinem meinen mich mir mit nach neue neuen oder
    sich sie sind und von war was wie zeig zeige zu zum zur alle anmelden konto passwort kennwort lösche erstelle au
    aux avec ce ces dans de elle en est et il je la le les ma me mes moi mon nous ou par pas pour puis que qui sa
    ses son sur ta tant te tes toi ton tu un une vos votre affiche crée supprime compte passe mot al como con cuenta
    del el ella entra las lo los mi mis mostrar muestra o para por se sesión su sus una usando y yo lista borra crea
    inicia contraseña che chi col da della di e ed fai gli ho i in io mia mie mio miei nel non per poi sono utente
    elenca mostra aan dan een het ik met mijn naar niet of om op toon uit van voor com do dos em meu minha não os um
    uma и в на с как мой мои моя покажи список все forgot forget forgotten nobody somebody yourself myself six seven
    eight nine ten three four five prove school remember wonder beiträge beitrag
    """.split()
)


class KeptWords(Struct, frozen=True):
    """A request as a model may see it, and by their numbers the words that stand there as `[KEPT-1]`, `[KEPT-2]`, …"""

    text: str
    words: tuple[str, ...] = ()

    def unknown(self, text: str) -> list[str]:
        """Placeholders in a text that stand for no word."""
        return [found[0] for found in _KEPT.finditer(text) if not 1 <= int(found[1]) <= len(self.words)]

    def stands_in(self, text: str) -> bool:
        """Whether a text has a placeholder in it."""
        return bool(self.words) and _KEPT.search(text) is not None

    def is_all_of(self, text: str) -> bool:
        """Whether a text, JSON of a plan, is placeholders and nothing else that was said."""
        return (
            self.stands_in(text)
            and not _LETTERS.search(_KEPT.sub("", text))
            and not re.search(r"\d", _KEPT.sub("", text))
        )

    def filled(self, value: Any, schema: Any = None) -> Any:
        """Placeholder substitution in a value; a number, where one word is all and `schema` asks for one."""
        if isinstance(value, str):
            text = _KEPT.sub(self._word, value)
            return _number(text) if _KEPT.fullmatch(value) and _wants_number(schema) else text
        if isinstance(value, Mapping):
            properties = schema.get("properties") if isinstance(schema, Mapping) else None
            known = properties if isinstance(properties, Mapping) else {}
            return {name: self.filled(each, known.get(name)) for name, each in value.items()}
        if isinstance(value, list):
            items = schema.get("items") if isinstance(schema, Mapping) else None
            return [self.filled(each, items) for each in value]
        return value

    def _word(self, found: re.Match[str]) -> str:
        number = int(found[1])
        return self.words[number - 1] if 1 <= number <= len(self.words) else found[0]


NOTHING_KEPT = KeptWords("")


def kept_words(request: str, shown: Any) -> KeptWords:
    """The words of a request that are kept from a model which is `shown` a document besides; none where the request
    has nothing to do with signing in. Pure, and linear in the request's length.
    """
    if _CUE.search(request) is None:
        return KeptWords(request)
    stems, spelled = _words_of(shown)
    words: dict[str, int] = {}
    parts, at = list[str](), 0
    for start, end in _tokens(request):
        word = request[start:end]
        if word.casefold() in spelled or _ordinary(word, stems):
            continue
        number = words.setdefault(word, len(words) + 1)
        parts += (request[at:start], f"[KEPT-{number}]")
        at = end
    return KeptWords("".join((*parts, request[at:])), tuple(words))


def _tokens(request: str) -> Iterator[tuple[int, int]]:
    """Tokenizer: spans of the words of a request."""
    for found in _TOKEN.finditer(request):
        if _MARKER.fullmatch(found[0]):
            continue
        bare = found[0].rstrip(_EDGES)
        start = found.start() + len(bare) - len(bare.lstrip(_EDGES))
        if start < found.start() + len(bare):
            yield start, found.start() + len(bare)


def _ordinary(word: str, stems: Collection[str]) -> bool:
    """Whether a word is ordinary (dictionary word, command, small value), and so no secret."""
    if _VALUE.fullmatch(word) or _CUE.fullmatch(word):
        return True
    if not _PLAIN.fullmatch(word):
        return False
    parts = [part.casefold() for part in _LETTERS.findall(word)]
    return all(len(part) == 1 or _everyday(part) or _stem(part) in stems for part in parts)


def _everyday(word: str) -> bool:
    """Whether a word is common English, by its frequency in word vectors."""
    if word in _EVERYDAY or word in STOP_WORDS or word in QUESTION_WORDS:
        return True
    from aurora_memory.word_vectors import word_vectors

    return word_vectors().is_common(_stem(word), _MAX_KNOWN)


def _stem(word: str) -> str:
    return " ".join(terms(word))


def _words_of(shown: Any) -> tuple[set[str], set[str]]:
    """What a document says: the stems of its words, and all in it as it is spelled."""
    text = json.dumps(shown, ensure_ascii=False)
    spelled = {text[start:end].casefold() for start, end in _tokens(text)}
    return set(terms(text)), spelled


def _wants_number(schema: Any) -> bool:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return kind in ("integer", "number")


def _number(text: str) -> Any:
    """A word as a number; as it is where it is none."""
    return json.loads(text) if re.fullmatch(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?", text) else text
