# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The messages that the sources throw or log, with … for variable parts."""
import dataclasses
import pathlib
import re

FOLDERS = ("apps", "runtime", "core/backends", "linalg", "outofcore", "simulator", "bounds", "schedules", "workloads", "trace", "policies", "auto",
           "distributed", "mpi", "core/planner", "core/engine", "core/model", "core/base")
# Sites of messages: an exception, a log call, a function of granary that throws its argument, and a sentence that is
# composed before it is thrown.
SITE = re.compile(r"\bthrow\s+(?:granary::)?(?P<thrown>[A-Z]\w+)\s*[({]"
                  r"|:\s*(?P<base>\w*Error|InvalidArgument)\s*\("
                  r"|\bspdlog::(?P<level>warn|error)\s*\("
                  r"|\b(?P<warning>warnings\.push_back|warn_once)\s*\("
                  r"|\b(?P<helper>refuse|fail|malformed)\s*\("
                  r"|\b(?:refusal|obstacle|warning|sentence|message)\s*\+?=(?P<assigned>)(?!=)"
                  r"|\breturn\s(?P<returned>)(?=\s*(?:std::string\(|fmt::format\()?\s*\"[^\"\\]{20})")
TOKEN = re.compile(r'R"\((?P<raw>.*?)\)"|"(?P<text>(?:[^"\\]|\\.)*)"|(?P<space>\s+)|//[^\n]*|\'(?:[^\'\\]|\\.)\'|(?P<other>.)', re.S)
FORMAT = re.compile(r"\bfmt::format\(")


@dataclasses.dataclass(frozen=True, order=True)
class Message:
    text: str
    kind: str  # class of the exception, or warning
    folder: str


def piece(source: str, start: int, end_at: str) -> str:
    """From `start` to the first character of `end_at` outside brackets, or to the bracket that closes around it."""
    depth = 0
    for token in TOKEN.finditer(source, start):
        other = token["other"]
        if other and depth == 0 and other in end_at:
            return source[start:token.start()]
        if other and other in "({[":
            depth += 1
        elif other and other in ")}]":
            depth -= 1
            if depth < 0:
                return source[start:token.start()]
    return source[start:]


def arguments(source: str, start: int) -> int:
    """How many arguments stand from `start`, the first one's, to the bracket that closes around them."""
    count = 1
    while source[(start := start + len(piece(source, start, ",")))] == ",":
        start += 1
        count += 1
    return count


def sentence(expression: str) -> str:
    """The literals of an expression in order, with … for the code between them and for the fields of a format."""
    while found := FORMAT.search(expression):
        inside = piece(expression, found.end(), "")
        expression = f"{expression[:found.start()]}{piece(inside, 0, ',')}{expression[found.end() + len(inside) + 1:]}"
    parts: list[str] = []
    for token in TOKEN.finditer(expression.replace("std::string(", "")):
        literal = token["text"] if token["text"] is not None else token["raw"]
        if literal is not None:
            text = re.sub(r"\\(.)", lambda escape: " " if escape[1] in "nt" else escape[1], literal)
            parts.append(re.sub(r"\{(?!\{)[^{}]*\}", "…", text).replace("{{", "{").replace("}}", "}"))
        elif token["other"] and not token["other"].isspace():
            parts.append("…")
    return re.sub(r"…(?:\s*…)*", "…", "".join(parts)).strip()


def messages_of(source: str, folder: str) -> set[Message]:
    found = set()
    for site in SITE.finditer(source):
        logged = "warning" if site["warning"] or site["level"] == "warn" else site["level"]
        kind = site["thrown"] or site["base"] or logged or ""
        if site["assigned"] is not None or site["returned"] is not None:
            end_at = ";"
        else:
            end_at = "," if logged or kind == "IoError" else ""
        text = sentence(piece(source, site.end(), end_at))
        if kind == "IoError" and site["thrown"]:
            # Operation, file and errno; an offset only of reads and writes.
            place = " at byte …" if arguments(source, site.end()) == 4 else ""
            text = f"{text} …{place}: …".removeprefix("…")
        words = re.findall(r"[A-Za-z]{2,}", text.replace("granary: ", ""))
        # Without a class it is a sentence only if it reads like one.
        if len(words) > 1 and (kind or re.search(r"\w+ \w+ \w+|^cannot ", text.replace("…", "x"))):
            found.add(Message(text, kind, folder))
    return found


def messages(root: pathlib.Path) -> set[Message]:
    found = set()
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".cpp", ".hpp"):
                found |= messages_of(path.read_text(), folder)
    return found
