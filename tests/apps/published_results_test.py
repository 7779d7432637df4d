#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Published and measured results that granary-simulate must reproduce; docs/measurements.md has the others.

    published_results_test.py PROGRAM
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""


def simulate(**options):
    """The runs as a dictionary by scheduler."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "runs.json")
        call(options, "--json", path)
        return {run["scheduler"]: run for run in json.loads(path.read_text())}


def order(**options):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "order.csv")
        call(options, "--order", path)
        with open(path) as file:
            return list(csv.DictReader(file))


def call(options, *output):
    arguments = [text for key, value in options.items() for text in ("--" + key, str(value))]
    done = subprocess.run([PROGRAM, *arguments, *map(str, output)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True)
    assert done.returncode == 0, done.stderr


def sirocco(gpus, tiles, memory, schedulers, priorities="bottom-level"):
    return simulate(platform="sirocco", gpus=gpus, cpus=0, algorithm="cholesky", tiles=tiles, tile=960, precision="s",
                    memory=memory, scheduler=schedulers, priorities=priorities)


class StarPuOnSirocco(unittest.TestCase):
    """Float Cholesky under StarPU with SimGrid on the same node: GFlop/s and GB."""

    def test_the_same_algorithms_come_near_in_memory(self):
        runs = sirocco(4, 32, "928MiB", "eager,lws,dmdas", priorities="starpu")
        for scheduler, gflops, gigabytes in (("eager", 3374, 24.6), ("lws", 6069, 11.6), ("dmdas", 6417, 10.0)):
            self.assertAlmostEqual(runs[scheduler]["gflops"] / gflops, 1, delta=0.1, msg=scheduler)
            self.assertAlmostEqual(runs[scheduler]["bytes_total"] / 1e9 / gigabytes, 1, delta=0.1, msg=scheduler)

    def test_under_pressure_superblock_is_as_fast_as_the_best_and_moves_no_more(self):
        for gpus, tiles, memory, gflops, gigabytes in ((1, 24, "527MiB", 1723, 3.5), (1, 24, "263MiB", 1720, 6.1),
                                                       (4, 32, "232MiB", 5418, 16.4), (4, 32, "116MiB", 4071, 22.7)):
            run = sirocco(gpus, tiles, memory, "superblock")["superblock"]
            self.assertGreater(run["gflops"], 0.998 * gflops, memory)
            self.assertLess(run["bytes_total"] / 1e9, gigabytes, memory)


class StarPuOnMirage(unittest.TestCase):
    """Nine cores and three GPUs, without a memory limit."""

    def test_the_best_of_heft_and_heteroprio_is_within_three_percent(self):
        for tiles, best in ((8, 794), (12, 1135), (16, 1430), (20, 1648), (24, 1801), (32, 1971)):
            runs = simulate(platform="mirage", gpus=3, cpus=9, tiles=tiles, tile=960,
                            scheduler="heft,heftp,heteroprio,laheteroprio")
            self.assertGreater(max(run["gflops"] for run in runs.values()), 0.97 * best, f"{tiles} tiles")

    def test_darts_knows_that_workers_differ(self):
        runs = simulate(platform="mirage", gpus=3, cpus=9, tiles=32, tile=960, scheduler="darts,eager")
        self.assertGreater(runs["darts"]["gflops"], 1.5 * 909)


class Superblock(unittest.TestCase):
    """Ours; cores and GPUs together."""

    def test_it_knows_that_workers_differ(self):
        for platform, options, least in (("mirage", dict(algorithm="cholesky", tiles=24), 1),
                                         ("sirocco", dict(algorithm="cholesky", tiles=32, memory=0.25), 1.3),
                                         ("k40x4", dict(algorithm="lu", tiles=24, memory=0.3), 1.3)):
            runs = simulate(platform=platform, tile=960, scheduler="darts,superblock", **options)
            self.assertGreater(runs["superblock"]["gflops"], least * runs["darts"]["gflops"], platform)


class DartsPaper(unittest.TestCase):
    def test_figure_6_only_darts_keeps_its_rate_and_stays_under_the_bus_limit(self):
        runs = simulate(platform="v100x1", algorithm="cholesky", tiles=40, tile=2880, memory="2GB", cpus=0,
                        scheduler="lws,dmdas,darts,superblock")
        for scheduler in ("darts", "superblock"):
            self.assertGreater(runs[scheduler]["gflops"], 0.9 * runs[scheduler]["upper_bound_gflops"])
            self.assertLess(runs[scheduler]["bytes_host_to_device"], runs[scheduler]["bus_limit_bytes"])
        for scheduler in ("lws", "dmdas"):
            self.assertLess(runs[scheduler]["gflops"], 0.7 * runs[scheduler]["upper_bound_gflops"])
            self.assertGreater(runs[scheduler]["bytes_host_to_device"], runs[scheduler]["bus_limit_bytes"])

    def test_figure_9_darts_goes_through_several_iterations_with_a_tile(self):
        """The tasks between two updates of a tile are few where blocks are repeated over iterations."""
        options = dict(platform="v100x1", algorithm="cholesky", tiles=40, tile=2880, memory="2GB", cpus=0)

        def median_gap(scheduler):
            last, gaps = {}, []
            for task in order(scheduler=scheduler, **options):
                tile = task["row"], task["col"]
                if tile in last and int(task["iteration"]) < 4:
                    gaps.append(int(task["sequence"]) - last[tile])
                last[tile] = int(task["sequence"])
            return sorted(gaps)[len(gaps) // 2]

        self.assertLess(3 * median_gap("darts"), median_gap("eager"))

    def test_figure_14_darts_overlaps_all_transfers_of_lu(self):
        runs = simulate(platform="v100x4", algorithm="lu", tiles=44, tile=2880, memory="0.5", cpus=0,
                        scheduler="eager,lws,darts,superblock")
        self.assertGreater(runs["darts"]["gflops"], 0.85 * runs["darts"]["upper_bound_gflops"])
        self.assertLess(runs["darts"]["bytes_host_to_device"], runs["darts"]["bus_limit_bytes"])
        for scheduler in ("eager", "lws"):
            self.assertGreater(runs[scheduler]["bytes_total"], 1.3 * runs["darts"]["bytes_total"])
            self.assertGreater(runs[scheduler]["bytes_total"], 2 * runs["superblock"]["bytes_total"])

    def test_figure_16_darts_stays_near_the_disk_limit(self):
        runs = simulate(platform="xeon-disk", algorithm="lu", tiles=40, tile=2880, scheduler="eager,lws,dmdas,darts")
        self.assertGreater(runs["darts"]["gflops"], 0.95 * runs["darts"]["upper_bound_gflops"])
        for scheduler in ("eager", "lws", "dmdas"):
            self.assertLess(runs[scheduler]["gflops"], 0.85 * runs["darts"]["gflops"])


class LaheteroprioPaper(unittest.TestCase):
    def test_locality_halves_the_transfers_of_trees_and_saves_time(self):
        for platform, algorithm, less in (("p100x2", "tree", 0.5), ("k40x4", "tree", 0.5), ("k40x4", "stencil", 0.8)):
            tiling = dict(tiles=36, tile=512) if algorithm == "tree" else {}
            runs = simulate(platform=platform, algorithm=algorithm, precision="d", scheduler="heteroprio,laheteroprio",
                            **tiling)
            self.assertLess(runs["laheteroprio"]["bytes_total"], less * runs["heteroprio"]["bytes_total"])
            self.assertLess(runs["laheteroprio"]["seconds"], runs["heteroprio"]["seconds"])

    def test_the_automatic_choice_is_near_the_best_formula(self):
        formulas = ["LS_SDH", "LS_SDH2", "LS_SDHB", "LC_SMWB"]
        for algorithm in ("tree", "tree-ldlt", "stencil"):
            runs = simulate(platform="k40x4", algorithm=algorithm, precision="d",
                            scheduler=",".join(["laheteroprio"] + [f"laheteroprio:formula={f}" for f in formulas]))
            best = min(run["seconds"] for run in runs.values())
            self.assertLess(runs["laheteroprio"]["seconds"], 1.05 * best, algorithm)


class HierarchicalPaper(unittest.TestCase):
    """Section VI.B: Cholesky in double precision on Bunsen; each GPU occupies one of the 16 cores."""

    TILES = (384, 576, 768, 960, 1152)

    def gflops(self, gpus, order, tile, inner):
        run, = simulate(platform="bunsen", gpus=gpus, cpus=16 - gpus, algorithm="cholesky", precision="d",
                        tiles=order // tile, tile=tile, scheduler="prio:balance=parsec", priorities="none",
                        **{"inner-tile": inner}).values()
        return run["gflops"]

    def best(self, gpus, order, inner):
        return max(self.gflops(gpus, order, tile, inner) for tile in self.TILES if order % tile == 0)

    def test_figure_6_the_speed_of_large_matrices(self):
        for gpus, gflops in ((1, 1360), (2, 2500), (3, 3700)):
            self.assertAlmostEqual(self.best(gpus, 48000, 192) / gflops, 1, delta=0.1, msg=f"{gpus} GPUs")

    def test_figure_6_inner_tiles_gain_on_large_matrices_with_one_gpu(self):
        self.assertGreater(self.best(1, 46080, 192), 1.05 * self.best(1, 46080, 0))

    def test_figure_6_inner_tiles_never_lose(self):
        for gpus in (1, 2, 3):
            for order in (5760, 11520, 23040, 46080):
                for tile in self.TILES:
                    if order % tile == 0:
                        self.assertGreater(self.gflops(gpus, order, tile, 192), self.gflops(gpus, order, tile, 0),
                                           f"{gpus} GPUs, n = {order}, B = {tile}")

    def test_figure_5_large_tiles_need_inner_tiles(self):
        self.assertGreater(self.gflops(1, 16128, 1152, 192), 2 * self.gflops(1, 16128, 1152, 0))
        self.assertGreater(self.gflops(1, 16128, 1152, 192), 0.95 * self.gflops(1, 16128, 768, 192))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
