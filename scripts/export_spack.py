#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints Spack's recipe as it goes into spack-packages: with the address of a forge in place of this clone, the names of the
maintainers, and the checksums of the releases' archives, which were downloaded from there.

  export_spack.py --repository https://forge.example/granary/granary --maintainer NAME 0.1.0=v0.1.0.tar.gz ..."""
import argparse
import hashlib
import pathlib
import re
import sys

RECIPE = pathlib.Path(__file__).resolve().parents[1] / "spack/spack_repo/granary/packages/granary/package.py"
CLONE = re.compile(r"    # The clone of granary.*?# end clone\n", re.S)
NOTICE = """# Copyright Spack Project Developers. See COPYRIGHT file for details.
#
# SPDX-License-Identifier: (Apache-2.0 OR MIT)
"""


def release(text):
    version, _, archive = text.partition("=")
    if not re.fullmatch(r"\d+\.\d+\.\d+", version) or not pathlib.Path(archive).is_file():
        raise argparse.ArgumentTypeError(f"'{text}' is not VERSION=ARCHIVE, with the file of that archive")
    return version, hashlib.sha256(pathlib.Path(archive).read_bytes()).hexdigest()


def published(recipe, repository, maintainers, releases):
    newest = max(releases, key=lambda one: [int(part) for part in one[0].split(".")])[0]
    names = ", ".join(f'"{name}"' for name in maintainers)
    versions = "".join(f'    version("{version}", sha256="{checksum}")\n' for version, checksum in releases)
    recipe, count = CLONE.subn(f"""    homepage = "{repository}"
    url = "{repository}/archive/refs/tags/v{newest}.tar.gz"
    git = "{repository}.git"

    maintainers({names})

    version("main", branch="main")
{versions}""", recipe)
    if count != 1:
        raise ValueError(f"{RECIPE} has no part between '# The clone of granary' and '# end clone'")
    recipe = recipe.replace("import pathlib\n\n", "", 1)
    return NOTICE + "\n" + recipe.partition("\n")[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repository", required=True, help="its address on the forge, without .git")
    parser.add_argument("--maintainer", action="append", required=True, help="a name on the forge; may be repeated")
    parser.add_argument("releases", nargs="+", type=release, metavar="VERSION=ARCHIVE")
    arguments = parser.parse_args()
    sys.stdout.write(published(RECIPE.read_text(encoding="utf-8"), arguments.repository, arguments.maintainer, arguments.releases))
    return 0


if __name__ == "__main__":
    sys.exit(main())
