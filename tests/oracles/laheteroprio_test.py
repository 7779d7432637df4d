#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares LAHeteroprio with an oracle that was written from its paper: laheteroprio.py.

    laheteroprio_test.py <granary-simulate>
"""
import itertools
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import laheteroprio as paper
import static_schedules

PLATFORM = pathlib.Path(__file__).resolve().parents[2] / "simulator/platforms/static2016.json"
CPUS, GPUS = 9, 2
CPU_BUCKETS = ["potrf", "trsm", "syrk", "gemm"]
GPU_BUCKETS = CPU_BUCKETS[::-1]
SPEEDUP = {"gemm": 4, "syrk": 3, "trsm": 2, "potrf": 1.5}  # small, so that a core often waits for one task more


class Table1(unittest.TestCase):
    """Page 10. Of a task: its data with access and size; what each of three nodes hosts; the winners."""

    def check(self, data, hosted, *winners):
        accesses = [datum.split("/") for datum in data.split()]
        read, written = ([name for name, mode, _ in accesses if mode == wanted] for wanted in "RW")
        size = {name: int(size) for name, _, size in accesses}
        for (name, formula), expected in zip(paper.FORMULAS.items(), winners):
            with self.subTest(name, data=data):
                self.assertEqual(paper.best_nodes(formula, [set(node) for node in hosted], read, written, size), expected)

    def test_rows(self):
        every = [0, 1, 2]
        self.check("A/R/1 B/W/1", ("A", "A", "B"), every, every, [2], [2])
        self.check("A/R/1 B/W/1", ("A", "AB", "B"), [1], [1], [1], [1])
        self.check("A/W/1 B/W/1 C/W/2", ("AB", "C", "AC"), [2], [2], [2], [2])
        self.check("A/W/1 B/W/1 C/W/1", ("AB", "AB", "AC"), every, every, every, every)
        # The table has node 2 for LS_SDH, too, but by equation 6 nodes 1 and 2 tie: C is as large as A, and as D.
        self.check("A/R/2 B/R/1 C/W/2 D/W/2", ("AB", "AC", "CD"), [1, 2], [2], [2], [2])
        self.check("A/W/10 B/W/11 C/W/18 D/W/11", ("AD", "C", "BD"), [2], [1], [2], [2])
        self.check("A/W/10 B/W/11 C/W/22 D/W/11", ("AD", "C", "BD"), [1, 2], [1], [2], [1, 2])


class Table3(unittest.TestCase):
    """Page 13, for l = 2 and S = 1, which are those of the GPUs."""

    def test_the_access_order_of_gpu_0(self):
        cpu, mine, other = 0, 1, 2
        self.assertEqual(paper.access_order(mine, [3, 2, 1], [cpu, other], 1, 2),
                         [(3, mine), (2, mine), (3, cpu), (2, cpu), (1, mine), (1, cpu), (3, other), (2, other), (1, other)])


def random_graph(rng):
    """Tasks that update up to three data, read up to three others, and need not be ready in the order of submission."""
    graph = static_schedules.Graph()
    for _ in range(400):
        data = rng.sample(range(60), rng.randint(2, 6))
        written = rng.randint(1, min(3, len(data)))
        graph.add(rng.choice(CPU_BUCKETS), data[:written], data[written:])
    return graph


class Problem:
    """A graph with data of random sizes and tasks of random times, so that nothing ties or ends together."""

    def __init__(self, graph, rng):
        node, flops = static_schedules.Node.of_platform(PLATFORM)
        self.graph = graph
        self.size = {datum: rng.randrange(2**20, 2**23) for data in (*graph.written, *graph.read) for datum in data}
        factors = [rng.uniform(0.9, 1.1) for _ in graph.kernels]
        self.flops = [flops[kernel] * factor for kernel, factor in zip(graph.kernels, factors)]
        self.times = [tuple(round(time * factor) for time in node.times[kernel])
                      for kernel, factor in zip(graph.kernels, factors)]

    def file(self, ready_first):
        """A graph file. Priorities are the order in which tasks become ready: lists are first in, first out."""
        urgency = {task: len(ready_first) - place for place, task in enumerate(ready_first)}

        def accesses(task):
            return [{"data": str(datum), "mode": mode} for mode, data in
                    (("read-write", self.graph.written[task]), ("read", self.graph.read[task])) for datum in data]
        return {"codelets": [{"name": kernel, "kinds": ["cpu", "device"]} for kernel in CPU_BUCKETS],
                "data": [{"name": str(datum), "bytes": size} for datum, size in self.size.items()],
                "tasks": [{"codelet": kernel, "flops": self.flops[task], "priority": urgency[task],
                           "accesses": accesses(task)} for task, kernel in enumerate(self.graph.kernels)]}


def machine():
    """The cores of the platform and two of its GPUs, each with a memory; a transfer takes less than 1 ns."""
    platform = json.loads(PLATFORM.read_text())
    core, *gpus = platform["workers"]
    nodes = [{"name": "memory", "kind": "host"}, *({"name": gpu["name"], "kind": "device"} for gpu in gpus[:GPUS])]
    links = [{"from": a["name"], "to": b["name"], "bandwidth": 1e18, "width": 1000} for a in nodes for b in nodes if a != b]
    workers = [dict(core, count=CPUS), *(dict(gpu, node=gpu["name"]) for gpu in gpus[:GPUS])]
    return dict(platform, nodes=nodes, links=links, workers=workers)


class Comparison(unittest.TestCase):
    """Times, bytes moved and BMD, within 1 %."""

    def compare(self, problem, scheduler, oracle):
        expected = oracle.makespan()
        with tempfile.TemporaryDirectory() as folder:
            graph, platform = pathlib.Path(folder, "graph.json"), pathlib.Path(folder, "platform.json")
            graph.write_text(json.dumps(problem.file(oracle.pushed)))
            platform.write_text(json.dumps(machine()))
            command = [PROGRAM, "--platform", platform, "--graph", graph, "--precision", "s", "--no-bounds", "--json", "-",
                       "--scheduler", scheduler]
            run, = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
        with self.subTest(scheduler):
            self.assertAlmostEqual(run["seconds"] * 1e9 / expected, 1, delta=0.01)
            self.assertAlmostEqual(run["bytes_total"] / oracle.bytes, 1, delta=0.01)
            for formula, changes in getattr(oracle, "bmd", {}).items():
                self.assertAlmostEqual(run["counters"][f"bmd {formula}"], changes, delta=max(1, 0.01 * changes), msg=formula)

    def options(self, speedup):
        factors = ":speedup=" + "+".join(f"{kernel}@{factor}" for kernel, factor in SPEEDUP.items())
        return (f":cpu={'+'.join(CPU_BUCKETS)}:device={'+'.join(GPU_BUCKETS)}:slow=most-urgent"
                + (factors if speedup else ":limit=0"))

    def problems(self):
        rng = random.Random(1)
        graphs = static_schedules.cholesky(8), random_graph(rng)
        for graph, speedup in itertools.product(graphs, (None, SPEEDUP)):
            problem = Problem(graph, rng)
            machine_and_order = (problem.graph, problem.size, problem.times, CPUS, GPUS, CPU_BUCKETS, GPU_BUCKETS)
            yield problem, machine_and_order, speedup

    def test_heteroprio(self):
        for problem, arguments, speedup in self.problems():
            self.compare(problem, "heteroprio" + self.options(speedup), paper.Heteroprio(*arguments, speedup=speedup))

    def test_affinity_formulas_and_locality_coefficients(self):
        for problem, arguments, speedup in self.problems():
            for formula, l_gpu in itertools.product(("LaRU", *paper.FORMULAS, "auto"), (1, 3)):
                self.compare(problem, f"laheteroprio:formula={formula}:l=cpu@1+device@{l_gpu}" + self.options(speedup),
                             paper.Laheteroprio(formula, *arguments, speedup=speedup, l_gpu=l_gpu))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
