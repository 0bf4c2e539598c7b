"""Drafts: pieces over pieces end as one splice, and what no piece touched keeps its bytes."""

from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.editing.draft import Draft
from handrail.text import codec


def draft_of(data: bytes) -> Draft:
    return Draft(codec.decode(data, encoding="utf-8"))


def test_what_was_written_can_be_changed_again():
    draft = draft_of(b"one two three")
    draft.replace([(4, 7, "2 zwei")])
    draft.replace([(2, 6, "E ")])
    assert (draft.current, draft.data()) == ("onE zwei three", b"onE zwei three")
    assert draft.pieces() == [(2, 7, "E zwei")]


def test_stray_bytes_beside_every_piece_stay():
    draft = draft_of("漢字漢字漢字 ".encode() * 40 + b"\xff a \xfe b \xff")
    at = draft.current.index(" a ") + 1
    draft.replace([(at, at + 1, "A")])
    at = draft.current.index(" b ") + 1
    draft.replace([(at, at + 1, "")])
    assert draft.data().endswith(b"\xff A \xfe  \xff")


def test_changed_rows_are_those_of_the_new_text():
    draft = draft_of(b"1\n2\n3\n4\n5\n")
    draft.replace([(0, 0, "new\n"), (6, 8, "")])
    assert draft.current == "new\n1\n2\n3\n5\n"
    assert draft.changed_rows() == ((1, 1), (5, 5))


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="abc\n", max_size=20), st.data())
def test_pieces_compose_as_strings_do(text, data):
    draft = draft_of(text.encode())
    expected = text
    for _ in range(data.draw(st.integers(1, 4))):
        cuts = sorted(data.draw(st.lists(st.integers(0, len(expected)), max_size=4, unique=True)))
        pieces = [
            (a, b, data.draw(st.sampled_from(["", "X", "YZ\n"]))) for a, b in zip(cuts[::2], cuts[1::2], strict=False)
        ]
        for start, end, new in reversed(pieces):
            expected = expected[:start] + new + expected[end:]
        draft.replace(pieces)
        assert draft.current == expected
    assert draft.data() == expected.encode()
    for first, last in draft.changed_rows():
        assert 1 <= first <= last <= max(1, expected.count("\n") + 1)
