"""The claude_code family: schemas that match Claude Code's."""

from typing import Any

from handrail.core.tool import Tool
from handrail.families.claude_code.checkpoints import LIST_TOOL, RESTORE_TOOL
from handrail.families.claude_code.edit import TOOL as EDIT
from handrail.families.claude_code.glob import TOOL as GLOB
from handrail.families.claude_code.grep import TOOL as GREP
from handrail.families.claude_code.multi_edit import TOOL as MULTI_EDIT
from handrail.families.claude_code.read import TOOL as READ
from handrail.families.claude_code.write import TOOL as WRITE

TOOLS: tuple[Tool[Any], ...] = (READ, WRITE, EDIT, MULTI_EDIT, GLOB, GREP, LIST_TOOL, RESTORE_TOOL)
