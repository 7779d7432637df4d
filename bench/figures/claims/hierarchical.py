# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hierarchical (Wu, Bouteiller, Bosilca, Faverge, Dongarra 2015)."""
import hierarchical
from claims.claim import claim


def _best(simulations, gpus, order, inner, tiles):
    return max(hierarchical._gflops(simulations, "hierarchical-6", gpus, order, tile, inner) for tile in tiles if order % tile == 0)


@claim("hierarchical-6-always")
def always(simulations, whole, expect):
    orders = range(5760, 46081, 5760) if whole else (11520, 23040)
    tiles = hierarchical.TILES if whole else hierarchical.TILES[1:]
    for gpus in (1, 2, 3) if whole else (1, 3):
        for order in orders:
            best = [_best(simulations, gpus, order, inner, tiles) for inner in (hierarchical.INNER, 0)]
            expect.at_least(1.03, best[0] / best[1], f"inner tiles / whole tasks, {gpus} GPUs, n = {order}")


@claim("hierarchical-5-large-tiles")
def large_tiles(simulations, whole, expect):
    for order, tiles in ((16128, (576, 768, 1152, 1344)), *([(46080, (960, 1152, 1536))] if whole else [])):
        tiles = [tile for tile in tiles if order % tile == 0]
        rates = [hierarchical._gflops(simulations, "hierarchical-5", 1, order, tile, 0) for tile in tiles]
        for tile, fast, slow in zip(tiles[1:], rates, rates[1:]):
            expect.at_most(1, slow / fast, f"the speed with whole tasks of {tile} / with the next smaller tile, n = {order}")


def _keeneland(simulations, order, tile, inner, processes=64):
    options = dict(inner_tile=hierarchical.INNER) if inner else {}
    run, = simulations.runs(f"keeneland-{processes}-{order}-{tile}-{inner}", platform="keeneland", processes=processes, cpus=12,
                            algorithm="cholesky", precision="d", scheduler="prio:balance=parsec", priorities="none",
                            tiles=order // tile, tile=tile, no_bounds=True, **options)
    return run["gflops"] / 1e3


# Of GEMM on 64 nodes, TFlop/s: 59 are 60.5 % of it.
PEAK = 59 / 0.605


@claim("hierarchical-9-peak", long=True)
def peak(simulations, whole, expect):
    expect.between(0.58, _keeneland(simulations, 218880, 1152, True) / PEAK, 0.65, "of the peak on 64 nodes")


@claim("hierarchical-10-64-nodes")
def nodes(simulations, whole, expect):
    side = 8 if whole else 3
    one, many = (_keeneland(simulations, 27648 * root, 1152, True, root * root) for root in (1, side))
    low, high = (0.72, 0.82) if whole else (0.9, 1)
    expect.between(low, many / one / side**2, high, f"of the speed of one node, {side**2} nodes")


def _streams(simulations, order, inner, streams):
    return max(hierarchical._gflops(simulations, "hierarchical-8", 1, order, tile, inner, streams)
               for tile in hierarchical.TILES if order % tile == 0)


@claim("hierarchical-8-streams")
def several_streams(simulations, whole, expect):
    for order in (5760, 11520, 17280) if whole else (11520,):
        for inner in (0, hierarchical.INNER):
            expect.at_least(1.09, _streams(simulations, order, inner, 2) / _streams(simulations, order, inner, 1),
                            f"two streams / one, n = {order}, inner tiles of {inner}")


@claim("hierarchical-8-best")
def streams_best(simulations, whole, expect):
    for order in range(5760, 46081, 5760) if whole else (5760, 11520):
        for streams in (1, 2, 4):
            expect.at_least(1, _streams(simulations, order, hierarchical.INNER, streams) / _streams(simulations, order, 0, streams),
                            f"inner tiles / whole tasks, {streams} streams, n = {order}")
