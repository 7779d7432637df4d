#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""find_tests.py finds the tests of a source by each of its rules, and names a source that has none."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TREE = {
    "core/base/wheel.hpp": "",
    "core/base/wheel.cpp": "#include <granary/detail/core/base/wheel.hpp>\n",
    "core/base/wheel_rim.cpp": "#include <granary/detail/core/base/wheel.hpp>\n",
    "core/base/axle.hpp": "#include <granary/detail/core/base/wheel.hpp>\n",
    "core/base/axle.cpp": "#include <granary/detail/core/base/axle.hpp>\n",
    "core/base/hub.hpp": "",
    "core/base/hub.cpp": "#include <granary/detail/core/base/hub.hpp>\n",
    "core/base/bearing.hpp": "",
    "core/base/bearing.cpp": "#include <granary/detail/core/base/bearing.hpp>\n",
    "core/base/wheel_user.hpp": "#include <granary/detail/core/base/hub.hpp>\n",
    "policies/horse.cpp": '#include <granary/detail/core/base/bearing.hpp>\nSchedulerRegistration const it("horse",\n',
    "apps/granary-cart/options.hpp": "",
    "apps/granary-cart/options.cpp": '#include "options.hpp"\n',
    "tests/unit/base/axle_test.cpp": "TEST(Axle, Turns) {}\n",
    "tests/unit/other/hub_test.cpp": "#include <granary/detail/core/base/wheel.hpp>\nTEST(Hub, OfAnotherLayer) {}\n",
    "tests/unit/base/load_test.cpp": "#include <granary/detail/core/base/wheel_user.hpp>\nTEST(Load, Is) {}\n",
    "tests/contract/policy_test.cpp": 'TEST_P(Policy, Runs) { run("horse:fast"); }\n',
    "tests/apps/cart_cli_test.cpp": 'TEST(Cart, Drives) { run("granary-cart"); }\n',
}


class FindTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "scripts").mkdir()
        (self.root / "scripts/find_tests.py").write_text((ROOT / "scripts/find_tests.py").read_text())
        for name, text in TREE.items():
            self.write(name, text)

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def find(self, *files):
        result = subprocess.run([sys.executable, "-B", self.root / "scripts/find_tests.py", *files], capture_output=True, text=True, cwd=self.root)
        return result.returncode, result.stdout + result.stderr

    def test_rules(self):
        for source, rule, test in [("core/base/axle.cpp", "name", "tests/unit/base/axle_test.cpp"),
                                   ("core/base/wheel.cpp", "header", "tests/unit/other/hub_test.cpp"),
                                   ("core/base/wheel_rim.cpp", "header", "tests/unit/other/hub_test.cpp"),
                                   ("policies/horse.cpp", "policy", "tests/contract/policy_test.cpp"),
                                   ("apps/granary-cart/options.cpp", "program", "tests/apps/cart_cli_test.cpp"),
                                   ("core/base/hub.cpp", "callers", "tests/unit/base/load_test.cpp"),
                                   ("core/base/bearing.cpp", "callers", "tests/contract/policy_test.cpp")]:
            with self.subTest(source):
                self.assertEqual(self.find(source), (0, f"{source}: by {rule}\n  {test}\n"))

    def test_counts(self):
        self.assertEqual(self.find(), (0, "tests of 7 sources: 1 by name, 2 by header, 1 by policy, 1 by program, 2 by callers, 0 without\n"))

    def test_a_source_without_tests(self):
        self.write("trace/lonely.hpp", "")
        self.write("trace/lonely.cpp", "#include <granary/detail/trace/lonely.hpp>\n")
        status, output = self.find()
        self.assertEqual(status, 1)
        self.assertIn("trace/lonely.cpp has no test", output)
        self.assertIn("1 without", output)

    def test_no_source(self):
        self.assertEqual(self.find("core/base/none.cpp")[0], 2)


if __name__ == "__main__":
    unittest.main()
