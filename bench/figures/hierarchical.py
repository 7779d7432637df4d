# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counterparts of the figures of the Hierarchical paper (Wu, Bouteiller, Bosilca, Faverge, Dongarra 2015), section VI.

Cholesky in double precision on the paper's machine. Each GPU is driven by one of the 16 cores. Devices are chosen by
PaRSEC's rule, and all tasks have the same priority, as in DPLASMA by default. QR is not simulated.
"""
import matplotlib.pyplot as plt

import as_published
import plots

TILES = (384, 576, 768, 960, 1152)
INNER = 192
COLOURS = {1: "#1f77b4", 2: "#2ca02c", 3: "#d62728"}
PAPER = {1: 1360, 2: 2500, 3: 3700}


def _gflops(simulations, figure, gpus, order, tile, inner, streams=1, own=None):
    """Of one run; inner = 0: tasks run whole. `own`: a scheduler of the user instead of the paper's."""
    published = as_published.load(figure)
    name = f"{figure}-{gpus}-{order}-{tile}-{inner}-{streams}" + (f"-{plots.file_name(own)}" if own else "")
    run, = published.runs(simulations, name, schedulers={own: own} if own else None, gpus=gpus, cpus=16 - gpus,
                          tiles=order // tile, tile=tile, inner_tile=inner, gpu_workers=streams)
    return run["gflops"]


def _best(simulations, figure, gpus, orders, inner, streams=1, own=None):
    """GFlop/s with the best tile for each order."""
    return [max(_gflops(simulations, figure, gpus, order, tile, inner, streams, own) for tile in TILES if order % tile == 0)
            for order in orders]


def _own(simulations):
    """The user's schedulers and a marker for each."""
    return zip(simulations.own_beside([]), "^v<>Dd")


def figure_5(simulations, quick):
    figure, panels = plt.subplots(1, 2, figsize=(10, 3.4))
    for axes, order in zip(panels, (16128, 23040 if quick else 46080)):
        for inner, colour in ((0, "black"), (192, "#d62728"), (384, "#1f77b4")):
            tiles = [tile for tile in range(384, 1537, 192) if order % tile == 0 and tile % max(inner, 1) == 0]
            rates = [_gflops(simulations, "hierarchical-5", 1, order, tile, inner) for tile in tiles]
            axes.plot(tiles, rates, marker="o", markersize=4, linewidth=1, color=colour,
                      linestyle="-" if inner else "--", label=f"b = {inner}" if inner else "whole tasks")
            for own, marker in _own(simulations):
                rates = [_gflops(simulations, "hierarchical-5", 1, order, tile, inner, own=own) for tile in tiles]
                axes.plot(tiles, rates, marker=marker, markersize=4, linewidth=1, color=colour, linestyle=":",
                          label=f"{own}, b = {inner}" if inner else f"{own}, whole tasks")
        axes.set_title(f"n = {order}", fontsize=8)
        axes.set_xlabel("outer tile B")
        axes.set_ylim(bottom=0)
        axes.grid(color="#e0e0e0", linewidth=0.5)
    panels[0].set_ylabel("GFlop/s")
    panels[0].legend(fontsize=7)
    plots.save(figure, simulations.folder / "hierarchical-5.png", "Cholesky, 15 cores and one K40c (Hierarchical, Figure 5)")


def _with_best_tiles(axes, simulations, figure, orders, gpus, streams, name, style):
    """Curves of whole tasks and inner tiles, and of inner tiles under the user's schedulers."""
    for inner in (0, INNER):
        axes.plot(orders, _best(simulations, figure, gpus, orders, inner, streams), linestyle="-" if inner else "--", **style,
                  label=f"{name}, " + (f"b = {inner}" if inner else "whole tasks"))
    for own, marker in _own(simulations):
        axes.plot(orders, _best(simulations, figure, gpus, orders, INNER, streams, own), marker=marker, markersize=4, linewidth=1,
                  color=style["color"], linestyle=":", label=f"{own}, {name}, b = {INNER}")


def _save(figure, axes, simulations, name, title):
    axes.set_xlabel("n")
    axes.set_ylabel("GFlop/s")
    axes.set_ylim(bottom=0)
    axes.grid(color="#e0e0e0", linewidth=0.5)
    axes.legend(fontsize=7)
    plots.save(figure, simulations.folder / f"{name}.png", title.format("best tile of " + ", ".join(map(str, TILES))))


def figure_6(simulations, quick):
    orders = range(5760, 23041 if quick else 46081, 5760)
    figure, axes = plt.subplots(figsize=(7, 4))
    for gpus, colour in COLOURS.items():
        _with_best_tiles(axes, simulations, "hierarchical-6", orders, gpus, 1, f"{gpus} GPU{'s' if gpus > 1 else ''}",
                         dict(color=colour, linewidth=1, marker="o", markersize=4))
        axes.plot(48000, PAPER[gpus], "x", color=colour, label="the paper's, b = 192" if gpus == 1 else None)
    _save(figure, axes, simulations, "hierarchical-6", "Cholesky, 16 cores with 1 to 3 K40c, {} (Hierarchical, Figure 6)")


def figure_8(simulations, quick):
    orders = range(5760, 11521 if quick else 46081, 5760)
    figure, axes = plt.subplots(figsize=(7, 4))
    # Two and four streams hardly differ: wide lines under thin ones.
    for streams, style in ((1, dict(color="#1f77b4", linewidth=1, marker="o", markersize=4)),
                           (2, dict(color="#98df8a", linewidth=4, marker="o", markersize=7)),
                           (4, dict(color="#d62728", linewidth=1, marker="x", markersize=4))):
        _with_best_tiles(axes, simulations, "hierarchical-8", orders, 1, streams, f"{streams} {'streams' if streams > 1 else 'stream'}", style)
    _save(figure, axes, simulations, "hierarchical-8", "Cholesky, 15 cores and one K40c, {}\n(Hierarchical, Figure 8)")


FIGURES = {"hierarchical-5": figure_5, "hierarchical-6": figure_6, "hierarchical-8": figure_8}
