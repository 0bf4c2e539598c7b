"""Each error number has one meaning, and none leaves a backend untyped."""

import errno

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.fs.failures import TABLE, failure, typed
from handrail.model.errors import HandrailError


@given(st.sampled_from(sorted(errno.errorcode)), st.text(max_size=30))
def test_every_error_number_becomes_a_typed_failure(number: int, path: str) -> None:
    with pytest.raises(HandrailError) as caught, typed(path):
        raise OSError(number, "said the system")
    assert caught.value.message.endswith(".")
    assert caught.value.hint


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOENT, "not_found"),
        (errno.EACCES, "permission_denied"),
        (errno.EPERM, "permission_denied"),
        (errno.EROFS, "permission_denied"),
        (errno.ENOSPC, "disk_full"),
        (errno.EDQUOT, "disk_full"),
        (errno.EIO, "io_error"),
        (errno.ELOOP, "stale"),
        (errno.ENAMETOOLONG, "invalid_path"),
        (errno.EMFILE, "busy"),
        (errno.ENOTEMPTY, "conflict"),
        (errno.EFBIG, "too_large"),
        (errno.ENOTCONN, "backend_unavailable"),
    ],
)
def test_the_kinds_of_common_error_numbers(number: int, kind: str) -> None:
    assert failure(OSError(number, ""), "/x").kind == kind


def test_what_may_pass_says_so() -> None:
    for number, (_, kind, _, _) in TABLE.items():
        assert failure(OSError(number, ""), "/x").may_retry == (kind in ("busy", "stale", "conflict"))
