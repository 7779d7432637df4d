# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counterparts of the figures of the Memory paper (Sergent, Goudin, Thibault, Aumage 2016), section VI-B.

The problems have the paper's matrices, processes and thresholds, with larger tiles, so that they take seconds: as many
bytes in fewer tasks. bench/distributed/subscription.py has the paper's tiles.
"""
import csv
import json
import pathlib
import re

import matplotlib.pyplot as plt

import as_published
import plots

NODE = 1  # as in the paper: off the diagonal
RUNS = pathlib.Path(__file__).resolve().parents[1] / "distributed/subscription.csv"


class Levels:
    """Bytes over time in one process, from a trace."""

    def __init__(self, path, process):
        self.booked, self.in_memory = [], []  # pairs of seconds and bytes
        arrivals, last_uses, self.assembled = {}, {}, 0
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                if f'"pid":{process + 2},' not in line:
                    continue
                event = json.loads(line.rstrip(",\n"))
                seconds, arguments = event.get("ts", 0) * 1e-6, event.get("args", {})
                if event["name"] == "bytes booked":
                    self.booked.append((seconds, arguments["bytes"]))
                elif event["name"] == f"bytes in {process}: host":
                    self.in_memory.append((seconds, arguments["bytes"]))
                elif event.get("cat") == "transfer":
                    arrivals[_tile(arguments["data"])] = seconds, arguments["bytes"]
                elif event.get("cat") == "task":
                    end = seconds + event["dur"] * 1e-6
                    if event["name"].endswith("assemble"):
                        self.assembled = max(self.assembled, end)
                    for tile in _read_by(event["name"], arguments):
                        last_uses[tile] = max(last_uses.get(tile, 0), end)
        # Values of other processes leave the memory after their last use.
        changes = sorted([*arrivals.values(), *((last_uses[tile], -size) for tile, (_, size) in arrivals.items())])
        self.own = []
        received, place = 0, 0
        for seconds, level in self.in_memory:
            while place < len(changes) and changes[place][0] <= seconds:
                received += changes[place][1]
                place += 1
            self.own.append((seconds, level - received))

    def initial(self):
        """Bytes of the process's own tiles when all are assembled."""
        return next(level for seconds, level in self.own if seconds >= self.assembled)


def _tile(name):
    return tuple(map(int, re.fullmatch(r"A\((\d+), (\d+)\)", name).groups()))


def _read_by(codelet, task):
    """The tiles that a task reads and does not write."""
    i, j, k = task["i"], task["j"], task["k"]
    return {"lr_trsm": [(k, k)], "lr_herk": [(j, k)], "lr_gemm": [(i, k), (j, k)]}.get(codelet, [])


def _state(simulations, number, quick):
    """Figures 4 and 6: without control above, with it below."""
    published = as_published.load(f"memory-{number}")
    figure, panels = plt.subplots(2, 1, figsize=(7, 6), sharex=True)
    for axes, (case, options) in zip(panels, published.cases.items()):
        options = {**published.options, **options, **(dict(tiles=24, tile=4 * published.options["tile"]) if quick else {})}
        path = simulations.folder / f"memory-{number}-{case.replace(' ', '-')}.trace.json"
        simulations.trace(path, scheduler=published.schedulers["prio"], **options)
        levels = Levels(path, NODE)
        path.unlink()  # it is large
        for label, level, style in (("booked", levels.booked, "r-"), ("in memory", levels.in_memory, "k-"),
                                    ("of these: own tiles", levels.own, "b-")):
            axes.plot([seconds for seconds, _ in level], [size / 1e9 for _, size in level], style, linewidth=1, label=label)
        axes.axhline(levels.initial() / 1e9, color="green", linestyle="--", linewidth=1, label="own tiles at first")
        if "booking_sleep" in options:
            for name in ("booking_sleep", "booking_wakeup"):
                axes.axhline(float(options[name].removesuffix("GB")), color="grey", linestyle=":", linewidth=1,
                             label="SLEEP, WAKEUP" if name == "booking_sleep" else None)
        peaks = [max(size for _, size in level) / 1e9 for level in (levels.booked, levels.in_memory)]
        axes.set_title(f"{case}: at most {peaks[0]:.1f} GB booked, {peaks[1]:.1f} GB in memory", fontsize=8)
        axes.set_ylabel("GB")
        axes.set_ylim(0, 26)
        axes.grid(color="#e0e0e0", linewidth=0.5)
    panels[1].legend(fontsize=7, loc="center", bbox_to_anchor=(0.5, 0.52), ncols=3)
    panels[1].set_xlabel("seconds")
    processes, order = options["processes"], options["tiles"] * options["tile"]
    plots.save(figure, simulations.folder / f"memory-{number}.png",
               f"Process {NODE} of {processes}, n = {order:,} in tiles of {options['tile']} (Memory, Figure {number})")


def figure_4(simulations, quick):
    _state(simulations, 4, quick)


def figure_6(simulations, quick):
    _state(simulations, 6, quick)


def figure_5(simulations, quick):
    """From the stored runs with the paper's matrix in tiles of 1024, which take an hour and a half."""
    with open(RUNS, encoding="utf-8", newline="") as file:
        runs = [run for run in csv.DictReader(file) if run["section"] == "setup 2"]
    figure, axes = plt.subplots(figsize=(6, 3.6))
    for booking, label, style, above in (("none", "without control", "ro--", -11), ("paper", "with control", "bs-", 6)):
        mine = [run for run in runs if run["booking"] == booking]
        places = [(int(run["processes"]), float(run["cpu_hours"])) for run in mine]
        axes.plot(*zip(*places), style, markersize=4, linewidth=1, label=label)
        for run, place in zip(mine, places):
            axes.annotate(f"{float(run['host_gb_most']):.0f} GB", place, fontsize=6, textcoords="offset points", xytext=(0, above),
                          ha="center", color=style[0])
    axes.set_xlabel("processes")
    axes.set_ylabel("CPU hours")
    axes.set_ylim(600, 740)
    axes.grid(color="#e0e0e0", linewidth=0.5)
    axes.legend(fontsize=7, loc="upper left")
    plots.save(figure, simulations.folder / "memory-5.png",
               "CPU hours, and the most bytes in the memory of a process (Memory, Figure 5)")


def thresholds(simulations, quick):
    """Not in the paper: where SLEEP begins to cost time."""
    problem = {**as_published.load("memory-4").options, "tiles": 24 if quick else 120, "tile": 512}
    sizes = (0.1, 0.2) if quick else (0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.6)
    free, *runs = (simulations.runs(f"memory-thresholds-{sleep}", scheduler="prio", **problem, **_thresholds(sleep))[0] for sleep in (0, *sizes))
    figure, axes = plt.subplots(figsize=(6, 3.2))
    axes.plot(sizes, [run["seconds"] / free["seconds"] for run in runs], "ko-", markersize=4, linewidth=1)
    axes.set_xlabel("SLEEP, GB")
    axes.set_ylabel("time / time without control")
    axes.set_ylim(bottom=0)
    axes.grid(color="#e0e0e0", linewidth=0.5)
    plots.save(figure, simulations.folder / "memory-thresholds.png",
               f"{problem['tiles']} tiles of {problem['tile']}, {problem['processes']} processes; WAKEUP is 0.9 SLEEP")


def _thresholds(sleep):
    return dict(booking="paper", booking_sleep=f"{sleep:g}GB", booking_wakeup=f"{0.9 * sleep:g}GB") if sleep else dict(booking="none")


FIGURES = {"memory-4": figure_4, "memory-5": figure_5, "memory-6": figure_6, "memory-thresholds": thresholds}
