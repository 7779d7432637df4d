#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the schedulers of the Static paper with an oracle that was written from its text: static_schedules.py.

    static_schedules_test.py <granary-simulate>
"""
import csv
import functools
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import static_schedules as paper

PLATFORM = pathlib.Path(__file__).resolve().parents[2] / "simulator/platforms/static2016.json"
NODE, FLOPS = paper.Node.of_platform(PLATFORM)
# granary's GB leaves a task on a core if heftp puts it there, even if a GPU becomes idle.
HEFT = {"heft": paper.heft, "heftp": paper.heftp, "heftp:look=let": paper.heftp_let,
        "heftp:look=gb": functools.partial(paper.heftp_gb, always=False), "heftp:look=mms": paper.heftp_mms}
HETEROPRIO = {"heteroprio:limit=0:merge_device=1:slow=least-urgent": paper.hp, "heteroprio:spoliation=sp": paper.hp_sp,
              "heteroprio:spoliation=sp:merge_device=3": paper.hp_cgv, "heteroprio:spoliation=pp": paper.hp_pp,
              "heteroprio:spoliation=pc": paper.hp_pc, "heteroprio:spoliation=pcep": paper.hp_pcep,
              "heteroprio:spoliation=pcept": paper.hp_pcept}


def gflops(makespan, graph):
    return sum(FLOPS[kernel] for kernel in graph.kernels) / makespan


def simulate(tiles, schedulers, platform=PLATFORM):
    """GFlop/s of each scheduler."""
    command = [PROGRAM, "--platform", platform, "--algorithm", "cholesky", "--tiles", tiles, "--tile", 960,
               "--precision", "s", "--no-bounds", "--scheduler", ",".join(schedulers), "--csv", "-"]
    rows = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=True, text=True).stdout
    return {row["scheduler"]: float(row["gflops"]) for row in csv.DictReader(io.StringIO(rows))}


def with_memory_for_each_worker():
    """The platform with a memory for each worker, and so a queue; 1 EB/s between them, which is less than 1 ns a tile."""
    platform = json.loads(PLATFORM.read_text())
    workers = [dict(worker, name=f"{worker['name']} {i}") for worker in platform["workers"]
               for i in range(worker.pop("count", 1))]
    for worker in workers:
        worker["node"] = worker["name"]
    nodes = [{"name": worker["node"], "kind": "host" if worker["kind"] == "cpu" else "device"} for worker in workers]
    links = [{"from": a["name"], "to": b["name"], "bandwidth": 1e18, "width": 1000} for a in nodes for b in nodes if a != b]
    return json.dumps(dict(platform, workers=workers, nodes=nodes, links=links))


class ByHand(unittest.TestCase):
    """The oracle against schedules that were made by hand, on one core and one GPU."""

    NODE = paper.Node({"potrf": (2, 1), "trsm": (11, 1), "gemm": (29, 1)}, 1, 1)

    def independent(self, *kernels):
        graph = paper.Graph()
        for number, kernel in enumerate(kernels):
            graph.add(kernel, [number])
        return graph

    def test_two_tiles_per_row_are_a_chain(self):
        chain = sum(count * NODE.times[kernel][paper.GPU] for kernel, count in (("potrf", 2), ("trsm", 1), ("syrk", 1)))
        for name, schedule in (*HEFT.items(), *HETEROPRIO.items()):
            self.assertEqual(schedule(paper.cholesky(2), NODE), chain, name)

    def test_bottom_levels(self):
        self.assertEqual(paper.cholesky(2).bottom_levels(NODE), [22228834, 14033312, 9883603, 8195522])

    def test_heft_takes_the_least_completion_time_and_lets_the_core_have_a_short_task(self):
        # The GPU from 0 to 3; the fourth would end at 4 there, and ends at 2 on the core.
        self.assertEqual(paper.heft(self.independent("gemm", "gemm", "gemm", "potrf"), self.NODE), 3)

    def test_heftp_starts_the_urgent_task_first(self):
        graph = self.independent("gemm", "gemm")
        graph.add("trsm", [1])  # after the second gemm, which is the more urgent one
        self.assertEqual(paper.heftp(graph, self.NODE), 3)
        levels = graph.bottom_levels(self.NODE)
        self.assertEqual(levels, [1, 2, 1])

    def test_let_uses_the_core_for_what_is_passed_on_the_gpu(self):
        # A gemm, and a chain of 40 that passes it in the GPU's queue: there it ends at 41, on the core at 29.
        graph = paper.Graph()
        for tile in ("alone", *["chain"] * 40):
            graph.add("gemm", [tile])
        self.assertEqual(paper.heftp(graph, self.NODE), 41)
        for look in (paper.heftp_let, paper.heftp_gb, paper.heftp_mms):
            self.assertEqual(look(graph, self.NODE), 40, look.__name__)

    def test_heteroprio_and_spoliation(self):
        graph = self.independent("gemm", "gemm")
        self.assertEqual(paper.hp(graph, self.NODE), 29)
        self.assertEqual(paper.hp_sp(graph, self.NODE), 2)  # from the core at 1

    def test_corrections_of_heteroprio(self):
        graph = self.independent("gemm", "gemm", "trsm")
        graph.add("gemm", [2])
        graph.add("potrf", [2])
        # The GPU runs both gemm, then trsm, which it takes from the core at 2, and the tasks after it.
        self.assertEqual(paper.hp_sp(graph, self.NODE), 5)
        # The GPU runs trsm, gemm after it, a gemm, potrf, and then the gemm of the core.
        self.assertEqual(paper.hp_cgv(graph, self.NODE), 5)
        # At 2, potrf takes the place of the core's gemm, which the GPU starts at 3.
        self.assertEqual(paper.hp_pp(graph, self.NODE), 4)

    def test_the_priority_constraint(self):
        graph = paper.Graph()
        for kernel, tile, length in (("gemm", 0, 5), ("gemm", 1, 5), ("trsm", 2, 4)):
            for _ in range(length):
                graph.add(kernel, [tile])
        node = paper.Node(self.NODE.times, 1, 2)
        # The core holds trsm until both chains of gemm have ended, at 5.
        for schedule in (paper.hp_cgv, paper.hp_pp, paper.hp_pcept):
            self.assertEqual(schedule(graph, node), 9, schedule.__name__)
        # At 2 it is more urgent than what is left of them, and a GPU takes it: 14 tasks on two GPUs.
        for schedule in (paper.hp_pc, paper.hp_pcep):
            self.assertEqual(schedule(graph, node), 7, schedule.__name__)


class Comparison(unittest.TestCase):
    def memory_for_each_worker(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        platform = pathlib.Path(folder.name, "platform.json")
        platform.write_text(with_memory_for_each_worker())
        return platform

    def compare(self, tiles, schedulers, platform=PLATFORM, **options):
        graph = paper.cholesky(tiles)
        for scheduler, ours in simulate(tiles, schedulers, platform).items():
            with self.subTest(scheduler, tiles=tiles):
                expected = gflops(schedulers[scheduler](graph, NODE, **options), graph)
                self.assertAlmostEqual(ours / expected, 1, delta=0.01, msg=f"{ours:.0f} GFlop/s, oracle {expected:.0f}")

    def test_heft_and_look_ahead_with_a_queue_for_each_kind_of_worker(self):
        for tiles in (8, 12):
            self.compare(tiles, HEFT)

    def test_heft_with_a_queue_for_each_kind_of_worker_on_larger_matrices(self):
        for tiles in (16, 20, 24, 32):
            self.compare(tiles, {name: HEFT[name] for name in ("heft", "heftp")})

    def test_heft_and_look_ahead_with_a_queue_for_each_worker(self):
        self.compare(8, HEFT, self.memory_for_each_worker(), queue_per_worker=True)
        # MMS rests on the order of tasks that end together: 1439 to 1469 GFlop/s with 12 tiles.
        schedulers = {name: HEFT[name] for name in HEFT if not name.endswith("mms")}
        self.compare(12, schedulers, self.memory_for_each_worker(), queue_per_worker=True)

    def test_heteroprio_and_its_corrections(self):
        for tiles in (8, 12, 16, 20, 24, 32):
            self.compare(tiles, HETEROPRIO)

    def test_heteroprio_and_its_corrections_with_a_memory_for_each_worker(self):
        for tiles in (8, 12):
            self.compare(tiles, HETEROPRIO, self.memory_for_each_worker())


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
