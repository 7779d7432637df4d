# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""DARTS (Gonthier, Thibault, Marchal 2024)."""
import statistics

import darts
import plots
from claims.claim import claim


def _runs(simulations, schedulers, **options):
    """By scheduler, each with its own eviction policy."""
    options = {"platform": "v100x1", "algorithm": "cholesky", "tile": 2880, "precision": "s", "cpus": 0, **options}
    return {run["scheduler"]: run for run in simulations.runs("runs", scheduler=schedulers, **options)}


def _of_the_bound(run):
    return run["gflops"] / run["upper_bound_gflops"]


@claim("darts-6-lws-and-dmdas-lose")
def lws_and_dmdas_lose(simulations, whole, expect):
    for tiles in (60, 75, 90) if whole else (60,):
        for name, run in _runs(simulations, ["lws", "dmdas"], tiles=tiles).items():
            expect.at_most(0.6, _of_the_bound(run), f"{name}, of the bound, {tiles} tiles")
            expect.at_least(1.3, 1e9 * plots.received(run) / run["bus_limit_bytes"], f"{name}, received / bus limit, {tiles} tiles")


@claim("darts-6-eager-loses")
def eager_loses(simulations, whole, expect):
    for tiles in (60, 75, 90) if whole else (60,):
        runs = _runs(simulations, ["eager", "darts"], tiles=tiles, half_duplex=True)
        expect.at_most(0.75, _of_the_bound(runs["eager"]), f"eager, of the bound, {tiles} tiles")
        expect.at_least(0.98, _of_the_bound(runs["darts"]), f"darts, of the bound, {tiles} tiles")


def _ranks(values):
    """Of each value, from 0; equal ones share the mean of theirs."""
    places = {}
    for place, value in enumerate(sorted(values)):
        places.setdefault(value, []).append(place)
    return [statistics.fmean(places[value]) for value in values]


def _order(simulations, scheduler):
    """Of the tasks of iteration 1 and later, as (iteration, row, column, sequence)."""
    tasks = simulations.order("order", platform="v100x1", algorithm="cholesky", tiles=40, tile=2880, precision="s", cpus=0, memory="2GB",
                              scheduler=scheduler)
    return [tuple(int(task[key]) for key in ("iteration", "row", "col", "sequence")) for task in tasks]


def _anti_diagonals(tasks):
    """The rank correlation between row + column and the order, in iteration 1."""
    first = [task for task in tasks if task[0] == 1]
    return statistics.correlation(_ranks([row + col for _, row, col, _ in first]), _ranks([task[3] for task in first]))


@claim("darts-8-anti-diagonals")
def anti_diagonals(simulations, whole, expect):
    expect.at_least(0.99, _anti_diagonals(_order(simulations, "dmdas")), "the rank correlation of dmdas' order with row + column")


def _tiles_of_a_hundred(tasks):
    """How many tiles a hundred tasks write that follow each other."""
    written = [task[1:3] for task in sorted(tasks, key=lambda task: task[3])]
    return statistics.fmean(len(set(written[i:i + 100])) for i in range(0, len(written) - 99, 100))


def _repetition(tasks):
    """Between the orders of iterations 1 and 4, of the tiles that both write: the rank correlation."""
    order = {k: {task[1:3]: task[3] for task in tasks if task[0] == k} for k in (1, 4)}
    both = sorted(order[1].keys() & order[4].keys())
    return statistics.correlation(*(_ranks([order[k][tile] for tile in both]) for k in (1, 4)))


@claim("darts-9-blocks")
def blocks(simulations, whole, expect):
    tasks = _order(simulations, "darts")
    fit = 2e9 / darts.TILE_BYTES
    expect.at_most(fit, _tiles_of_a_hundred(tasks), "the tiles that a hundred tasks of darts write")
    expect.at_least(0.9, _repetition(tasks), "the rank correlation between iterations 1 and 4 of darts")
    runs = _runs(simulations, ["dmdas", "darts"], tiles=40, memory="2GB")
    expect.between(4, plots.received(runs["dmdas"]) / plots.received(runs["darts"]), 6, "dmdas, received / darts")
    expect.at_least(fit, _tiles_of_a_hundred(_order(simulations, "dmdas")), "the tiles that a hundred tasks of dmdas write")


FOUR = dict(platform="v100x4", gpus=4)


@claim("darts-12-others-move-more")
def others_move_more(simulations, whole, expect):
    for platform, tiles in (("v100x4", 100), ("a100x4", 110)) if whole else (("v100x4", 40),):
        problem = dict(tiles=tiles) if whole else dict(tiles=tiles, memory="5GB")
        runs = _runs(simulations, ["eager", "prio", "lfq", "lws", "dmdas", "dmdar", "darts"], platform=platform, gpus=4, **problem)
        for name in runs.keys() - {"darts"}:
            expect.at_least(1.8 if whole else 1.3, plots.received(runs[name]) / plots.received(runs["darts"]),
                            f"{name}, received / darts, {tiles} tiles, {platform}")


@claim("darts-14-eager-and-lws")
def eager_and_lws(simulations, whole, expect):
    for problem in (dict(tiles=72), dict(tiles=88)) if whole else (dict(tiles=48, memory="14.2GB"),):
        runs = _runs(simulations, ["eager", "lws", "darts"], algorithm="lu", **FOUR, **problem)
        for name in ("eager", "lws"):
            expect.at_least(3, plots.received(runs[name]) / plots.received(runs["darts"]), f"{name}, received / darts, {problem}")


@claim("darts-14-others-lose")
def others_lose(simulations, whole, expect):
    for problem in (dict(tiles=72), dict(tiles=88)) if whole else (dict(tiles=48, memory="14.2GB"),):
        runs = _runs(simulations, ["eager", "prio", "dmdas", "lws", "darts"], algorithm="lu", **FOUR, **problem)
        for name in runs.keys() - {"darts"}:
            expect.at_most(0.95, _of_the_bound(runs[name]) / _of_the_bound(runs["darts"]), f"{name}, speed / darts, {problem}")


@claim("darts-14-in-memory")
def in_memory(simulations, whole, expect):
    runs = _runs(simulations, ["lws", "dmdas", "darts"], algorithm="lu", tiles=20, **FOUR)
    for name in ("lws", "dmdas"):
        expect.between(0.95, _of_the_bound(runs["darts"]) / _of_the_bound(runs[name]), 1.05, f"darts / {name}")


def _on_disk(simulations, schedulers, tiles):
    return _runs(simulations, schedulers, platform="xeon-disk", algorithm="lu", tiles=tiles, cpus=12)


@claim("darts-16-in-memory")
def disk_in_memory(simulations, whole, expect):
    for tiles in (10, 30):
        runs = _on_disk(simulations, ["lws", "dmdas", "darts"], tiles)
        for name in ("lws", "dmdas"):
            expect.between(0.94, _of_the_bound(runs["darts"]) / _of_the_bound(runs[name]), 1.06, f"darts / {name}, {tiles} tiles")


@claim("darts-16-beyond-memory")
def disk_beyond_memory(simulations, whole, expect):
    for tiles in (40, 50) if whole else (40,):
        runs = _on_disk(simulations, ["eager", "lfq", "lws", "dmdas", "darts"], tiles)
        expect.at_least(0.96, _of_the_bound(runs["darts"]), f"darts, of the bound, {tiles} tiles")
        for name in runs.keys() - {"darts"}:
            expect.at_most(0.9, _of_the_bound(runs[name]), f"{name}, of the bound, {tiles} tiles")
