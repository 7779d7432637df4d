#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds what docs/figures.md says of the papers against the simulator.

    bench/figures/check_claims.py [--program build/bin/granary-simulate] [--all] [KEY ...]

Each row of a table `| paper | here |` begins with its key, `<!-- claim KEY -->`, and its second cell with a verdict in
bold: agrees, partly, differs or open; what follows may limit it. Each row that agrees has a check of that key in `claims/`, and each check a row that
agrees. Without --all, checks use small problems where these show the same, and those that take longer are left out;
with --all they have the sizes of the page.
"""
import argparse
import pathlib
import re
import sys
import tempfile
import time

import claims
from simulate import Simulations

ROOT = pathlib.Path(__file__).resolve().parents[2]


def rows(page):
    """The verdict of each row by its key; faults of the page."""
    verdicts, faults = {}, []
    in_table = False
    for line in page.splitlines():
        in_table = (in_table and line.startswith("|")) or bool(re.fullmatch(r"\| *paper *\| *here *\|", line))
        if not in_table or re.match(r"\| *paper *\||\|-", line):
            continue
        found = re.fullmatch(r"\| <!-- claim ([a-z0-9-]+) --> [^|]+ \| \*\*(agrees|partly|differs|open)\b[^|]*\|", line)
        if not found:
            faults.append(f"this row has no key, no verdict or not two cells: {line[:100]}")
        elif found[1] in verdicts:
            faults.append(f"{found[1]}: two rows have this key")
        else:
            verdicts[found[1]] = found[2]
    return verdicts, faults


def mismatches(verdicts, checks):
    """Rows that agree and have no check, and checks without such a row."""
    agreeing = {key for key, verdict in verdicts.items() if verdict == "agrees"}
    yield from (f"{key}: the row agrees, but has no check" for key in sorted(agreeing - set(checks)))
    yield from (f"{key}: the check has no row that agrees" for key in sorted(set(checks) - agreeing))


def run(checks, simulations, whole):
    """What does not hold."""
    for check in checks:
        start = time.monotonic()
        yield from (f"{check.key}: {what}" for what in check.run(simulations, whole))
        print(f"{check.key}: {time.monotonic() - start:.1f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("keys", nargs="*", metavar="KEY", help="only these checks")
    parser.add_argument("--program", default=ROOT / "build/bin/granary-simulate", type=pathlib.Path)
    parser.add_argument("--page", default=ROOT / "docs/figures.md", type=pathlib.Path)
    parser.add_argument("--all", action="store_true", help="all checks, with the problems of the page")
    options = parser.parse_args()
    for key in options.keys:
        if key not in claims.CHECKS:
            parser.error(f"there is no check {key}: the checks are {', '.join(claims.CHECKS)}")
    verdicts, faults = rows(options.page.read_text(encoding="utf-8"))
    faults += mismatches(verdicts, claims.CHECKS)
    chosen = [check for check in claims.CHECKS.values() if (check.key in options.keys if options.keys else options.all or not check.long)]
    with tempfile.TemporaryDirectory() as folder:
        faults += run(chosen, Simulations(options.program, folder), options.all)
    for fault in faults:
        print(fault)
    print(f"{len(verdicts)} claims, {sum(verdict == 'agrees' for verdict in verdicts.values())} agree, {len(chosen)} of "
          f"{len(claims.CHECKS)} checks were run; {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
