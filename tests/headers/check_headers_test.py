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
    files = {"runtime/granary.hpp": including("core/base/1.hpp")}
    for i in range(1, length + 1):
        files[f"core/base/{i}.hpp"] = including(f"core/base/{i + 1}.hpp") if i < length else "#include <vector>\n"
    return files


class CheckHeaders(unittest.TestCase):
    def test_the_facade_includes_few(self):
        result = check(chain(25))
        self.assertEqual(result.returncode, 0, result.stdout)
        result = check(chain(26))
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("granary.hpp includes 26 of granary's headers, more than 25: core/base/1.hpp", result.stdout)


if __name__ == "__main__":
    unittest.main()
