#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests examples/python/read_results.py with the programs' output: factors, solutions, summaries, bad input.

    read_results_test.py SCRIPT PROGRAMS' FOLDER
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT, PROGRAMS = "", ""


class ReadResults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.program("granary-matrix", "generate", "spd", "200", "A.h5", "--tile", "64")
        cls.program("granary-matrix", "generate", "spd", "200", "other.h5", "--tile", "64", "--seed", "2")
        cls.program("granary-matrix", "generate", "general", "200x3", "B.h5", "--tile", "64")
        cls.program("granary-cholesky", "A.h5", "L.h5", "--tile", "64", "--quiet", "--json", "run.json")
        cls.program("granary-cholesky", "A.h5", "U.h5", "--upper", "--tile", "64", "--quiet")
        cls.program("granary-cholesky", "random:100", "C.h5", "--complex", "--tile", "64", "--quiet")
        cls.program("granary-solve", "A.h5", "B.h5", "X.h5", "--tile", "64", "--quiet", "--json", "solve.json")

    @classmethod
    def program(cls, name, *arguments):
        subprocess.run([pathlib.Path(PROGRAMS, name), *arguments], check=True, cwd=cls.folder.name, stdout=subprocess.DEVNULL)

    def read(self, *arguments):
        return subprocess.run([sys.executable, "-B", SCRIPT, *arguments], cwd=self.folder.name, capture_output=True,
                              text=True, env={**os.environ, "MPLCONFIGDIR": self.folder.name})

    def assert_picture(self, name):
        data = pathlib.Path(self.folder.name, name).read_bytes()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        self.assertGreater(len(data), 10000)

    def test_factor(self):
        done = self.read("L.h5", "--matrix", "A.h5", "--summary", "run.json", "--plot", "factor.png")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("lower of 200 x 200, float64", done.stdout)
        self.assertIn("GFlop/s", done.stdout)
        self.assertIn("which is fine", done.stdout)
        self.assert_picture("factor.png")

    def test_upper_factor_of_a_named_dataset(self):
        done = self.read("U.h5:/U", "--matrix", "A.h5:/A")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("upper of 200 x 200", done.stdout)

    def test_solution(self):
        done = self.read("X.h5", "--matrix", "A.h5", "--right-sides", "B.h5", "--summary", "solve.json", "--plot", "x.png")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("all of 200 x 3, float64", done.stdout)
        self.assertIn("which is fine", done.stdout)
        self.assert_picture("x.png")

    def test_complex_factor_is_drawn(self):
        done = self.read("C.h5", "--plot", "complex.png")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("complex128", done.stdout)
        self.assert_picture("complex.png")

    def test_a_factor_of_another_matrix_is_found_out(self):
        done = self.read("L.h5", "--matrix", "other.h5")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("too large", done.stdout)

    def test_a_wrong_solution_is_found_out(self):
        self.assertEqual(self.read("X.h5", "--matrix", "A.h5", "--right-sides", "X.h5").returncode, 1)

    def test_bad_input(self):
        for arguments, message in [
            (["nothing.h5"], "No such file"),
            (["L.h5:/nothing"], "L.h5 has no dataset /nothing"),
            (["L.h5", "--matrix", "B.h5"], "the matrix is 200 x 3, but 200 x 200 was expected"),
            (["L.h5", "--matrix", "L.h5"], "the matrix must have both triangles"),
            (["X.h5", "--matrix", "A.h5"], "a solution is checked with --matrix and --right-sides"),
            (["L.h5", "--summary", "nothing.json"], "nothing.json"),
            (["L.h5", "--plot", "picture.nothing"], "nothing"),
        ]:
            with self.subTest(arguments):
                done = self.read(*arguments)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertTrue(done.stderr.startswith("read_results.py: "), done.stderr)
                self.assertIn(message, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    SCRIPT, PROGRAMS = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
