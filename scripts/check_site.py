#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks a built site: check_site.py SITE.

Every link and picture refers to an existing file and anchor, nothing is loaded from the network, and the navigation names every page.
"""
import html.parser
import pathlib
import re
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The anchors of a page, its links, and what it loads."""

    def __init__(self, text: str):
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list) -> None:
        values = dict(attributes)
        self.anchors.update(values[key] for key in ("id", "name") if values.get(key))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if values.get("src"):
            self.loaded.append(values["src"])
        if tag == "link" and values.get("rel") != "canonical" and values.get("href"):
            self.loaded.append(values["href"])


def check(site: pathlib.Path) -> list[str]:
    # Doxygen reports its own broken links.
    pages = {path: Page(path.read_text()) for path in sorted(site.rglob("*.html"))
             if path.relative_to(site).parts[0] != "reference" and path.name != "404.html"}
    wrong = []
    named = {site / "index.html"}
    for path, page in pages.items():
        name = path.relative_to(site)
        for link in page.links + page.loaded:
            if re.match(r"[a-z]+:|//", link):
                if link in page.loaded and not link.startswith("data:"):
                    wrong.append(f"{name}: loads {link} from the network")
                continue
            target, _, anchor = link.partition("#")
            file = (path.parent / urllib.parse.unquote(target)).resolve() if target else path
            if file.is_dir():
                file = file / "index.html"
            if not file.is_file():
                wrong.append(f"{name}: {link} does not exist")
            elif anchor and file in pages and urllib.parse.unquote(anchor) not in pages[file].anchors:
                wrong.append(f"{name}: {link}: there is no such section")
            if path == site / "index.html":
                named.add(file)
    for path in pages:
        if path not in named and path.relative_to(site).parts[0] != "files":
            wrong.append(f"mkdocs.yml: the navigation does not name {path.relative_to(site)}")
    if len(pages) < 5:
        wrong.append(f"{site}: only {len(pages)} pages")
    return wrong


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    wrong = check(pathlib.Path(sys.argv[1]).resolve())
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
