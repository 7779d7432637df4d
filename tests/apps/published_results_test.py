#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Published and measured results that granary-simulate must reproduce; docs/measurements.md has the others.

    published_results_test.py PROGRAM
"""
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""


def simulate(*flags, **options):
    """The runs as a dictionary by scheduler."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "runs.json")
        call(options, "--json", path, *flags)
        return {run["scheduler"]: run for run in json.loads(path.read_text())}


def order(**options):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "order.csv")
        call(options, "--order", path)
        with open(path) as file:
            return list(csv.DictReader(file))


def of_bound(run):
    return run["gflops"] / run["upper_bound_gflops"]


def received(run):
    """Bytes that the devices receive from the host and from each other."""
    return run["bytes_host_to_device"] + run["bytes_device_to_device"]


def rank_correlation(first, second):
    """Spearman's, equal values with their mean rank."""

    def ranks(values):
        places = {}
        for rank, value in enumerate(sorted(values)):
            places.setdefault(value, []).append(rank)
        return [sum(places[value]) / len(places[value]) for value in values]

    return statistics.correlation(ranks(first), ranks(second))


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
        for scheduler, gflops, gigabytes, delta in (("eager", 3374, 24.6, 0.13), ("lws", 6069, 11.6, 0.1), ("dmdas", 6417, 10.0, 0.1)):
            self.assertAlmostEqual(runs[scheduler]["gflops"] / gflops, 1, delta=delta, msg=scheduler)
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

    def test_devices_work_where_some_tasks_run_on_cores_only(self):
        for gpus in (1, 2, 3):
            self.assert_near_darts(platform="bunsen", gpus=gpus, cpus=16 - gpus, algorithm="cholesky", tiles=48,
                                   tile=960, priorities="none")
        self.assert_near_darts(platform="bunsen", gpus=3, cpus=13, algorithm="lu", tiles=40, tile=960)
        self.assert_near_darts(platform="k40x4", algorithm="tree", tiles=36, tile=512)
        self.assert_near_darts(platform="k40x4", algorithm="tree-ldlt", tiles=36, tile=512)

    def assert_near_darts(self, **options):
        runs = simulate("--no-bounds", precision="d", scheduler="darts,superblock", **options)
        self.assertGreater(runs["superblock"]["gflops"], 0.93 * runs["darts"]["gflops"], options)


class SeveralDevices(unittest.TestCase):
    """`planned` and `auto` on the platforms of bench/io_volume/platforms; bench/policies/auto.py has all cases."""

    COPIES = pathlib.Path(__file__).resolve().parents[2] / "bench" / "io_volume" / "platforms"

    def on(self, platform, algorithm, tiles, schedulers, **options):
        return simulate("--no-bounds", platform=self.COPIES / f"{platform}.json", algorithm=algorithm, tiles=tiles, tile=1920, precision="d",
                        scheduler=schedulers, **options)

    def test_planned_is_fast_where_four_gpus_hold_a_quarter(self):
        for algorithm, tiles, least in (("cholesky", 32, 22200), ("lu", 32, 21000), ("gemm", 24, 27000)):
            runs = self.on("v100x4", algorithm, tiles, "planned,superblock", memory=0.25)
            self.assertGreater(runs["planned"]["gflops"], least, algorithm)
            self.assertLess(runs["planned"]["bytes_total"], runs["superblock"]["bytes_total"], algorithm)

    def test_planned_is_nearly_as_fast_as_dmdas_in_memory(self):
        for platform in ("v100x4", "h200x8"):
            for algorithm in ("cholesky", "lu"):
                runs = self.on(platform, algorithm, 32, "planned,dmdas")
                self.assertGreater(runs["planned"]["gflops"], 0.97 * runs["dmdas"]["gflops"], f"{platform} {algorithm}")

    def test_auto_is_nearly_as_fast_as_the_best(self):
        for memory in (0.25, 1e3):
            for algorithm, tiles in (("cholesky", 32), ("lu", 32), ("gemm", 24)):
                runs = self.on("v100x4", algorithm, tiles, "auto,planned,darts,superblock,dmdas", memory=memory)
                best = max(run["gflops"] for run in runs.values())
                self.assertGreater(runs["auto"]["gflops"], 0.97 * best, f"{algorithm} {memory}")


class DartsPaper(unittest.TestCase):
    """Tiles of 2880 in single precision, on the devices of the paper's Table 1 alone."""

    ONE = dict(platform="v100x1", algorithm="cholesky", tile=2880, cpus=0)
    FOUR = dict(platform="v100x4", algorithm="lu", tile=2880, cpus=0)

    def test_figure_6_darts_keeps_its_rate_under_the_bus_limit_and_lws_and_dmdas_do_not(self):
        runs = simulate(tiles=75, scheduler="lws,dmdas,darts,superblock", **self.ONE)
        for scheduler in ("darts", "superblock"):
            self.assertGreater(of_bound(runs[scheduler]), 0.99, scheduler)
            self.assertLess(received(runs[scheduler]), runs[scheduler]["bus_limit_bytes"], scheduler)
        for scheduler in ("lws", "dmdas"):
            self.assertLess(of_bound(runs[scheduler]), 0.6, scheduler)
            self.assertGreater(received(runs[scheduler]), runs[scheduler]["bus_limit_bytes"], scheduler)

    def test_figure_6_eager_loses_where_both_directions_share_the_bus(self):
        runs = simulate("--half-duplex", tiles=60, scheduler="eager,darts", **self.ONE)
        self.assertLess(of_bound(runs["eager"]), 0.75)
        self.assertGreater(of_bound(runs["darts"]), 0.97)

    def test_darts_that_keeps_written_tiles_moves_hardly_more_than_dmdar(self):
        """dmdar with its default eviction policy, lru, which is not its best one at 60 tiles."""
        for tiles in (60, 75, 90):
            peer = received(simulate(tiles=tiles, scheduler="dmdar", eviction="lru", **self.ONE)["dmdar"])
            ours = simulate(tiles=tiles, scheduler="darts", eviction="luf:written=8", **self.ONE)["darts"]
            self.assertLess(received(ours), 1.1 * peer, tiles)
            self.assertGreater(of_bound(ours), 0.99, tiles)

    def test_figure_8_dmdas_follows_the_anti_diagonals(self):
        first = [task for task in order(tiles=40, memory="2GB", scheduler="dmdas", **self.ONE) if task["iteration"] == "0"]
        sequence, rows, columns = ([int(task[key]) for task in first] for key in ("sequence", "row", "col"))
        by_diagonal = rank_correlation(sequence, [row + column for row, column in zip(rows, columns)])
        self.assertGreater(by_diagonal, 0.95)
        self.assertGreater(by_diagonal, 0.1 + rank_correlation(sequence, rows))

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
        for tiles in (72, 88):
            runs = simulate(tiles=tiles, scheduler="eager,lws,darts", **self.FOUR)
            darts = runs["darts"]
            self.assertGreater(of_bound(darts), 0.98, tiles)
            self.assertLess(received(darts), 4.8 * darts["io_bound_bytes"], tiles)
            self.assertLess(2.2 * received(darts), darts["bus_limit_bytes"], tiles)
            for scheduler in ("eager", "lws"):
                self.assertGreater(received(runs[scheduler]), 3 * received(darts), f"{scheduler}, {tiles} tiles")
                self.assertLess(of_bound(runs[scheduler]), 0.95, f"{scheduler}, {tiles} tiles")

    def test_figure_15_in_memory_darts_is_comparable(self):
        runs = simulate(tiles=20, scheduler="lws,dmdas,darts", **self.FOUR)
        self.assertGreater(of_bound(runs["darts"]), 0.93)
        self.assertGreater(runs["darts"]["gflops"], 0.95 * max(run["gflops"] for run in runs.values()))

    def test_figure_16_darts_stays_near_the_disk_limit(self):
        runs = simulate(platform="xeon-disk", algorithm="lu", tiles=40, tile=2880, scheduler="eager,lws,dmdas,darts")
        self.assertGreater(runs["darts"]["gflops"], 0.95 * runs["darts"]["upper_bound_gflops"])
        for scheduler in ("eager", "lws", "dmdas"):
            self.assertLess(runs[scheduler]["gflops"], 0.85 * runs["darts"]["gflops"])


class LaheteroprioPaper(unittest.TestCase):
    """Speed-ups over heteroprio of 30, 80 and 30 %, and transfers more than halved; docs/figures.md has the differences."""

    PROBLEMS = {"qrmumps": dict(algorithm="tree", tiles=72, tile=512),
                "spldlt": dict(algorithm="tree-ldlt", levels=1, tiles=52, tile=384),
                "stencil": dict(algorithm="stencil-z", tiles=64, tile=1024, iterations=32)}
    # For each platform, the workers per GPU.
    WORKERS = {"qrmumps": {"k40x4": 7, "p100x2": 16}, "spldlt": {"k40x4": 11, "p100x2": 18},
               "stencil": {"k40x4": 3, "p100x2": 3}}
    LOCALITY = {"qrmumps": "l=cpu@3+device@3", "spldlt": "l=cpu@2+device@1", "stencil": "l=cpu@2+device@1"}

    def runs(self, application, platform, *schedulers):
        gpus = {"k40x4": 4, "p100x2": 2}[platform]
        local = "laheteroprio:" + self.LOCALITY[application]
        runs = simulate(platform=platform, cpus=24 - gpus, precision="d", seeds=2, jitter=0.05,
                        scheduler=",".join(("heteroprio", local, *schedulers)), **self.PROBLEMS[application],
                        **{"gpu-workers": self.WORKERS[application][platform]})
        return runs["heteroprio"], runs[local], runs

    def check(self, application, platform, speedup, transfers):
        plain, local, _ = self.runs(application, platform)
        self.assertGreater(plain["seconds_mean"], speedup * local["seconds_mean"], (application, platform))
        self.assertLess(local["bytes_total"], transfers * plain["bytes_total"], (application, platform))

    def test_figure_6_locality_halves_the_transfers_of_qr(self):
        self.check("qrmumps", "k40x4", 1.3, 0.5)
        self.check("qrmumps", "p100x2", 0.97, 0.5)  # transfers overlap with kernels there

    def test_figure_7_locality_halves_the_transfers_of_a_dense_front_and_is_half_as_fast_again(self):
        self.check("spldlt", "k40x4", 1.5, 0.5)
        self.check("spldlt", "p100x2", 1.5, 0.5)

    def test_figure_8_locality_speeds_up_the_stencil_and_saves_less_than_in_qr(self):
        self.check("stencil", "k40x4", 1.3, 0.75)
        self.check("stencil", "p100x2", 1.3, 0.95)

    def test_figure_7_formulas_that_weigh_written_data_move_the_least(self):
        for platform in ("k40x4", "p100x2"):
            formulas = {f: f"laheteroprio:formula={f}:{self.LOCALITY['spldlt']}"
                        for f in ("LaRU", "MC", "LS_SDH", "LS_SDH2", "LS_SDHB")}
            _, local, runs = self.runs("spldlt", platform, *formulas.values())
            for poor in ("LaRU", "MC", "LS_SDH"):
                self.assertLess(1.05 * runs[formulas["LS_SDHB"]]["bytes_total"], runs[formulas[poor]]["bytes_total"])
            for good in ("LS_SDH2", "LS_SDHB"):
                self.assertLess(local["seconds_mean"], 1.02 * runs[formulas[good]]["seconds_mean"])

    def test_figure_8_formulas_without_weights_suit_the_stencil_and_not_qr(self):
        def of(application):
            formulas = {f: f"laheteroprio:formula={f}:{self.LOCALITY[application]}" for f in ("LS_SDH", "LS_SDHB")}
            _, _, runs = self.runs(application, "k40x4", *formulas.values())
            return [runs[name]["bytes_total"] for name in formulas.values()]

        alike, written_first = of("stencil")
        self.assertLess(alike, written_first)
        alike, written_first = of("qrmumps")
        self.assertGreater(alike, 2 * written_first)


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


HP = "heteroprio:limit=0:slow=least-urgent:merge_device=1"


class StaticPaper(unittest.TestCase):
    """Cholesky in single precision on nine cores and three GPUs without transfers."""

    NODE = {"platform": "static2016", "algorithm": "cholesky", "tile": 960, "precision": "s"}

    def rates(self, tiles, schedulers, **more):
        runs = simulate(**self.NODE, tiles=tiles, scheduler=",".join(schedulers), **more)
        return [runs[scheduler]["gflops"] for scheduler in schedulers]

    def test_figure_6_heft(self):
        """As list simulations from the paper's text, with a queue for each kind of worker."""
        for tiles, gflops in zip((8, 12, 16, 20, 24, 32), (962, 1311, 1524, 1656, 1723, 1793)):
            rate, = self.rates(tiles, ("heft",))
            self.assertAlmostEqual(rate / gflops, 1, delta=0.01, msg=f"{tiles} tiles")

    def test_figure_10_plain_heteroprio(self):
        """As list simulations from the paper's text: idle GPUs choose before idle cores."""
        for tiles, gflops in zip((8, 12, 16, 20, 24, 32), (479, 822, 1176, 1420, 1671, 1781)):
            rate, = self.rates(tiles, (HP,))
            self.assertAlmostEqual(rate / gflops, 1, delta=0.01, msg=f"{tiles} tiles")

    def test_figure_6_priorities_and_the_look_at_the_makespan_gain(self):
        for tiles in (8, 12, 16, 20, 24):
            heft, heftp, mms = self.rates(tiles, ("heft", "heftp", "heftp:look=mms"))
            self.assertLess(heft, heftp, f"{tiles} tiles")
            self.assertLess(heftp, mms, f"{tiles} tiles")

    def test_figure_6_greedy_looks_gain_on_some_sizes_and_lose_on_large_ones(self):
        for tiles, gains in ((16, True), (32, False)):
            heftp, let, gb = self.rates(tiles, ("heftp", "heftp:look=let", "heftp:look=gb"))
            self.assertEqual((let > heftp, gb > heftp), (gains, gains), f"{tiles} tiles")

    def test_figures_10_to_12_spoliation(self):
        for tiles in (8, 12, 16, 20):
            plain, sp, pp, pc, pcep, pcept = self.rates(tiles, (
                HP, *(f"heteroprio:spoliation={rule}" for rule in ("sp", "pp", "pc", "pcep", "pcept"))))
            self.assertGreater(sp, plain, f"{tiles} tiles")
            if tiles == 8:
                continue
            self.assertEqual(pcept, max(sp, pp, pc, pcep, pcept), f"{tiles} tiles")
            self.assertEqual(pc, min(sp, pp, pc, pcep, pcept), f"{tiles} tiles")

    def test_figure_10_pcept_is_near_the_bound_on_large_matrices(self):
        run, = simulate(**self.NODE, tiles=32, scheduler="heteroprio:spoliation=pcept").values()
        self.assertGreater(of_bound(run), 0.95)

    def test_figures_3_5_and_13_annealed_schedules_bear_other_times(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "schedule.json")
            command = [str(pathlib.Path(PROGRAM).with_name("granary-schedule")), "--evaluations", "100000", "--output", path]
            for key, value in {**self.NODE, "tiles": 12}.items():
                command += ["--" + key, str(value)]
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            strict, auto, pcept = f"static:file={path}", f"static:file={path}:repair=auto", "heteroprio:spoliation=pcept"
            exact, heftp = self.rates(12, (strict, "heftp"))
            self.assertGreater(exact, 1.08 * heftp)
            drawn = simulate(**self.NODE, tiles=12, scheduler=f"{strict},{auto}", **{"truth-error": 0.1, "truth-seeds": 30})
            times, repaired = (drawn[name]["seconds_of_runs"] for name in (strict, auto))
            self.assertLess(max(times) / (drawn[strict]["gflops"] * drawn[strict]["seconds"] / exact), 1 / 0.88)
            self.assertLess(max(ours / theirs for ours, theirs in zip(repaired, times)), 1.01)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
