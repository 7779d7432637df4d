#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every C++ block of README.md and docs/ is in a file of examples/, which the tests build and run: each of its statements, in order.
Lines of CMake are in a block that tests/docs/commands_test.py writes to a file and configures, or in a project of examples/. docs/policy-functions.md
lists the functions of the classes that policies see. Files, folders and functions that docs/design.md names exist. Blocks of Python, JSON, YAML and shell have
valid syntax, a block of text contains no command, and every linked picture and file exists: check_docs.py [ROOT]"""
import json
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent


# The last character before a statement: that of another statement, a condition, a template's head, a label, or a
# preprocessor line.
BEFORE_STATEMENTS = ';{})>:"'
LANGUAGES = {"cpp", "cmake", "json", "yaml", "python", "sh", "text"}


def lines(text: str) -> list[str]:
    """Lines without indentation, comments, markers and blank lines."""
    stripped = (re.sub(r"\s*//.*", "", line).strip() for line in text.splitlines())
    return [line for line in stripped if line]


def stands_in(block: list[str], example: str) -> bool:
    # Compared without line breaks, so that documents may break lines differently.
    text = re.sub(r"\s+", "", "".join(lines(example)))
    position = 0
    for piece in re.split(r"(?<=[;{}])", re.sub(r"\s+", "", "".join(block))):
        found = text.find(piece, position)
        while found > 0 and text[found - 1] not in BEFORE_STATEMENTS:
            found = text.find(piece, found + 1)
        if found < 0:
            return False
        position = found + len(piece)
    return True


def fault(language: str, block: str, examples: list[str], configured: set[str]) -> str:
    """The fault of a block; empty: none."""
    if language not in LANGUAGES:
        return f"nobody checks blocks of '{language}'"
    if language == "cpp":
        return "" if any(stands_in(lines(block), text) for text in examples) else "no example holds it"
    if language == "cmake":
        return "" if set(block.splitlines()) <= configured else "no block that is configured holds it"
    if language == "yaml":
        import yaml  # PyYAML, a dependency of mkdocs.
        try:
            yaml.safe_load(block)
        except yaml.YAMLError as error:
            return str(error)
        return ""
    if language == "text":
        commands = [line for line in block.splitlines() if re.match(r"(?:\$ |\S*/)?granary-[a-z]+ (?!.*(?:\[|\b[A-Z]{2,}\b))", line)]
        return f"nobody runs '{commands[0]}'" if commands else ""
    try:
        if language == "python":
            compile(block, "block", "exec")
        elif language == "json":
            json.loads(block)
        elif language in ("sh", "bash"):
            subprocess.run(["bash", "-n"], input=block, text=True, check=True, capture_output=True)
    except (SyntaxError, ValueError) as error:
        return str(error)
    except subprocess.CalledProcessError as error:
        return error.stderr.strip()
    return ""


def broken_links(document: pathlib.Path, text: str) -> list[str]:
    prose = re.sub(r"^```.*?^```|`[^`]*`", "", text, flags=re.S | re.M)
    targets = (link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", prose) if not re.match(r"[a-z]+:", link))
    return [target for target in targets if target and not (document.parent / target).exists()]


# The page of functions, and the headers of the classes that its sections describe.
FUNCTIONS = "docs/policy-functions.md"
CLASSES = {"SystemView": "system_view", "PlanBoard": "plan_board", "Scheduler": "scheduler",
           "SystemEvents": "scheduler_extensions", "SchedulerLimits": "scheduler_extensions",
           "TaskAborter": "scheduler_extensions", "MetaScheduler": "scheduler_extensions",
           "EvictionPolicy": "eviction_policy", "Policy": "policy"}


def public_functions(header: str, name: str) -> set[str]:
    """The public member functions of the class, without those of nested classes."""
    code = re.sub(r"//.*", "", header)
    body = re.search(rf"class GRANARY_EXPORT {name}\b[^{{;]*\{{(.*?)^\}};", code, re.S | re.M)[1].partition(" private:")[0]
    while (inner := re.sub(r"\{[^{}]*\}", ";", body)) != body:
        body = inner
    return set(re.findall(r"(?<![\w~.>])(?!m_)([a-z]\w*)\(", body))


def wrong_functions() -> list[str]:
    """Functions that the page lacks, and those that do not exist."""
    page = root / FUNCTIONS
    if not page.exists():
        return []
    wrong = []
    for name, header in CLASSES.items():
        section = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", page.read_text(), re.S | re.M)
        listed = set(re.findall(r"^\| `(\w+)\(", section[1] if section else "", re.M))
        known = public_functions((root / f"core/policy/{header}.hpp").read_text(), name)
        wrong += [f"{FUNCTIONS}: {name} lacks {function}()" for function in sorted(known - listed)]
        wrong += [f"{FUNCTIONS}: {name} has no function {function}()" for function in sorted(listed - known)]
    return wrong


# The page of the source's structure. A column `file of FOLDER`, or `folder`, of a table holds only names of files, perhaps
# without their endings, and of folders; elsewhere a name with a slash or an ending is one.
DESIGN = "docs/design.md"
FILES_COLUMN = re.compile(r"(?:file|folder)(?: of `([^`]*)`)?")
PATH = re.compile(r"[\w.{},*-]+/[\w.{},*/-]*|[\w.{},*-]+\.(?:cmake|cpp|csv|hpp|json|map|md|py|sh|txt)")


def exists(name: str, folder: pathlib.Path) -> bool:
    """Whether the folder or the repository has it; braces and globs as in a shell, and each name in braces counts."""
    if braces := re.search(r"\{([^{}]*)\}", name):
        return all(exists(name[:braces.start()] + part + name[braces.end():], folder) for part in braces[1].split(","))
    return any(next(base.glob(name.rstrip("/") + ending), None) for base in (folder, root) for ending in ("", ".*"))


def wrong_names() -> list[str]:
    """Files, folders and functions of the page that do not exist."""
    page = root / DESIGN
    if not page.exists():
        return []
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)
    missing = []
    folders: dict[int, pathlib.Path] | None = None  # by column of the present table
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")] if line.startswith("|") else [line]
        if not line.startswith("|"):
            folders = None
        elif folders is None:
            columns = ((column, FILES_COLUMN.fullmatch(cell)) for column, cell in enumerate(cells))
            folders = {column: root / (found[1] or "") for column, found in columns if found}
        for column, cell in enumerate(cells):
            folder = (folders or {}).get(column)
            missing += [name for name in re.findall(r"`([^`]*)`", cell)
                        if (folder or PATH.fullmatch(name)) and not exists(name, folder or root)]
    sources = [path for path in root.iterdir() if path.is_dir() and not path.name.startswith((".", "build"))]
    headers = [path.read_text() for folder in sources for path in folder.rglob("*.hpp")]
    for name, member in dict.fromkeys(re.findall(r"`([A-Z]\w*)::~?(\w+)", text)):
        head = re.compile(rf"^\s*(?:class|struct|enum class) [^;(]*?\b{name}\b[^;()]*\{{", re.M)
        if not any(re.search(rf"\b{member}\b", header) and head.search(header) for header in headers):
            missing.append(f"{name}::{member}")
    return [f"{DESIGN}: there is no {name}" for name in missing]


def main() -> int:
    examples = [path.read_text() for path in sorted((root / "examples").rglob("*.cpp"))]
    documents = sorted(root.glob("*.md")) + sorted((root / "docs").glob("*.md"))
    configured = {line for document in documents
                  for block in re.findall(r"^<!-- file: .* -->\n```cmake\n(.*?)^```", document.read_text(), re.S | re.M)
                  for line in block.splitlines()}
    configured |= {line for project in (root / "examples").glob("*/CMakeLists.txt") for line in project.read_text().splitlines()}
    counts = {"cpp": 0}
    wrong = wrong_functions() + wrong_names()
    for document in documents:
        text = document.read_text()
        name = document.relative_to(root)
        wrong += [f"{name}: there is no {target}" for target in broken_links(document, text)]
        if re.search(r"^(?:[ \t]+```|[ \t]*~~~)", text, re.M):
            wrong.append(f"{name}: a block is indented, or fenced with ~~~: write ``` at the beginning of the line")
        for language, block in re.findall(r"^```([^\n]*)\n(.*?)^```$", text, re.S | re.M):
            counts[language] = counts.get(language, 0) + 1
            if why := fault(language, block, examples, configured):
                wrong.append(f"{name}: the block that begins with '{block.splitlines()[0]}': {why}")
    if counts["cpp"] == 0:
        wrong.append("no C++ block was found in the documents")
    for sentence in wrong:
        print(sentence)
    kinds = ", ".join(f"{count} {language}" for language, count in sorted(counts.items()))
    print(f"blocks of {len(documents)} documents: {kinds}; {len(wrong)} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
