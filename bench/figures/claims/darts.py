# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""DARTS (Gonthier, Thibault, Marchal 2024), as published. Without `whole` smaller memories make smaller matrices show the same."""
import collections
import functools
import statistics
import tempfile

import as_published
import darts
import plots
from claims.claim import claim
from simulate import Simulations

BEYOND = dict(tiles=45, memory="10GB")  # 34 GB
FOUR_V100, FOUR_A100 = "v100x4, 100 tiles", "a100x4, 110 tiles"


@functools.cache
def _cached(program, figure, case, more):
    with tempfile.TemporaryDirectory() as folder:
        runs = as_published.load(figure).runs(Simulations(program, folder), "runs", case, **dict(more))
    return {run["scheduler"]: run for run in runs}


def _runs(simulations, figure, case=None, **more):
    """The runs of one problem of a figure by scheduler; several checks use them."""
    return _cached(simulations.program, figure, case, tuple(sorted(more.items())))


def _of_the_bound(run):
    return run["gflops"] / run["upper_bound_gflops"]


def _moved(run, peer):
    return plots.received(run) / plots.received(peer)


def _figure_6(simulations, whole, small):
    """By the number of tiles."""
    sizes = [dict(tiles=tiles) for tiles in (60, 75, 82, 90)] if whole else [small]
    return {size["tiles"]: _runs(simulations, "darts-6", **size) for size in sizes}


@claim("darts-6-keeps-its-rate")
def keeps_its_rate(simulations, whole, expect):
    for tiles, runs in _figure_6(simulations, whole, dict(tiles=60)).items():
        expect.at_least(0.98, _of_the_bound(runs["darts"]), f"darts, of the bound, {tiles} tiles")
        for name in runs.keys() - ({"darts", "dmdas"} if tiles == 60 else {"darts"}):
            expect.at_most(0.75, _of_the_bound(runs[name]), f"{name}, of the bound, {tiles} tiles")


@claim("darts-6-dmdas")
def dmdas_is_sustained(simulations, whole, expect):
    expect.at_least(0.99, _of_the_bound(_runs(simulations, "darts-6", tiles=60)["dmdas"]), "dmdas, of the bound, 60 tiles")
    for tiles, runs in _figure_6(simulations, whole, BEYOND).items():
        if tiles != 60:
            expect.at_most(0.5, _of_the_bound(runs["dmdas"]), f"dmdas, of the bound, {tiles} tiles")


@claim("darts-6-lws")
def lws_reuses_little(simulations, whole, expect):
    for tiles, runs in _figure_6(simulations, whole, dict(tiles=60)).items():
        run = runs["lws"]
        expect.at_least(13, 1e9 * plots.received(run) / run["io_bound_bytes"], f"lws, received / lower bound, {tiles} tiles")
        expect.between(0.98, _moved(run, runs["eager"]), 1.02, f"lws, received / eager, {tiles} tiles")


@claim("darts-6-ap")
def ap_is_like_dmdas(simulations, whole, expect):
    for tiles, runs in _figure_6(simulations, whole, BEYOND).items():
        if tiles != 60:
            expect.between(0.9, _moved(runs["prio"], runs["dmdas"]), 1.15, f"prio, received / dmdas, {tiles} tiles")
            expect.between(0.8, runs["prio"]["gflops"] / runs["dmdas"]["gflops"], 1.2, f"prio, speed / dmdas, {tiles} tiles")


@claim("darts-6-fewest-bytes")
def fewest_bytes(simulations, whole, expect):
    for tiles, runs in _figure_6(simulations, whole, dict(tiles=60)).items():
        for name in runs.keys() - {"darts"}:
            expect.at_least(4, _moved(runs[name], runs["darts"]), f"{name}, received / darts, {tiles} tiles")


def _ranks(values):
    """Of each value, from 0; equal ones share the mean of theirs."""
    places = {}
    for place, value in enumerate(sorted(values)):
        places.setdefault(value, []).append(place)
    return [statistics.fmean(places[value]) for value in values]


def _order(simulations, figure):
    """Of all tasks, as (iteration, row, column, sequence, worker)."""
    published = as_published.load(figure)
    specification, = published.schedulers.values()
    tasks = simulations.order("order", scheduler=specification, **published.options)
    return [(*(int(task[key]) for key in ("iteration", "row", "col", "sequence")), task["worker"]) for task in tasks]


def _anti_diagonals(tasks):
    """The rank correlation between row + column and the order, in iteration 1."""
    first = [task for task in tasks if task[0] == 1]
    return statistics.correlation(_ranks([row + col for _, row, col, *_ in first]), _ranks([task[3] for task in first]))


@claim("darts-8-anti-diagonals")
def anti_diagonals(simulations, whole, expect):
    expect.at_least(0.99, _anti_diagonals(_order(simulations, "darts-8")), "the rank correlation of dmdas' order with row + column")


def _tiles_of_a_hundred(tasks):
    """How many tiles a hundred tasks write that follow each other."""
    written = [task[1:3] for task in sorted(tasks, key=lambda task: task[3])]
    return statistics.fmean(len(set(written[i:i + 100])) for i in range(0, len(written) - 99, 100))


def _repetition(tasks, later):
    """Between the orders of iteration 1 and a later one, of the tiles that both write: the rank correlation."""
    order = {k: {task[1:3]: task[3] for task in tasks if task[0] == k} for k in (1, later)}
    both = sorted(order[1].keys() & order[later].keys())
    return statistics.correlation(*(_ranks([order[k][tile] for tile in both]) for k in (1, later)))


@claim("darts-9-blocks")
def blocks(simulations, whole, expect):
    tasks = _order(simulations, "darts-9")
    fit = 2e9 / darts.TILE_BYTES
    expect.at_most(fit, _tiles_of_a_hundred(tasks), "the tiles that a hundred tasks of darts write")
    for later, low in ((4, 0.95), (8, 0.85)):
        expect.at_least(low, _repetition(tasks, later), f"the rank correlation between iterations 1 and {later} of darts")
    expect.at_least(fit, _tiles_of_a_hundred(_order(simulations, "darts-8")), "the tiles that a hundred tasks of dmdas write")


@claim("darts-10-in-memory")
def one_gpu_in_memory(simulations, whole, expect):
    for case in ("p100, 25 tiles", "v100x1, 25 tiles", "a100x1, 25 tiles"):
        for name, run in _runs(simulations, "darts-10", case).items():
            expect.at_least(0.98, _of_the_bound(run), f"{name}, of the bound, {case}")


@claim("darts-10-v100")
def ap_on_v100(simulations, whole, expect):
    runs = _runs(simulations, "darts-10", "v100x1, 70 tiles", **({} if whole else BEYOND))
    for name in runs.keys() - {"darts"}:
        expect.at_most(0.75, runs[name]["gflops"] / runs["darts"]["gflops"], f"{name}, speed / darts")


@claim("darts-11-lws-in-memory")
def lws_in_memory(simulations, whole, expect):
    for case in ("v100x4, 30 tiles", "a100x4, 30 tiles"):
        runs = _runs(simulations, "darts-11", case)
        expect.at_least(1.001, runs["lws"]["gflops"] / runs["darts"]["gflops"], f"lws, speed / darts, {case}")
        expect.at_least(1.2, _moved(runs["lws"], runs["darts"]), f"lws, received / darts, {case}")


@claim("darts-12-others-move-more")
def others_move_more(simulations, whole, expect):
    for case in (FOUR_V100, FOUR_A100) if whole else (FOUR_V100,):
        runs = _runs(simulations, "darts-11", case, **({} if whole else dict(tiles=40, memory="5GB")))
        for name in runs.keys() - {"darts"}:
            expect.at_least(4 if whole else 2, _moved(runs[name], runs["darts"]), f"{name}, received / darts, {case}")


@claim("darts-13-distribution")
def distribution(simulations, whole, expect):
    tasks = _order(simulations, "darts-13")
    counts = collections.Counter(task[4] for task in tasks)
    expect.between(0.9, counts["gpu0"] / counts["gpu1"], 1.1, "the tasks of one GPU / those of the other")


LU_BEYOND = dict(tiles=48, memory="14.2GB")


@claim("darts-14-eager-and-lws")
def eager_and_lws(simulations, whole, expect):
    runs = _runs(simulations, "darts-14", **(dict(tiles=72) if whole else LU_BEYOND))
    for name in ("eager", "lws"):
        expect.at_least(3, _moved(runs[name], runs["darts"]), f"{name}, received / darts")


@claim("darts-14-others-lose")
def others_lose(simulations, whole, expect):
    runs = _runs(simulations, "darts-14", **(dict(tiles=72) if whole else LU_BEYOND))
    for name in runs.keys() - {"darts"}:
        expect.at_most(0.95, _of_the_bound(runs[name]) / _of_the_bound(runs["darts"]), f"{name}, speed / darts")


@claim("darts-15-in-memory")
def lu_in_memory(simulations, whole, expect):
    for case in ("p100, 16 tiles", "v100x1, 16 tiles", "a100x1, 16 tiles", "v100x4, 20 tiles", "a100x4, 20 tiles"):
        runs = _runs(simulations, "darts-15", case)
        for name in ("lws", "dmdas"):
            expect.between(0.93, runs["darts"]["gflops"] / runs[name]["gflops"], 1.07, f"darts, speed / {name}, {case}")


@claim("darts-16-in-memory")
def disk_in_memory(simulations, whole, expect):
    for tiles in (10, 30):
        runs = _runs(simulations, "darts-16", tiles=tiles)
        for name in ("lws", "dmdas"):
            expect.between(0.94, runs["darts"]["gflops"] / runs[name]["gflops"], 1.06, f"darts, speed / {name}, {tiles} tiles")


@claim("darts-16-beyond-memory")
def disk_beyond_memory(simulations, whole, expect):
    for tiles in (40, 50) if whole else (40,):
        runs = _runs(simulations, "darts-16", tiles=tiles)
        expect.at_least(0.96, _of_the_bound(runs["darts"]), f"darts, of the bound, {tiles} tiles")
        for name in runs.keys() - {"darts"}:
            expect.at_most(0.6, _of_the_bound(runs[name]), f"{name}, of the bound, {tiles} tiles")
