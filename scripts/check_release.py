#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The version of CMakeLists.txt is that of the newest release in CHANGELOG.md and of CITATION.cff; the changelog has its form:
an unreleased section, then releases with their dates, each with its upgrade notes first. The workflow of the forge runs the
scripts of .ci, and its files are valid YAML. Prints each fault and exits with 1: check_release.py [ROOT]"""
import datetime
import pathlib
import re
import sys

import yaml  # PyYAML, a dependency of mkdocs.

KINDS = ["Upgrade notes", "Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]


def numbers(version):
    return [int(part) for part in version.split(".")]


def releases(changelog):
    """(name, text after the name, text of the section) of each section."""
    parts = re.split(r"^## \[([^\]]*)\](.*)\n", changelog, flags=re.M)[1:]
    return list(zip(parts[::3], parts[1::3], parts[2::3]))


def faults_of_changelog(sections):
    if not sections or sections[0][:2] != ("Unreleased", ""):
        yield "CHANGELOG.md: the first section is not [Unreleased]"
    dated = [section for section in sections if section[0] != "Unreleased"]
    for name, date, _ in dated:
        if not re.fullmatch(r"\d+\.\d+\.\d+", name):
            yield f"CHANGELOG.md: '{name}' is no version, such as 0.1.0"
            return
        try:
            datetime.date.fromisoformat(date.removeprefix(" - "))
        except ValueError:
            yield f"CHANGELOG.md: release {name} has no date, such as [{name}] - 2026-11-28"
            return
    for (newer, date, _), (older, before, _) in zip(dated, dated[1:]):
        if numbers(newer) <= numbers(older) or date < before:
            yield f"CHANGELOG.md: release {newer} stands above {older}, which is not older"
    for name, _, text in sections:
        kinds = re.findall(r"^### (.*)$", text, re.M)
        if kinds[:1] != ["Upgrade notes"]:
            yield f"CHANGELOG.md: {name} does not begin with its upgrade notes"
        for kind in sorted(set(kinds) - set(KINDS)):
            yield f"CHANGELOG.md: {name} has the section '{kind}': it is one of {', '.join(KINDS)}"


def faults_of_forge(root):
    files = sorted((root / ".github").rglob("*.yml"))
    texts = {}
    for file in files:
        texts[file] = file.read_text(encoding="utf-8")
        try:
            yaml.safe_load(texts[file])
        except yaml.YAMLError as error:
            yield f"{file.relative_to(root)}: {' '.join(str(error).split())}"
    commands = re.findall(r"run: bash (\.ci/\S+)", "\n".join(texts.values()))
    for script in sorted({f".ci/{file.name}" for file in (root / ".ci").iterdir()} - set(commands)):
        yield f".github/workflows: no workflow runs {script}"
    for script in sorted(set(commands)):
        if not (root / script).exists():
            yield f".github/workflows: there is no {script}"


def faults(root):
    version = re.search(r"project\(granary VERSION ([\d.]+)", (root / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
    sections = releases((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    wrong = list(faults_of_changelog(sections))
    yield from wrong
    dated = [section for section in sections if section[0] != "Unreleased"]
    if dated and not wrong:
        name, date, _ = dated[0]
        if name != version:
            yield f"CMakeLists.txt has version {version}, and the newest release of CHANGELOG.md is {name}"
        citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
        cited = f"{citation['version']} of {citation['date-released']}"
        if cited != f"{name} of {date.removeprefix(' - ')}":
            yield f"CITATION.cff has {cited}, and the newest release of CHANGELOG.md is {name} of {date.removeprefix(' - ')}"
    yield from faults_of_forge(root)


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[1]
    found = list(faults(root))
    for fault in found:
        print(fault)
    print(f"releases: {len(found)} fault{'' if len(found) == 1 else 's'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
