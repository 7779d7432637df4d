#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The switches of optional dependencies: AUTO does without what is missing, ON refuses in one sentence, OFF does not look
for it, and other values are refused. Argument: the command of CMake."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CMAKE = "cmake"
# A Kokkos and its Kernels, as their packages present themselves.
KOKKOS = ["-DGRANARY_KOKKOS_PACKAGE_WORKS=ON", "-DKokkos_VERSION=4.5.1", "-DKokkos_DIR=/opt/kokkos/Kokkos"]
# How each is missing, and what the refusal says.
MISSING = {
    "GRANARY_URING": ("GranaryUring", [], "pkg-config knows no liburing: install it (liburing-dev)"),
    "GRANARY_MPI": ("GranaryMpi", ["-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON"], "no MPI was found: install one"),
    "GRANARY_GECODE": ("GranaryGecode", ["-DGRANARY_GECODE_INCLUDE_DIR=GRANARY_GECODE_INCLUDE_DIR-NOTFOUND", "-DCMAKE_FIND_ROOT_PATH=/none",
                                         "-DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY"], "Gecode's header gecode/int.hh"),
    "GRANARY_KOKKOSKERNELS": ("GranaryKokkosKernels", [*KOKKOS, "-DCMAKE_DISABLE_FIND_PACKAGE_KokkosKernels=ON"],
                              "no Kokkos Kernels was found: install it, or set KokkosKernels_ROOT"),
}


def write(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


class Switches(unittest.TestCase):
    def configure(self, switch, part, value, options, packages=None):
        """The status, and the output without line breaks; `packages`: the only folder of pkg-config."""
        with tempfile.TemporaryDirectory() as build:
            result = subprocess.run(
                [CMAKE, "-S", ROOT / "tests/configure/switches", "-B", build, f"-DROOT={ROOT}", f"-DSWITCH={switch}", f"-DPART={part}",
                 f"-D{switch}={value}", *options], capture_output=True, text=True,
                env={**os.environ, "PKG_CONFIG_LIBDIR": packages or build, "PKG_CONFIG_PATH": ""})
        return result.returncode, re.sub(r"\s+", " ", result.stdout + result.stderr)

    def test_missing(self):
        for switch, (part, options, problem) in MISSING.items():
            for value, outcome in [("AUTO", f"state: not used: {problem}"), ("ON", f"{switch} is ON: {problem}"),
                                   ("OFF", f"state: not used, {switch} is OFF")]:
                with self.subTest(switch=switch, value=value):
                    status, output = self.configure(switch, part, value, options)
                    self.assertIn(outcome, output)
                    self.assertEqual(status != 0, value == "ON", output)

    def test_other_values(self):
        status, output = self.configure("GRANARY_URING", "GranaryUring", "perhaps", [])
        self.assertNotEqual(status, 0)
        self.assertIn("GRANARY_URING is 'perhaps': its values are AUTO, ON and OFF", output)
        for value, meaning in [("no", "OFF"), ("1", "ON")]:
            self.assertIn(f"GRANARY_URING is {meaning}", self.configure("GRANARY_URING", "GranaryUring", value, [])[1])

    def test_found(self):
        with tempfile.TemporaryDirectory() as folder:
            write(pathlib.Path(folder) / "liburing.pc", "Name: liburing\nDescription: -\nVersion: 2.3\n")
            for value in ("AUTO", "ON"):
                self.assertIn("state: 2.3", self.configure("GRANARY_URING", "GranaryUring", value, [], folder)[1])
            self.assertIn("not used, GRANARY_URING is OFF", self.configure("GRANARY_URING", "GranaryUring", "OFF", [], folder)[1])

    def test_kernels_of_another_kokkos(self):
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder) / "lib/cmake/KokkosKernels"
            write(package / "KokkosKernelsConfig.cmake", "")
            write(package / "KokkosKernelsConfigVersion.cmake", "set(PACKAGE_VERSION 3.4.1)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
            options = [*KOKKOS, f"-DKokkosKernels_DIR={package}"]
            status, output = self.configure("GRANARY_KOKKOSKERNELS", "GranaryKokkosKernels", "ON", options)
            self.assertNotEqual(status, 0)
            self.assertIn(f"GRANARY_KOKKOSKERNELS is ON: Kokkos Kernels in {package} was not built for Kokkos 4.5.1", output)
            write(package / "KokkosKernelsConfigVersion.cmake", "set(PACKAGE_VERSION 4.5.0)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
            self.assertIn(f"state: {package}", self.configure("GRANARY_KOKKOSKERNELS", "GranaryKokkosKernels", "ON", options)[1])

    def test_mpi_with_sanitizers(self):
        status, output = self.configure("GRANARY_MPI", "GranaryMpi", "ON", ["-DGRANARY_SANITIZE=thread"])
        self.assertNotEqual(status, 0)
        self.assertIn("not clean under GRANARY_SANITIZE=thread: build without one of the two", output)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        CMAKE = sys.argv.pop(1)
    unittest.main()
