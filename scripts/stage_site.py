#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Assembles the pages of the site: stage_site.py TO [ROOT].

README.md becomes the first page, docs/ is copied as it is, and a link to another file of the repository leads to a page that shows that
file, or lists that folder. A link whose text is the name of a page reads as that page's title. A link to a file that does not exist is an error.
"""
import os
import pathlib
import re
import shutil
import sys

root = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else __file__ + "/../..").resolve()
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".py": "python", ".sh": "sh", ".json": "json", ".yaml": "yaml", ".txt": "text"}
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
LINK = re.compile(r"\[([^\][]*)\]\(([^)\s]+)\)")


def page_of(path: pathlib.Path) -> str:
    """The path of a repository's file on the site."""
    name = path.relative_to(root).as_posix()
    if name in PAGES:
        return PAGES[name]
    if name.startswith("docs/"):
        return name[len("docs/"):]
    return f"files/{name}/index.md" if path.is_dir() else f"files/{name}.md"


def title(file: pathlib.Path) -> str:
    found = re.search(r"^# (.*)", file.read_text(), re.M)
    return found[1] if found else file.name


class Site:
    def __init__(self, to: pathlib.Path):
        self.to = to
        self.shown: set[pathlib.Path] = set()
        self.broken: list[str] = []

    def page(self, source: pathlib.Path) -> None:
        name = page_of(source)
        inside_code = False
        lines = []
        for line in source.read_text().splitlines():
            if line.startswith("```"):
                inside_code = not inside_code
            lines.append(line if inside_code else LINK.sub(lambda link: self.link(link, source, name), line))
        if name == "reference.md":  # Doxygen's output exists only on the site.
            lines += ["", "[All classes and functions](reference/index.html)"]
        self.write(name, "\n".join(lines) + "\n")

    def link(self, link: re.Match, source: pathlib.Path, page: str) -> str:
        target, _, anchor = link[2].partition("#")
        if not target or re.match(r"[a-z]+:", target) or "`" in target:
            return link[0]
        file = (source.parent / target).resolve()
        if not file.exists() or root not in file.parents:
            self.broken.append(f"{source.relative_to(root)}: {link[2]} is not in the repository")
            return link[0]
        to = page_of(file)
        if to.startswith("files/"):
            self.shown.add(file)
        relative = os.path.relpath(to, pathlib.PurePosixPath(page).parent)
        text = title(file) if file.suffix == ".md" and link[1].endswith(file.name) else link[1]
        return f"[{text}]({relative}{'#' + anchor if anchor else ''})"

    def show(self, file: pathlib.Path) -> None:
        name = file.relative_to(root)
        if file.is_dir():
            inside = sorted(entry for entry in file.rglob("*") if entry.is_file() and "__pycache__" not in entry.parts)
            links = (f"- [{entry.relative_to(file)}]({os.path.relpath(page_of(entry), f'files/{name}')})" for entry in inside)
            self.write(page_of(file), f"# {name}\n\n" + "\n".join(links) + "\n")
            for entry in set(inside) - self.shown:
                self.show(entry)
            return
        text = file.read_text()
        fence = "````" if "```" in text else "```"
        self.write(page_of(file), f"# {name}\n\n{fence}{LANGUAGES.get(file.suffix, 'text')}\n{text}{fence}\n")

    def write(self, name: str, text: str) -> None:
        path = self.to / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def stage(self) -> None:
        for file in sorted((root / "docs").rglob("*")):
            if file.suffix == ".md":
                self.page(file)
            elif file.is_file():
                copy = self.to / file.relative_to(root / "docs")
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)
        for name in PAGES:
            self.page(root / name)
        for file in sorted(self.shown):
            self.show(file)


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    site = Site(pathlib.Path(sys.argv[1]))
    shutil.rmtree(site.to, ignore_errors=True)
    site.stage()
    for sentence in site.broken:
        print(sentence, file=sys.stderr)
    return 1 if site.broken else 0


if __name__ == "__main__":
    sys.exit(main())
