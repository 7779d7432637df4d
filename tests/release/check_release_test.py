#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_release.py accepts the project, and names each fault that a change of one file makes."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHANGELOG = """# Changelog
## [Unreleased]
### Upgrade notes
### Fixed
## [0.1.1] - 2027-02-01
### Upgrade notes
## [0.1.0] - 2026-11-28
### Upgrade notes
"""


class CheckRelease(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in (".ci", ".github"):
            shutil.copytree(ROOT / name, self.root / name)
        self.write("CMakeLists.txt", "project(granary VERSION 0.1.1)")
        self.write("CITATION.cff", "version: 0.1.1\ndate-released: 2027-02-01\n")
        self.write("CHANGELOG.md", CHANGELOG)

    def write(self, name, text):
        (self.root / name).write_text(text)

    def check(self, root):
        result = subprocess.run([sys.executable, "-B", ROOT / "scripts/check_release.py", root], capture_output=True, text=True)
        return result.returncode, result.stdout + result.stderr

    def refused(self, message):
        status, output = self.check(self.root)
        self.assertEqual(status, 1, output)
        self.assertIn(message, output)

    def test_accepts(self):
        for root in (ROOT, self.root):
            self.assertEqual(self.check(root), (0, "releases: 0 faults\n"))

    def test_versions(self):
        self.write("CMakeLists.txt", "project(granary VERSION 0.2.0)")
        self.refused("CMakeLists.txt has version 0.2.0, and the newest release of CHANGELOG.md is 0.1.1")
        self.write("CITATION.cff", "version: 0.1.1\ndate-released: 2026-11-28\n")
        self.refused("CITATION.cff has 0.1.1 of 2026-11-28, and the newest release of CHANGELOG.md is 0.1.1 of 2027-02-01")

    def test_form_of_the_changelog(self):
        for old, new, message in [
                ("## [Unreleased]\n### Upgrade notes\n### Fixed\n", "", "the first section is not [Unreleased]"),
                ("- 2027-02-01", "- unreleased", "release 0.1.1 has no date"),
                ("0.1.1", "next", "'next' is no version"),
                ("0.1.1", "0.0.9", "release 0.0.9 stands above 0.1.0"),
                ("### Fixed", "### Mended", "Unreleased has the section 'Mended'"),
                ("2026-11-28\n### Upgrade notes", "2026-11-28\n### Added", "0.1.0 does not begin with its upgrade notes")]:
            with self.subTest(message):
                self.assertIn(old, CHANGELOG)
                self.write("CHANGELOG.md", CHANGELOG.replace(old, new))
                self.refused(message)

    def test_the_forge(self):
        workflow = self.root / ".github/workflows/checks.yml"
        text = workflow.read_text()
        workflow.write_text(text.replace("bash .ci/run", "bash .ci/some"))
        self.refused("no workflow runs .ci/run")
        self.refused("there is no .ci/some")
        workflow.write_text(text + "- [")
        self.refused(".github/workflows/checks.yml: while parsing")


if __name__ == "__main__":
    unittest.main()
