#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every configuration of bench/figures/as_published runs, and wrong ones are refused: as_published_test.py PROGRAM."""
import json
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "figures"))
import as_published  # noqa: E402
from simulate import Simulations  # noqa: E402

PROGRAM = pathlib.Path(sys.argv.pop()).resolve()


class AsPublished(unittest.TestCase):
    def test_every_configuration_runs_on_a_small_problem(self):
        paths = sorted(as_published.FOLDER.glob("*.json"))
        self.assertTrue(paths)
        with tempfile.TemporaryDirectory() as folder:
            simulations = Simulations(PROGRAM, folder)
            for path in paths:
                published = as_published.load(path.stem)
                for case in published.cases or [None]:
                    options = {**published.options, **(published.cases[case] if case else {})}
                    small = {key: value for key, value in dict(tiles=4, iterations=2, seeds=1).items() if key in options}
                    with self.subTest(path.stem, case=case):
                        runs = published.runs(simulations, case=case, **small)
                        self.assertEqual([run["scheduler"] for run in runs], list(published.schedulers))
                        self.assertTrue(all(run["seconds"] > 0 for run in runs))

    def refused(self, message, **contents):
        """`contents` replace or, if None, remove keys of a right file."""
        right = {"source": ["Figure 1"], "options": {}, "schedulers": {"EAGER": "eager"}, **contents}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "one.json")
            path.write_text(json.dumps({key: value for key, value in right.items() if value is not None}))
            usual, as_published.FOLDER = as_published.FOLDER, pathlib.Path(folder)
            try:
                if message is None:
                    return as_published.load("one")
                with self.assertRaisesRegex(ValueError, f"one.json: {message}"):
                    as_published.load("one")
            finally:
                as_published.FOLDER = usual

    def test_a_file_with_other_keys_is_refused(self):
        self.assertEqual(self.refused(None).schedulers, {"EAGER": "eager"})
        self.refused("'option' is not one of source, options", option={"tiles": 4})
        self.refused("'schedulers' is not one of", schedulers=["eager"])
        self.refused("'source' is missing or empty", source=None)
        self.refused("'schedulers' is missing or empty", schedulers={})
        self.refused("two names have the same scheduler", schedulers={"EAGER": "eager", "FIFO": "eager"})


if __name__ == "__main__":
    unittest.main()
