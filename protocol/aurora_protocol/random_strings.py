"""Random strings (high entropy): letters and digits in an order that no name, word or number has; anybody's key may be
one.

What providers publish of their keys (`secret_shapes`) is never all; what their keys have in common is that they are
drawn at random. Taken apart where a name would be (`Int16Slice`: Int, 16, Slice), a random string is of pieces of two
letters, a name of pieces of four and more. Digests are as random and no secrets, so hexadecimal counts only beside the
name of a key, and what says that it is a digest, a picture or a public key not at all.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence

_PIECE = re.compile(r"[0-9A-Za-z_+/-]{16,}")
_NAME = re.compile(r"(?:[A-Za-z_][\w/+~-]{0,60}+=(?=[^=]))?")
_LEAST = 24
"""Letters from which on a random string is taken for a key wherever it stands: a nanoid has fewer."""
_LEAST_BESIDE_A_KEY = 16
_LEAST_HEXADECIMAL = 20
_MOST = 400
"""Letters up to which it is: what is longer is data (pictures, archives), and keys as long have a shape."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_IDENTIFIER = re.compile(r"(?:[a-z]+[0-9]{0,4})?(?:[A-Z][a-z]+[0-9]{0,4}+[a-z]?(?![a-z])){3,}")
"""Capitals, each with small letters behind it, and numbers: one random string of 24 letters in 50,000 is so."""
_REPEATED, _REPEATED_SHARE = 6, 1 / 5
"""Letters of words that come twice or more, from which on a string is a name (`L1CacheL2Cache`)."""
_LONGEST_OF_MIXED, _LONGEST_OF_DIVIDED, _LONGEST_OF_ONE_CASE = 3.0, 2.6, 4.0
"""Letters that words have at most in the mean: one in a hundred random strings of 24 letters has longer ones, one in
twenty where they are of one case.
"""
_LONGEST_BESIDE_A_KEY = 8.0
"""Of one case, where the name of a key stands before it: what is called so is hardly a name with a number in it."""
_MOST_DIVIDED, _MOST_SLASHES = 1 / 6, 1 / 10
"""Share of `_`, `-`, `+` and `/`: two of them are letters of base64, and they stand between all words of a name."""
_WITHOUT_DIVIDERS = str.maketrans("", "", "_-+/")
_LONG = 30
"""Letters from which on it makes no difference whether they are divided."""
_UNDIVIDED = re.compile(r"[0-9A-Za-z]{16,}")
_LICENCE = re.compile("|".join(f"[0-9A-Z]{{{size}}}(?:-[0-9A-Z]{{{size}}}){{3,7}}" for size in (4, 5, 6)))
"""Groups of equally many capitals and digits, as keys of licences are printed."""
_HEXADECIMAL = re.compile(r"(?:0x)?(?:[0-9a-f]+|[0-9A-F]+)")
_BEFORE = 64
"""Letters before a string in which it says what it is."""
_BESIDE_A_KEY = re.compile(
    r"(?:[_-]|(?<![A-Za-z])|(?<=[a-z])(?=[A-Z])|api|auth)"
    r"(?:(?i:key|pass|pwd|secret|token|auth|cred|credentials?|salt|seed|licen[cs]e)|(?:cookie|session)[_-]?id)"
    r"[\"'`\])]{0,3}\s{0,5}(?:=>|={1,2}|:{1,2}=?|,|\s)\s{0,5}"
    r"(?:(?:Buffer\.from|bytes\.fromhex|unhexlify|hex\.DecodeString|(?:urlsafe_)?b64decode|hexToBytes)\()?[\"'`(b]{0,4}\Z"
    r"|(?i:[ht]otp|wallet|private_?key_?to_?account|from_?key|fernet|hmac\.new)(?:\.new)?\(\s{0,9}b?[\"'`]\Z"
    r"|(?i:create_?hmac)\([\"'`][\w-]{3,20}[\"'`],\s{0,3}[\"'`]\Z"
    r"|(?i:accounts|private_?keys)[\"']?\s{0,3}[:=]\s{0,3}\[\s{0,9}[\"'`]\Z"
    r"|(?<![0-9])[0-2]/[0-9]{10,18}(?:/[0-9]{10,18})?:\Z"  # Asana
)
_PUBLIC = re.compile(
    r"(?:sha[0-9]{1,3}|md5|h1|integrity|digest|checksum|hash|base64,|etag\W{1,4}|ssh-[a-z0-9]{2,10} |ecdsa-\S{1,40} )"
    r"[\w\"' =:-]{0,12}\Z|(?:public|pub|sort|cache|primary|foreign|host|site|websocket)[_-]?key"
    r"[\"'\])]{0,3}\s{0,5}[=:]\W{0,8}\Z"
    r"|(?:PUBLIC KEY|CERTIFICATE)-----(?:\\[nr]|\s){0,4}\\?\Z",
    re.IGNORECASE,
)
_LINE = 56
"""Letters of a line of base64 at least: it is broken after 60, 64 or 76."""
_BREAK = re.compile(r"(?:[\s\"'+*#/>,.;b-]|\\[nr]?|&#x[AD];){1,120}+")
"""What stands between two lines of one block; of `\\n` the n may count as a letter of the second."""
_BREAKS = ("\n", "\\", "&#x")
_ADDRESS = re.compile(r"://[^\s\"'`?#]*\Z")
_SEGMENT = re.compile(r"[^/]+")
_PICTURES = ("iVBORw0KGgo", "R0lGOD", "/9j/", "UklGR", "PHN2Zy")
_DATA = (*_PICTURES, "AAAAB3Nza", "AAAAC3Nza", "AAAAE2Vj", "JVBERi", "UEsDB", "H4sI", "d09GM", "_Z")
"""How base64 begins of pictures, public keys, documents, archives and fonts; and mangled names of C++."""


def random_strings_in(text: str, runs: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Spans of those `runs` (letters without anything between them, in text order) that may be a key.

    Lines of base64 below each other are one block of data, and none of it is taken.
    """
    for number, (start, end) in enumerate(runs):
        if end - start < _LEAST_BESIDE_A_KEY:
            continue
        start += _name_of(text[start:end])
        before = text[max(0, start - _BEFORE) : start]
        if _may_be_key(text[start:end], before) and not _in_block(text, runs, number):
            yield from _segments(text, start, end) if _ADDRESS.search(before) else [(start, end)]


def _may_be_key(run: str, before: str) -> bool:
    """Whether a run of letters may be a key, by its length, its randomness and what stands before it."""
    if not _LEAST_BESIDE_A_KEY <= len(run) <= _MOST or run.startswith(_DATA):
        return False
    if is_licence(run):
        return True
    hexadecimal = len(run) >= _LEAST_HEXADECIMAL and is_hexadecimal(run) and not run.isdigit()
    beside = _BESIDE_A_KEY.search(before) is not None
    if (hexadecimal or len(run) < _LEAST) and not beside:
        return False
    if not hexadecimal and not any(_is_random(piece, beside=beside) for piece in _PIECE.findall(run)):
        return False
    return _PUBLIC.search(before) is None and not _is_text(run)


def is_licence(run: str) -> bool:
    """Whether it is printed as keys of licences are, most of its groups of letters and digits mixed."""
    if _LICENCE.fullmatch(run) is None:
        return False
    groups = run.split("-")
    mixed = [group for group in groups if not group.isalpha() and not group.isdigit()]
    return 2 * len(mixed) > len(groups)


def _segments(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Of the path of an address, those parts that are long and random themselves."""
    for part in _SEGMENT.finditer(text, start, end):
        if part.end() - part.start() >= _LEAST and any(map(_is_random, _PIECE.findall(part[0]))):
            yield part.span()


def is_key(run: str) -> bool:
    """Whether it is random by itself, or hexadecimal: where a name should stand, and people choose words."""
    return (len(run) >= _LEAST_HEXADECIMAL and is_hexadecimal(run)) or _is_random(run)


def is_hexadecimal(run: str) -> bool:
    """Whether a string is of nothing else than digits of base 16, as digests are."""
    return _HEXADECIMAL.fullmatch(run) is not None


def _name_of(run: str) -> int:
    """Letters of a name and its `=` before a value, which make one run with it."""
    name = _NAME.match(run)
    return 0 if name is None or any(map(_is_random, _PIECE.findall(name[0]))) else name.end()


def _is_random(piece: str, *, beside: bool = False) -> bool:
    """Randomness test: whether letters and digits are mixed more finely than words are."""
    letters = piece.translate(_WITHOUT_DIVIDERS)
    if len(letters) < _LEAST_BESIDE_A_KEY or letters.isalpha() or letters.isdigit() or is_hexadecimal(letters):
        return False
    if is_identifier(letters):
        return False
    one_case = letters in (letters.lower(), letters.upper())
    if beside and one_case and letters == piece:
        return len(letters) <= _LONGEST_BESIDE_A_KEY * len(_WORD.findall(letters))
    divided = len(piece) - len(letters)
    if divided > len(piece) * (0 if one_case else _MOST_DIVIDED) or piece.count("/") > len(piece) * _MOST_SLASHES:
        return any(map(_is_random, _UNDIVIDED.findall(piece)))
    longest = (
        _LONGEST_OF_ONE_CASE
        if one_case
        else _LONGEST_OF_DIVIDED
        if divided and len(letters) < _LONG
        else _LONGEST_OF_MIXED
    )
    return len(letters) <= longest * len(_WORD.findall(letters))


def is_identifier(letters: str) -> bool:
    """Whether letters and digits are the name of something, made of words: `In1In2In3CenterOut1`, `Conv2dMaxPool2d`."""
    if _IDENTIFIER.fullmatch(letters) is not None:
        return True
    words = [word.lower() for word in _WORD.findall(letters) if len(word) > 1 and word.isalpha()]
    return sum(len(word) for word in words if words.count(word) > 1) >= max(_REPEATED, _REPEATED_SHARE * len(letters))


def _is_text(run: str) -> bool:
    """Whether it is base64 of a text that people read, as samples of encodings are."""
    signs = run.rstrip("=").replace("-", "+").replace("_", "/")
    signs = signs[: len(signs) // 4 * 4]
    try:
        told = base64.b64decode(signs, validate=True)
    except ValueError:
        return False
    readable = bool(told) and all(32 <= sign < 127 or sign in b"\r\n\t" for sign in told)
    return readable and not any(map(_is_random, _PIECE.findall(told.decode())))


def _in_block(text: str, runs: Sequence[tuple[int, int]], number: int) -> bool:
    """Whether it is a long line of a block, or its last, shorter one. Keys below each other are shorter than lines."""
    start, end = runs[number]
    if number > 0:
        first, last = runs[number - 1]
        if max(_LINE, end - start) <= last - first and _is_break(text[last:start]):
            return True
    if number + 1 == len(runs) or end - start < _LINE:
        return False
    following, last = runs[number + 1]
    return last - following <= end - start + 1 and _is_break(text[end:following])


def _is_break(between: str) -> bool:
    return (
        between.count("\n") < 2 and any(each in between for each in _BREAKS) and _BREAK.fullmatch(between) is not None
    )
