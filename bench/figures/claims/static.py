# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Static (Agullo, Beaumont, Eyraud-Dubois, Kumar 2016)."""
import collections
import statistics

import static
from claims.claim import claim


def _rates(simulations, tiles, schedulers, **options):
    """Of each scheduler, by its name in the paper: GFlop/s of each of its runs."""
    runs = static._runs(simulations, "runs", tiles, schedulers, no_bounds=True, **options)
    return {name: static._rates(run) for name, run in runs.items()}


def _gflops(simulations, tiles, schedulers, **options):
    return {name: statistics.median(rates) for name, rates in _rates(simulations, tiles, schedulers, **options).items()}


@claim("static-3-loss")
def loss(simulations, whole, expect):
    schedule = static._static(simulations, 12, not whole, ("none",))
    exact, = _rates(simulations, 12, schedule)["SS"]
    expect.at_most(0.1, 1 - min(_rates(simulations, 12, schedule, **static.TRUTHS)["SS"]) / exact, "the largest loss with other times")


@claim("static-10-sizes")
def sizes(simulations, whole, expect):
    by_size = [_gflops(simulations, tiles, static.HP) for tiles in (static.SIZES if whole else static.SIZES[:3])]
    for name in by_size[0]:
        for smaller, larger in zip(by_size, by_size[1:]):
            expect.at_least(1, larger[name] / smaller[name], f"{name} with more tiles / with fewer")


@claim("static-11-exact-times")
def exact_times(simulations, whole, expect):
    for tiles in static.SIZES if whole else static.SIZES[:2]:
        rates = _gflops(simulations, tiles, static._static(simulations, tiles, not whole, ("none", "gs")))
        expect.between(0.97, rates["SS+GS"] / rates["SS"], 1, f"SS+GS / SS with exact times, {tiles} tiles")


@claim("static-12-order")
def order(simulations, whole, expect):
    for tiles in (12, 16, 20, 24) if whole else (12,):
        median = _gflops(simulations, tiles, {**static.HEFT, **static.HP}, **static.TRUTHS)
        rules = min(rate for name, rate in median.items() if name.startswith("HP+") and name != "HP+PC")
        expect.at_most(0.99, median["HP+PC"] / rules, f"PC / the next poorest rule, {tiles} tiles")
        expect.at_most(1, median["heftp+GB"] / median["heftp"], f"GB / heftp, {tiles} tiles")
        if tiles >= 20:
            expect.at_most(1, median["heftp+LET"] / median["heftp"], f"LET / heftp, {tiles} tiles")


@claim("static-13-order", long=True)
def repairs(simulations, whole, expect):
    schedulers = {**static._static(simulations, 12, not whole), "heteroprio:spoliation=pcept": "HP+PCEPT"}
    median = _gflops(simulations, 12, schedulers, jitter=0.1, seeds=30)
    for name in ("SS", "SS+G", "SS+GS", "auto"):
        expect.at_least(1, median[name] / median["HP+PCEPT"], f"{name} / PCEPT")
    expect.at_least(0.998, median["SS+GS"] / median["SS"], "SS+GS / SS")
    expect.at_least(1, median["auto"] / median["SS"], "auto / SS")


def _printed(simulations, tiles):
    return static._schedule(simulations, tiles, True)[1]


@claim("static-2-optimal")
def optimal(simulations, whole, expect):
    for tiles in (2, 3, 4, 5):
        speed = _printed(simulations, tiles)
        expect.between(0.999, speed["best"] / speed["bound by the critical path"], 1.001, f"the schedule / the critical path, {tiles} tiles")


@claim("static-2-bounds")
def bounds(simulations, whole, expect):
    for tiles in (8, 12) if whole else (8,):
        speed = _printed(simulations, tiles)
        both, others = speed["bound by both"], (speed["bound by the area"], speed["bound by the critical path"])
        expect.at_most(0.97, both / min(others), f"the iterative bound / the lower one of the others, {tiles} tiles")


def _busy(simulations, scheduler):
    """Of 12 tiles: the part of the time in which each worker runs tasks, and the codelets that ended on each."""
    tasks = simulations.order("order", **static.NODE, tiles=12, tile=960, scheduler=scheduler, no_bounds=True)
    end = max(float(task["end"]) for task in tasks)
    busy, codelets = collections.Counter(), collections.defaultdict(set)
    for task in tasks:
        busy[task["worker"]] += (float(task["end"]) - float(task["start"])) / end
        codelets[task["worker"]].add(task["codelet"])
    return busy, codelets


@claim("static-7-one-core")
def one_core(simulations, whole, expect):
    _, codelets = _busy(simulations, "heftp")
    cores = [worker for worker in codelets if worker.startswith("core")]
    expect.between(1, len(cores), 1, "the number of cores that heftp uses")
    expect.between(1, int(all(codelets[core] == {"potrf"} for core in cores)), 1, "whether they run POTRF only")


@claim("static-8-starving")
def starving(simulations, whole, expect):
    busy, _ = _busy(simulations, next(iter(static.HP)))
    expect.at_most(0.7, max(part for worker, part in busy.items() if worker.startswith("gpu")), "the part of the time in which a GPU runs tasks")
    expect.at_least(0.5, min(part for worker, part in busy.items() if worker.startswith("core")), "the part of the time in which a core runs tasks")
