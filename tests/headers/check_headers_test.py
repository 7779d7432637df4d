#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_headers.py refuses each kind of fault, in a small tree."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_headers.py"


def check(files):
    with tempfile.TemporaryDirectory() as root:
        for name, content in files.items():
            file = pathlib.Path(root) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        return subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True)


def including(*headers):
    return "".join(f"#include <granary/{header}>\n" for header in headers)


def chain(length):
    """granary.hpp and `length` headers that it includes, each through the one before."""
    names = [f"core/base/{i}.hpp" for i in range(length)]
    inner = [f"detail/{name}" for name in names]
    files = {name: including(*inner[i + 1:i + 2]) + "#include <vector>\n" for i, name in enumerate(names)}
    return {"include/granary/granary.hpp": including(*inner[:1]), **files}


class CheckHeaders(unittest.TestCase):
    def accepted(self, files):
        result = check(files)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def refused(self, files, message):
        result = check(files)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn(message, result.stdout)

    def test_the_facade_includes_few(self):
        self.accepted(chain(43))
        self.refused(chain(44), "granary.hpp includes 44 of granary's headers, more than 43: detail/core/base/0.hpp")

    def test_the_front_door_is_small(self):
        doors = {f"include/granary/{i}.hpp": "#pragma once\n" for i in range(13)}
        self.accepted({**chain(1), **doors})
        self.refused({**chain(1), **doors, "include/granary/13.hpp": ""}, "include/granary has 15 headers, more than 14")

    def test_the_front_door_only_includes(self):
        self.accepted({**chain(1), "include/granary/a.hpp": "// A\n#pragma once\n\n/// B.\n" + including("detail/core/base/0.hpp")})
        self.refused({**chain(1), "include/granary/a.hpp": "int a();\n"},
                     "include/granary/a.hpp has more than comments and includes: int a();")

    def test_users_are_shown_the_front_door(self):
        for shown in ("examples/a.cpp", "examples/own/a.cpp", "docs/a.md", "tests/install/consumer/a.cpp"):
            self.accepted({**chain(1), shown: including("granary.hpp")})
            self.refused({**chain(1), shown: including("detail/core/base/0.hpp")},
                         f"{shown} names granary/detail/core/base/0.hpp, which is not in include/granary")


if __name__ == "__main__":
    unittest.main()
