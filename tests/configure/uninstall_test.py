#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The target `uninstall` removes what was installed, and nothing else. Argument: the command of CMake."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CMAKE = "cmake"


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


class Uninstall(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.build, self.prefix = self.root / "build", self.root / "prefix"
        self.assertEqual(self.run_cmake("-S", ROOT / "tests/configure/uninstall", "-B", self.build, f"-DROOT={ROOT}")[0], 0)

    def run_cmake(self, *arguments, **variables):
        result = subprocess.run([CMAKE, *arguments], capture_output=True, text=True, env={**os.environ, **variables})
        return result.returncode, re.sub(r"\s+", " ", result.stdout + result.stderr)

    def install(self, *options, **variables):
        self.assertEqual(self.run_cmake("--install", self.build, "--prefix", self.prefix, *options, **variables)[0], 0)

    def uninstall(self, **variables):
        return self.run_cmake("--build", self.build, "--target", "uninstall", **variables)

    def test_all(self):
        self.install()
        own = self.prefix / "share/man/own.1"
        own.write_text("of another package")
        status, output = self.uninstall()
        self.assertEqual(status, 0, output)
        self.assertIn("uninstalled 3 files; 0 were gone already", output)
        self.assertEqual(files(self.prefix), ["include", "share", "share/doc", "share/man", "share/man/own.1"])

    def test_nothing_installed(self):
        self.install()
        self.uninstall()
        status, output = self.uninstall()
        self.assertNotEqual(status, 0)
        self.assertIn(f"nothing to uninstall: {self.build} has no install_manifest.txt, which 'cmake --install {self.build}' writes", output)

    def test_what_is_gone_already(self):
        self.install()
        (self.prefix / "share/man/CMakeLists.txt").unlink()
        self.assertIn("uninstalled 2 files; 1 were gone already", self.uninstall()[1])

    def test_files_of_others_keep_their_folder(self):
        self.install()
        other = self.prefix / "include/granary/core/other.hpp"
        other.write_text("")
        self.uninstall()
        self.assertTrue(other.exists())
        self.assertFalse((self.prefix / "include/granary/core/base").exists())

    def test_components(self):
        self.install("--component", "documents")
        self.assertIn("uninstalled 1 files", self.uninstall()[1])
        self.assertFalse((self.prefix / "share/doc/granary").exists())

    def test_destdir(self):
        self.install(DESTDIR=str(self.root / "stage"))
        self.assertIn("uninstalled 3 files", self.uninstall(DESTDIR=str(self.root / "stage"))[1])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        CMAKE = sys.argv.pop(1)
    unittest.main()
