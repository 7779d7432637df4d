#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The example kriging against NumPy, its progress bar, and what signals do to it: kriging_test.py EXECUTABLE"""
import math
import os
import pathlib
import pty
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import h5py
import numpy

EXECUTABLE = sys.argv.pop(1)
NUGGET, SHORTEST, LONGEST, GOLDEN = 0.01, 0.02, 0.5, 0.6180339887498949


def write_points(path, n):
    """A smooth field with noise at random points of the unit square; the first column is text, as in real data."""
    draw = random.Random(1)
    rows = []
    for i in range(n):
        x, y = draw.random(), draw.random()
        rows.append((x, y, math.sin(7 * x) * math.cos(5 * y) + 0.1 * draw.gauss(0, 1)))
    lines = [f"station {i},{x!r},{y!r},{value!r}" for i, (x, y, value) in enumerate(rows)]
    path.write_text("name,x,y,value\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return numpy.array(rows)


class Numpy:
    """The example's model, with NumPy."""

    def __init__(self, rows):
        self.y = rows[:, 2]
        self.distance = numpy.hypot(*(rows[:, None, k] - rows[None, :, k] for k in (0, 1)))

    def log_likelihood(self, length):
        n = len(self.y)
        covariance = numpy.exp(-self.distance / length) + NUGGET * numpy.eye(n)
        self.inverse = numpy.linalg.inv(covariance)
        self.solved = numpy.linalg.solve(covariance, self.y)
        self.variance = self.y @ self.solved / n
        return -0.5 * (n * (math.log(2 * math.pi * self.variance) + 1) + numpy.linalg.slogdet(covariance)[1])

    def fit(self):
        low, high = math.log(SHORTEST), math.log(LONGEST)
        while high - low > 0.1:
            a, b = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
            if self.log_likelihood(math.exp(a)) > self.log_likelihood(math.exp(b)):
                high = b
            else:
                low = a
        length = math.exp((low + high) / 2)
        return length, self.log_likelihood(length)


class Kriging(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="granary-kriging-"))
        self.addCleanup(lambda: subprocess.run(["rm", "-rf", self.directory], check=True))
        self.points, self.output = self.directory / "points.csv", self.directory / "predictions.h5"

    def start(self, n, **streams):
        rows = write_points(self.points, n)
        command = [EXECUTABLE, str(self.points), str(self.output), "8MiB"]
        return rows, subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **streams)

    def wait_for_output_file(self, process):
        """Until the incomplete output is there: the fit is running."""
        while process.poll() is None and len(list(self.directory.iterdir())) < 2:
            time.sleep(0.001)
        self.assertIsNone(process.poll(), "the run ended before the signal")

    def test_agrees_with_numpy(self):
        rows, process = self.start(1800)
        out, _ = process.communicate()
        self.assertEqual(process.returncode, 0)
        model = Numpy(rows)
        length, likelihood = model.fit()
        found = [float(text) for text in re.search(r"^length (.*), variance (.*), log likelihood (.*)$", out, re.M).groups()]
        numpy.testing.assert_allclose(found, [length, model.variance, likelihood], rtol=1e-10)
        with h5py.File(self.output) as file:
            predicted = file["A"][:]
            self.assertEqual(list(file["A"].attrs["columns"]), ["value", "variance"])
        diagonal = numpy.diag(model.inverse)
        numpy.testing.assert_allclose(predicted[:, 0], model.y - model.solved / diagonal, rtol=1e-10, atol=1e-10)
        numpy.testing.assert_allclose(predicted[:, 1], model.variance / diagonal, rtol=1e-10)
        # The predictions of points from the others miss by their standard deviation, on the average.
        self.assertAlmostEqual(numpy.mean((rows[:, 2] - predicted[:, 0]) ** 2 / predicted[:, 1]), 1, delta=0.5)

    def test_shows_its_progress_on_a_terminal(self):
        master, slave = pty.openpty()
        _, process = self.start(900, stderr=slave)
        os.close(slave)
        shown = b""
        try:
            while chunk := os.read(master, 4096):
                shown += chunk
        except OSError:  # the terminal is closed
            pass
        os.close(master)
        process.communicate()
        self.assertEqual(process.returncode, 0)
        self.assertRegex(shown.decode(), r"kriging +\d+/\d+ tasks")

    def test_sigterm_leaves_nothing(self):
        _, process = self.start(3000, stderr=subprocess.PIPE)
        self.wait_for_output_file(process)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate()
        self.assertEqual(process.returncode, 128 + signal.SIGTERM, err)
        self.assertNotIn("log likelihood", out)
        self.assertEqual(list(self.directory.iterdir()), [self.points])

    def test_sigusr1_prints_the_state_and_the_run_goes_on(self):
        _, process = self.start(3000, stderr=subprocess.PIPE)
        self.wait_for_output_file(process)
        process.send_signal(signal.SIGUSR1)
        out, err = process.communicate()
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("log likelihood", out)
        self.assertRegex(err, r"tasks")
        self.assertTrue(self.output.exists())


if __name__ == "__main__":
    unittest.main()
