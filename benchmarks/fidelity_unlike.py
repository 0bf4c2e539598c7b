"""Tools whose editor isn't reached by a plain call: what has to stand around it is made here."""

from pathlib import Path

from fidelity_peers import LOOP, Lines, Peer, installed_by_npm, installed_by_pip

PYDANTIC = """
import asyncio
from pathlib import Path
from pydantic_ai.workspaces.local import LocalWorkspaceBackend
from pydantic_ai_harness.filesystem._toolset import FileSystemToolset
tools = FileSystemToolset(
    root_dir=Path(ROOT), allowed_patterns=[], denied_patterns=[], max_read_lines=2000, max_list_results=100,
    max_search_results=100, max_find_results=100,
)
place = LocalWorkspaceBackend(Path(ROOT))
def edit(path, old, new):
    asyncio.run(tools.edit_file(path, old, new, workspace=place))
"""
GEMINI = """
const { EditTool, StandardFileSystemService } = await import(process.argv[1]);
const readline = await import('node:readline');
const known = {
  getTargetDir: () => '/', getApprovalMode: () => 'autoEdit', isPlanMode: () => false, validatePathAccess: () => null,
  getFileSystemService: () => new StandardFileSystemService(), getDisableLLMCorrection: () => true,
};
const config = new Proxy(known, { get: (own, name) => name in own ? own[name] : () => undefined });
const tool = new EditTool(config, new Proxy({}, { get: () => () => undefined }));
for await (const line of readline.createInterface({ input: process.stdin })) {
  const sent = JSON.parse(line);
  let refused = '';
  try {
    const edit = { file_path: sent.path, old_string: sent.old, new_string: sent.new, instruction: 'edit' };
    const done = await tool.build(edit).execute({ abortSignal: new AbortController().signal });
    refused = done.error ? done.error.message : '';
  } catch (error) { refused = String(error); }
  process.stdout.write(JSON.stringify({ refused }) + '\\n');
}
"""
CLINE = """
const { createEditorExecutor } = await import(process.argv[1]);
const readline = await import('node:readline');
const editor = createEditorExecutor();
for await (const line of readline.createInterface({ input: process.stdin })) {
  const sent = JSON.parse(line);
  let refused = '';
  try {
    await editor({ path: sent.path, old_text: sent.old, new_text: sent.new }, process.argv[2], {});
  } catch (error) { refused = String(error); }
  process.stdout.write(JSON.stringify({ refused }) + '\\n');
}
"""


def pydantic_harness(root: Path) -> Peer:
    program = f"ROOT = {str(root)!r}\n" + PYDANTIC + LOOP
    return Lines("pydantic-ai-harness", [installed_by_pip("pydantic-ai-harness"), "-c", program])


def gemini(_: Path) -> Peer:
    """Without a model to mend an anchor that isn't found."""
    module = installed_by_npm("@google/gemini-cli-core") / "dist" / "index.js"
    return Lines("gemini-cli core", ["node", "--input-type=module", "-e", GEMINI, str(module)])


def cline(root: Path) -> Peer:
    module = installed_by_npm("@cline/core") / "dist" / "index.js"
    return Lines("cline core", ["node", "--input-type=module", "-e", CLINE, str(module), str(root)])
