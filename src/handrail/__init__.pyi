from handrail.core.hooks import Hook as Hook
from handrail.interfaces.api import Handrail as Handrail
from handrail.interfaces.api import ToolInfo as ToolInfo
from handrail.interfaces.api import open as open  # noqa: A004 -- its name
from handrail.model.calls import Result as Result
from handrail.model.errors import HandrailError as HandrailError
