"""The batch family: one call with many queries, files and edits."""

from typing import Any

from handrail.core.tool import Tool
from handrail.families.batch.edit_file import TOOL as EDIT_FILE
from handrail.families.batch.file_history import TOOL as FILE_HISTORY
from handrail.families.batch.find_files import TOOL as FIND_FILES
from handrail.families.batch.open_file import TOOL as OPEN_FILE
from handrail.families.batch.read_files import TOOL as READ_FILES

TOOLS: tuple[Tool[Any], ...] = (FIND_FILES, READ_FILES, EDIT_FILE, FILE_HISTORY, OPEN_FILE)
