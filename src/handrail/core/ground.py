"""What a passage stands on, and the trail it leaves for the audit; values only."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from handrail.core.admission import Admission
from handrail.core.apply import Writer
from handrail.core.approval import Approvals
from handrail.core.sessions import Session
from handrail.fs.protocol import WritableFileSystem
from handrail.guard.sensitive import Sensitive
from handrail.guard.view import CallView
from handrail.model.calls import Call
from handrail.model.operations import Operation
from handrail.model.planner import Planner
from handrail.model.records import Answered
from handrail.store.protocol import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a passage stands on; made once by the workspace."""

    fs: WritableFileSystem
    store: Store
    admission: Admission
    sensitive: Sensitive
    planners: Mapping[str, Planner[Operation]]
    writer: Writer
    approvals: Approvals
    make_view: Callable[[Call, Session], CallView]
    clock: Callable[[], int]


@dataclass(slots=True)
class Trail:
    """What the audit will say of the call: the paths it came to, the bytes it wrote, who allowed it."""

    paths: list[str] = field(default_factory=list)
    bytes: int = 0
    approvals: list[Answered] = field(default_factory=list)
