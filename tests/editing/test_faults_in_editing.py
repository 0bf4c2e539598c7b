"""Every fault kind of "Edit matching and text fidelity" and "Encodings" that was seen in the field, by its symptom."""

import time

import pytest
from one_file import both_ways, changed, edited, failure, plan_edit, plan_write, written


def test_tabs_are_never_guessed_and_shown():
    error = failure(b"func f() {\n\tx := 1\n}\n", ("    x := 1", "    x := 2"))
    assert error.kind == "no_match"
    assert error.facts["nearest"][0]["row"] == 2
    assert "→x := 1" in error.hint
    assert "····x := 1" in error.hint
    assert "tabs or blanks only" in error.hint


@pytest.mark.parametrize(("old", "new"), [("a\nb", "A\nB"), ("a\r\nb", "A\r\nB"), ("a\r\nb", "A\nB")])
def test_text_with_either_end_matches_a_crlf_file(old, new):
    assert both_ways(b"a\r\nb\r\nc\r\n", old, new) == b"A\r\nB\r\nc\r\n"


def test_crlf_recovery_is_said_only_where_it_was_needed():
    assert changed(plan_edit(b"a\r\nb\r\n", ("a\nb", "A\nB"))).recovered_via_crlf
    assert not changed(plan_edit(b"a\r\nb\r\n", ("a\r\nb", "A\r\nB"))).recovered_via_crlf
    assert not changed(plan_edit(b"a\nb\n", ("a\nb", "A\nB"))).recovered_via_crlf


def test_editing_one_line_leaves_all_other_line_ends():
    assert both_ways(b"a\r\nb\nc", "c", "C") == b"a\r\nb\nC"


def test_added_lines_take_the_dominant_end():
    assert both_ways(b"a\r\nb\r\n", "a", "a\nnew") == b"a\r\nnew\r\nb\r\n"
    assert both_ways(b"a\nb\n", "a", "a\nnew") == b"a\nnew\nb\n"
    assert both_ways(b"a\r\nb\r\nc\nd\r\n", "c\n", "c\nnew\n") == b"a\r\nb\r\nc\nnew\r\nd\r\n"


def test_context_lines_keep_their_own_ends():
    data = b"a\r\nb\nc\r\nd\ne\r\n"
    assert both_ways(data, "a\nb\nc\nd\ne", "a\nb\nX\nd\ne") == b"a\r\nb\nX\r\nd\ne\r\n"
    assert both_ways(data, "a\nb\nc\nd", "a\nb\nX\nY\nc\nd") == b"a\r\nb\nX\r\nY\r\nc\r\nd\ne\r\n"
    assert both_ways(data, "a\nb\nc\nd", "a\nd") == b"a\r\nd\ne\r\n"


def test_exchanged_lines_keep_the_end_of_the_line_that_stood_there():
    assert both_ways(b"a\r\nb\nc\r\n", "a\nb\nc", "A\nB\nC") == b"A\r\nB\nC\r\n"


def test_a_carriage_return_is_never_doubled_or_torn_off():
    assert both_ways(b"a\r\nb\r\n", "b\r\n", "c\r\nd\r\n") == b"a\r\nc\r\nd\r\n"
    assert both_ways(b"a\r\nb\r\n", "\nb", " b") == b"a b\r\n"
    assert written("a\r\nb\r\n") == b"a\r\nb\r\n"
    assert failure(b"a\r\nb\r\n", ("a\r", "a")).kind == "no_match"


def test_line_ends_are_changed_when_nothing_else_differs():
    assert both_ways(b"a\r\nb\r\n", "\r\n", "\n", True) == b"a\nb\n"
    assert both_ways(b"a\nb\n", "a\n", "a\r\n") == b"a\r\nb\n"


def test_a_lone_carriage_return_is_text():
    assert both_ways(b"a\rb\nc\r\n", "a\rb", "A\rB") == b"A\rB\nc\r\n"


def test_the_mark_stays_and_is_no_part_of_line_one():
    assert both_ways(b"\xef\xbb\xbfhello\n", "hello", "hello2") == b"\xef\xbb\xbfhello2\n"
    assert written("new\n", before=b"\xef\xbb\xbfhello\n") == b"\xef\xbb\xbfnew\n"
    assert written("\ufeffnew\n", before=b"\xef\xbb\xbfhello\n") == b"\xef\xbb\xbfnew\n"
    inner = "a\ufeffb\nx\n".encode()
    assert both_ways(inner, "x", "y") == "a\ufeffb\ny\n".encode()


def test_quotes_are_written_as_sent_after_an_exact_match():
    data = "it\u2019s\nx = 1\n".encode()
    assert both_ways(data, "x = 1", "x = [\"'(]+") == "it\u2019s\nx = [\"'(]+\n".encode()


def test_quotes_take_on_the_files_style_where_the_anchor_did():
    data = "say \u201chello\u201d and \u201cbye\u201d\r\nx\r\n".encode()
    assert both_ways(data, 'say "hello" and', 'say "hi" and') == data.replace(b"hello", b"hi")
    assert both_ways(data, '"bye"\nx', '"so long"\ny') == data.replace(b"bye", b"so long").replace(b"x", b"y")
    plan = plan_edit(data, ('"bye"\nx', '"so long"\ny'))
    assert changed(plan).recovered_via_quotes
    assert changed(plan).recovered_via_crlf
    straight = b'say "hello"\n'
    assert both_ways(straight, "say \u201chello\u201d", "say \u201chi\u201d") == b'say "hi"\n'


def test_an_exact_place_wins_over_one_with_other_quotes():
    data = "a 'x'\na \u2018x\u2019\n".encode()
    assert both_ways(data, "a 'x'", "b") == "b\na \u2018x\u2019\n".encode()


@pytest.mark.parametrize(
    "new",
    [
        "$$ $& $` $' $1 \\1 \\g<0> \\n",
        "if c == '\\n' || c == '\\0'",
        "\\u2192 \\ufeff \\u0000",
        "a &apos; b &#39; &amp;amp;",
        "%s {0} {{}} \\\\ \\",
    ],
)
def test_new_text_is_never_interpreted(new):
    assert both_ways(b"one\nX\ntwo\n", "X", new) == b"one\n" + new.encode() + b"\ntwo\n"
    assert both_ways(b"one\n" + new.encode() + b"\ntwo\n", new, "X") == b"one\nX\ntwo\n"


def test_entities_are_literal():
    assert both_ways(b"a &amp; b", "a &amp; b", "a &apos; b") == b"a &apos; b"
    assert both_ways(b"it's", "'", "&apos;") == b"it&apos;s"
    assert failure(b"a & b", ("a &amp; b", "x")).kind == "no_match"


def test_no_final_newline_is_added():
    assert both_ways(b"x=1\ny=2", "x=1", "x=2") == b"x=2\ny=2"


def test_an_insert_after_a_last_line_without_end_glues_nothing():
    assert both_ways(b"a", "a", "a\nb") == b"a\nb"
    assert both_ways(b"x\r\na", "a", "a\nb") == b"x\r\na\r\nb"


def test_a_block_whose_middle_differs_is_refused():
    data = b"func f() {\n\tx := 1\n\ty := 2\n\treturn x\n}\n"
    error = failure(data, ("func f() {\n\tx := 1\n\ty := 99\n\treturn x\n}", "gone"))
    assert error.kind == "no_match"
    assert error.facts["nearest"][0] == {"row": 3, "text": "→y := 2¶", "sent": "→y := 99¶"}


def test_text_that_occurs_twice_is_refused_with_its_rows():
    error = failure(b"a\nb\na\n", ("a", "x"))
    assert (error.kind, error.facts["count"], error.facts["rows"]) == ("ambiguous_match", 2, [1, 3])
    assert edited(b"a\nb\na\n", ("a", "x", True)) == b"x\nb\nx\n"


def test_places_that_overlap_themselves_are_ambiguous_too():
    error = failure(b"xaaax", ("aa", "b"))
    assert (error.kind, error.facts["count"]) == ("ambiguous_match", 2)
    assert edited(b"xaaax", ("aa", "b", True)) == b"xbax"


def test_an_anchor_is_no_pattern():
    assert failure(b"a1b a2b\n", ("a.*b", "x")).kind == "no_match"
    assert both_ways(b"a.*b a1b\n", "a.*b", "x") == b"x a1b\n"


def test_an_edit_made_before_is_recognised():
    data = b"\tdef foo():\n\t\tpass\n"
    assert "→def foo():" in failure(data, ("    def foo():", "    def bar():")).hint
    done = edited(data, ("def foo", "def bar"))
    again = failure(done, ("def foo", "def bar"))
    assert again.facts["already_there"] is True
    assert again.facts["rows"] == [1]
    assert "already there, at row 1" in again.hint


def test_what_an_earlier_edit_of_the_call_wrote_is_not_there_already():
    error = failure(b"one\ntwo\n", ("one", "1"), ("gone", "1"), semantics="in_order")
    assert "already_there" not in error.facts
    assert "as the edits before this one leave them" in error.hint


def test_several_edits_have_one_meaning_each():
    pair = [("a", "b"), ("b", "c")]
    together = failure(b"a b", *pair)
    assert (together.kind, together.facts["indices"]) == ("overlapping_edits", [0, 1])
    ordered = failure(b"a b", *pair, semantics="in_order")
    assert (ordered.kind, ordered.facts["index"]) == ("ambiguous_match", 1)
    assert edited(b"a x", ("a", "b"), ("b", "c"), semantics="in_order") == b"c x"


def test_overlapping_targets_are_refused_with_both_indices():
    error = failure(b"one two three\n", ("three", "3"), ("two th", "x"))
    assert (error.kind, error.facts["indices"]) == ("overlapping_edits", [0, 1])
    assert failure(b"one two\n", ("two", "2"), ("two", "3")).facts["indices"] == [0, 1]


def test_neighbours_do_not_overlap():
    assert edited(b"onetwo\n", ("two", "2"), ("one", "1")) == b"12\n"
    assert edited(b"onetwo\n", ("two", "+two"), ("one", "one-")) == b"one-+two\n"


@pytest.mark.parametrize("semantics", ["together", "in_order"])
def test_one_bad_edit_refuses_all_and_is_named(semantics):
    error = failure(b"a b c\n", ("a", "1"), ("zzz", "2"), ("c", "3"), semantics=semantics)
    assert (error.kind, error.facts["index"]) == ("no_match", 1)
    assert ("targets[1]" if semantics == "together" else "edits[1]") in error.message


def test_a_near_miss_in_a_big_file_is_explained_in_bounded_work():
    line = "    value_{0} = compute(first_{0}, second_{0})  # a comment that is the same everywhere\n"
    data = "".join(line.format(i) for i in range(60_000)).encode()
    started = time.process_time()
    error = failure(data, ("    value_5000 = compute(first_5000,  second_5001)", "x"))
    assert time.process_time() - started < 8
    assert error.facts["nearest"][0]["row"] in {5001, 5002}
    assert len(error.hint) < 2000


def test_a_near_miss_in_one_endless_line_stays_small():
    error = failure(b"abc " * 1_000_000, ("abc  abc abd", "x"))
    assert len(error.hint) < 2000


def test_placeholders_are_noticed_in_added_text_only():
    old = "".join(f"line {i}\n" for i in range(200)).encode()
    new = "line 0\n// ... rest of the code unchanged\n"
    unusual = plan_write(new, before=old).unusual
    assert any("placeholder" in s for s in unusual)
    assert any("shrinks from 200 lines to 2" in s for s in unusual)
    honest = "line 0\n# current content of the buffer\n# the rest of us\n// loading ...\nprint('...')\n"
    assert not any("placeholder" in s for s in plan_write(honest, before=old).unusual)
    kept = b"a\n# ... existing code\n" + old
    assert not plan_write(kept.decode() + "more\n", before=kept).unusual


@pytest.mark.parametrize(
    "line",
    [
        "# ... rest of file unchanged ...",
        "// ... existing code ...",
        "/* ... remaining methods ... */",
        "<!-- ... rest of the document ... -->",
        "{/* ... existing code ... */}",
        "    # rest of the code remains the same",
        "// rest of code here",
        "[... rest of the file ...]",
        "... (rest of file omitted)",
        "# \u2026 unchanged",
    ],
)
def test_placeholder(line):
    assert plan_edit(b"a\nb\n", ("a", f"a\n{line}")).unusual


@pytest.mark.parametrize(
    "line",
    [
        "# current content",
        "...",
        "def f(self): ...",
        "# existing users keep their rows",
        "// rest parameters: (...args)",
        "const {a, ...rest} = props;",
        "f(...rest)",
        "# the rest is history",
        "    ...  # the same for bytes",
        "Loading... remaining time",
    ],
)
def test_honest_line(line):
    assert not plan_edit(b"a\nb\n", ("a", f"a\n{line}")).unusual


def test_rows_after_an_edit_are_those_of_a_fresh_read():
    data = b"".join(b"row %d\n" % i for i in range(1, 51))
    plan = plan_edit(data, ("row 3\n", "row 3\nnew\nnewer\n"))
    assert changed(plan).shown_rows == ((4, 5),)
    assert changed(plan).lines == 52
    assert plan.around[0] == 4


def test_the_readers_row_numbers_are_recognised():
    data = b"alpha\nbeta\ngamma\n"
    for anchor in ("2\tbeta", "     2\u2192beta", "1\talpha\n2\tbeta", "     1\u2192alpha\n     2\u2192beta\n"):
        error = failure(data, (anchor, "x"))
        assert error.facts["reader_prefixes"] is True
        assert "row numbers" in error.hint
    assert both_ways(b"1\talpha\n2\tbeta\n", "1\talpha\n2\tbeta", "x") == b"x\n"


# encodings


def test_other_bytes_of_a_legacy_file_stay():
    data = b"caf\xe9 \x99\nx=1\n"
    assert both_ways(data, "x=1", "x=2") == b"caf\xe9 \x99\nx=2\n"


def test_gbk_survives():
    data = "这是一个测试文件里面有中文内容编码是国标\n".encode("gbk")
    assert both_ways(data + b"end\n", "end", "测试") == data + b"\xb2\xe2\xca\xd4\n"


def test_no_replacement_character_is_written():
    data = b"x=False # caf\xe9"
    assert both_ways(data, "False", "True") == b"x=True # caf\xe9"


def test_stray_bytes_in_utf8_stay():
    data = "æøå 漢字 ".encode() * 3 + b"\xff\xfe tail\nx=1\n"
    assert both_ways(data, "x=1", "x=é") == data.replace(b"x=1", "x=é".encode())


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_wide_encodings(encoding, end):
    mark = "\ufeff".encode(encoding)
    before = mark + f"ein{end}Text{end}\U0001f600{end}".encode(encoding)
    after = mark + f"ein{end}langer{end}Text{end}\U0001f600{end}".encode(encoding)
    assert both_ways(before, "ein\nText", "ein\nlanger\nText") == after


def test_a_character_that_the_encoding_lacks_is_refused_by_name():
    error = failure("größer und schöner, Füße, Käse, Öl\nx\n".encode("cp1252"), ("x", "\u6d4b"))
    assert error.kind == "unencodable"
    assert "U+6D4B" in error.message
