"""Random texts, encodings and line ends: an edit gives what plain string operations give, and touches nothing else."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from one_file import edited, failure, plan_edit

from handrail.editing.anchors import Haystack, flat
from handrail.editing.draft import Draft
from handrail.editing.pieces import pieces
from handrail.model.errors import HandrailError
from handrail.text import codec, lines

MARKED = {
    "utf-8": b"",
    "utf-8-sig": b"",
    "utf-16-le": b"\xff\xfe",
    "utf-16-be": b"\xfe\xff",
    "utf-32-le": b"\xff\xfe\0\0",
    "utf-32-be": b"\0\0\xfe\xff",
}
LEGACY = {
    "gbk": "测试文件",
    "gb18030": "测试\U0001f600",
    "big5": "測試檔案",
    "shift_jis": "テスト表ソ",
    "euc_jp": "テスト表",
    "euc_kr": "시험문서",
    "cp1252": "éüß€",
    "latin-1": "éüß\x99",
    "koi8-r": "проба",
    "cp850": "éÿß",
}
words = st.sampled_from(["a", "b", "ab", " ", "\t", "\n", "\n", "é", "\U0001f600", "\x0c", "\u2028", "\x85", "x = 1"])
texts = st.lists(words, max_size=14).map("".join)
semantics = st.sampled_from(["together", "in_order"])


def encoded(text: str, encoding: str) -> bytes:
    return MARKED[encoding] + text.encode(encoding)


def crlf(text: str) -> str:
    return text.replace("\n", "\r\n")


def places(text: str, old: str) -> int:
    return sum(text.startswith(old, at) for at in range(len(text) - len(old) + 1))


@settings(max_examples=120, deadline=None)
@given(st.tuples(texts, texts, texts, texts), st.sampled_from(sorted(MARKED)), st.booleans(), st.booleans(), semantics)
def test_one_replacement_equals_string_replacement(parts, encoding, windows, everywhere, how):
    head, old, tail, new = parts
    text = head + old + tail
    assume(old and old != new)
    ends = crlf if windows and "\n" in text else str
    if not everywhere and places(text, old) > 1:
        assert failure(encoded(ends(text), encoding), (old, new), semantics=how).kind == "ambiguous_match"
        return
    wanted = text.replace(old, new)
    if wanted == text:
        assert failure(encoded(ends(text), encoding), (old, new, everywhere), semantics=how).kind == "no_change"
        return
    got = edited(encoded(ends(text), encoding), (old, new, everywhere), semantics=how)
    assert got == encoded(ends(wanted), encoding)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(texts, st.sampled_from(["", "\n", "\r\n", "\r"])), max_size=8), st.data())
def test_mixed_ends_outside_the_changed_words_stay(rows, data):
    text = "".join(flat(body) + end for body, end in rows)
    assume(len(text) > 1)
    start = data.draw(st.integers(0, len(text) - 1))
    stop = data.draw(st.integers(start + 1, len(text)))
    old = text[start:stop]
    new = old.replace("a", "Ä").replace("b", "")
    assume(old != new and text.count(old) == 1 and not splits_an_end(text, start) and not splits_an_end(text, stop))
    assume(new.count("\r\n") == old.count("\r\n"))
    assume(flat(flat(old)) == flat(old))  # "\r\r\n" sent without its last "\r" is another anchor
    for sent_old, sent_new in ((old, new), (flat(old), flat(new))):
        try:
            got = edited(text.encode(), (sent_old, sent_new))
        except HandrailError as error:
            assert error.kind == "ambiguous_match"
            assert places(flat(text), flat(old)) > 1
            continue
        if places(flat(text), flat(old)) == 1 or sent_old == old:
            assert got == (text[:start] + new + text[stop:]).encode()


def splits_an_end(text: str, at: int) -> bool:
    return text[at - 1 : at + 1] == "\r\n" and at > 0


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(sorted(LEGACY)), st.data(), st.booleans())
def test_legacy_encodings_keep_every_other_byte(encoding, data, windows):
    letters = st.sampled_from([*LEGACY[encoding], "a", "\n", " ", "="])
    passage = st.lists(letters, max_size=12).map("".join)
    head, old, tail, new = (data.draw(passage) for _ in range(4))
    assume(old and old != new and places(head + old + tail, old) == 1)
    ends = crlf if windows and "\n" in head + old + tail else str
    original = ends(head + old + tail).encode(encoding)
    draft = Draft(codec.decode(original, encoding=encoding))
    (span,) = Haystack(draft.current).locate(old).spans
    end = lines.dominant_end(draft.current)
    found = draft.current[slice(*span)]
    made = pieces(found, old=old, new=new, manner="exact" if found == old else "ends", file_end=end)
    draft.replace([(span[0] + a, span[0] + b, text) for a, b, text in made])
    assert draft.data() == ends(head + new + tail).encode(encoding)


@settings(max_examples=80, deadline=None)
@given(texts, st.lists(st.tuples(texts, texts, st.booleans()), min_size=1, max_size=5), st.booleans())
def test_edits_in_order_equal_string_replacements_in_order(text, edits, windows):
    ends = crlf if windows and "\n" in text else str
    current = text
    expected = None
    for index, (old, new, everywhere) in enumerate(edits):
        found = places(current, old) if old else 0
        if not old or old == new or not found or (found > 1 and not everywhere):
            expected = index
            break
        current = current.replace(old, new)
    if not all(old for old, _, _ in edits) or any(old == new for old, new, _ in edits):
        assert failure(ends(text).encode(), *edits, semantics="in_order").kind in {"invalid_arguments", "no_change"}
    elif expected is not None:
        error = failure(ends(text).encode(), *edits, semantics="in_order")
        assert (error.facts["index"], error.kind in {"no_match", "ambiguous_match"}) == (expected, True)
    elif current == text:
        assert failure(ends(text).encode(), *edits, semantics="in_order").kind == "no_change"
    else:
        assert edited(ends(text).encode(), *edits, semantics="in_order") == ends(current).encode()


@settings(max_examples=80, deadline=None)
@given(st.lists(texts.filter(bool), min_size=2, max_size=6), st.data())
def test_targets_together_equal_one_pass_over_the_original(parts, data):
    """Each target replaces one part, all parts being told apart by a letter of their own."""
    parts = [chr(0x410 + i) + part for i, part in enumerate(parts)]
    chosen = data.draw(st.lists(st.sampled_from(range(len(parts))), unique=True, min_size=1))
    news = {i: data.draw(texts) for i in chosen}
    wanted = "".join(news.get(i, part) for i, part in enumerate(parts))
    got = edited("".join(parts).encode(), *((parts[i], news[i]) for i in chosen))
    assert got == wanted.encode()


@settings(max_examples=80, deadline=None)
@given(texts, texts, texts)
def test_whatever_is_sent_ends_in_a_plan_or_a_typed_refusal(text, old, new):
    try:
        plan_edit(text.encode(), (old, new))
    except HandrailError as error:
        assert error.message.endswith(".")
        assert error.kind in {"no_match", "ambiguous_match", "no_change", "invalid_arguments"}
        assert len(error.hint) < 2000


@settings(max_examples=80, deadline=None)
@given(st.text(alphabet="ab\n'\"\u2018\u2019\u201c\u201d ", min_size=1, max_size=12), texts)
def test_a_folded_anchor_changes_nothing_outside_its_place(body, new):
    text = "head\n" + body + "\ntail"
    straight = body.translate({0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'})
    try:
        got = edited(text.encode(), (straight, new))
    except HandrailError as error:
        assert error.kind in {"ambiguous_match", "no_change"}
        return
    place = text.find(body)
    if straight == body or places(text, straight) == 0:
        assert got.startswith(text[: min(place, 5)].encode())
        assert got.endswith(b"\ntail")
