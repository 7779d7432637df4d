# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Common functions for drawing the figures."""
import math
import re

import matplotlib
import matplotlib.ticker

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

COLOURS = {
    "eager": "#7f7f7f",
    "prio": "#8c564b",
    "lfq": "#bcbd22",
    "lws": "#2ca02c",
    "dmdas": "#1f77b4",
    "dmdar": "#17becf",
    "darts": "#d62728",
    "superblock": "#9467bd",
}
OTHER_COLOURS = ["#ff7f0e", "#e377c2", "#000000", "#98df8a", "#aec7e8"]  # of the user's schedulers
MARKERS = "osPv^<D*Xph>"
FORMATS = ["png"]  # make_figures.py --vector: svg and pdf
matplotlib.rcParams["svg.hashsalt"] = "granary"  # the same file from the same runs
THOUSANDS = ["red", "green", "blue", "gold", "magenta", "cyan", "orange"]


def file_name(specification):
    """A scheduler's specification as part of a file's name."""
    return re.sub(r"[^A-Za-z0-9=.+-]+", "-", specification)


def colour(scheduler, schedulers):
    """A paper's schedulers have the same colour in all figures."""
    if scheduler in COLOURS:
        return COLOURS[scheduler]
    others = [other for other in schedulers if other not in COLOURS]
    return OTHER_COLOURS[others.index(scheduler) % len(OTHER_COLOURS)]


def line_styles(count):
    """A style for each of so many lines: where lines coincide, all are seen, since each is thinner than those below it."""
    for i in range(count):
        left = (count - 1 - i) / max(1, count - 1)
        yield dict(linewidth=1 + 2 * left, alpha=1 - 0.3 * left, marker=MARKERS[i % len(MARKERS)],
                   markersize=4 + 3 * left, markerfacecolor="none" if left else None)


def received(run):
    """Gigabytes that the devices received from the host and from each other, or the host from a disk."""
    return (run["bytes_host_to_device"] + run["bytes_device_to_device"]) / 1e9


def curves(runs, best, path, title, memory_gb, moved=received, moved_label="received by the devices (GB)"):
    """Throughput and transfers over the working set, one curve per scheduler (DARTS, Figures 6, 14 and 16); dashed: with
    its best eviction policy, if `best` has runs."""
    figure, (rates, transfers) = plt.subplots(1, 2, figsize=(10, 3.6))
    schedulers = list(dict.fromkeys(run["scheduler"] for run in runs))
    for scheduler, line in zip(schedulers, line_styles(len(schedulers))):
        for some, style in ((runs, dict(line, label=scheduler)), (best, dict(linestyle="--", linewidth=1))):
            mine = [run for run in some if run["scheduler"] == scheduler]
            if not mine:
                continue
            sizes = [run["compulsory_bytes"] / 1e9 for run in mine]
            style = dict(style, color=colour(scheduler, schedulers))
            rates.plot(sizes, [run["gflops"] for run in mine], **style)
            transfers.plot(sizes, [moved(run) for run in mine], **style)
    one = [run for run in runs if run["scheduler"] == runs[0]["scheduler"]]
    sizes = [run["compulsory_bytes"] / 1e9 for run in one]
    rates.plot(sizes, [run["upper_bound_gflops"] for run in one], "k:", label="upper bound")
    least = [max(run["io_bound_bytes"], run["compulsory_bytes"]) / 1e9 for run in one]
    transfers.plot(sizes, least, "k-.", linewidth=1, label="lower bound")
    transfers.plot(sizes, [run["bus_limit_bytes"] / 1e9 for run in one], "k--", label="bus limit, host to devices")
    for axes in (rates, transfers):
        axes.set_xlabel("working set (GB)")
        axes.axvline(memory_gb, color="green", linestyle=":", label="memory")
        axes.grid(color="#e0e0e0", linewidth=0.5)
    rates.set_ylabel("GFlop/s")
    rates.set_ylim(bottom=0)
    transfers.set_ylabel(moved_label)
    transfers.set_yscale("log")
    rates.legend(fontsize=7)
    handles, labels = transfers.get_legend_handles_labels()
    transfers.legend(handles[-3:-1], labels[-3:-1], fontsize=7)
    save(figure, path, title)


def bars(groups, path, title, value, label, bound=None, scale="linear"):
    """For each (name, runs, best) a group with one bar per scheduler (DARTS, Figures 10, 11, 12 and 15); black: with its
    best eviction policy, if `best` has runs."""
    figure, axes = plt.subplots(figsize=(max(6, 1.8 * len(groups)), 4))
    schedulers = list(dict.fromkeys(run["scheduler"] for _, runs, _ in groups for run in runs))
    width = 0.8 / len(schedulers)
    for i, scheduler in enumerate(schedulers):
        for some, draw in ((1, lambda places, values: axes.bar(places, values, width, label=scheduler,
                                                                  color=colour(scheduler, schedulers))),
                           (2, lambda places, values: axes.plot(places, values, "k_", markersize=5))):
            mine = [(g + i * width, value(run)) for g, group in enumerate(groups) for run in group[some]
                    if run["scheduler"] == scheduler]
            draw([place for place, _ in mine], [number for _, number in mine])
    if bound:
        for g, (_, runs, _) in enumerate(groups):
            axes.hlines(bound(runs[0]), g - width / 2, g + 0.8 - width / 2, color="black", linestyle=":", label="upper bound" if g == 0 else None)
    axes.set_xticks([g + 0.4 - width / 2 for g in range(len(groups))], [name for name, *_ in groups], fontsize=8)
    axes.set_ylabel(label)
    axes.set_yscale(scale)
    if scale == "log":
        for axis_format in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
            axis_format(matplotlib.ticker.StrMethodFormatter("{x:.0f}"))
        axes.yaxis.set_minor_locator(matplotlib.ticker.LogLocator(subs=(2, 5)))
        axes.set_ylim(bottom=0.5 * min(value(run) for _, runs, best in groups for run in (*runs, *best)))
    axes.legend(fontsize=7, ncols=math.ceil(len(schedulers) / 2), loc="lower center", bbox_to_anchor=(0.5, 1))
    save(figure, path, title)


def order(tasks, capacity, path, title, iterations=4, workers=None):
    """The position of each task in the matrix, coloured by thousands of tasks (DARTS, Figures 8, 9 and 13).

    `tasks`: the lines of `granary-simulate --order`; those that write no tile are left out. One column of panels per
    iteration, one row per worker; the black area has as many tiles as fit in memory.
    """
    tasks = [task for task in tasks if task["row"]]
    if not tasks:
        raise SystemExit(f"{path}: no task writes a tile with a position: see docs/simulate.md on graph files")
    rows = workers or [None]
    figure, panels = plt.subplots(len(rows), iterations, figsize=(3 * iterations, 3.2 * len(rows)), squeeze=False)
    count = 1 + max(int(task[place]) for task in tasks for place in ("row", "col"))
    across = math.ceil(math.sqrt(capacity))
    for number, (worker, row) in enumerate(zip(rows, panels)):
        for k, axes in enumerate(row):
            image = [[(1.0, 1.0, 1.0)] * count for _ in range(count)]
            for i in range(capacity if across < count else 0):
                image[1 + i // across][count - 2 - i % across] = (0.0, 0.0, 0.0)
            for task in tasks:
                if int(task["iteration"]) == k and worker in (None, task["worker"]):
                    image[int(task["row"])][int(task["col"])] = _shade(int(task["sequence"]))
            axes.imshow(image, interpolation="nearest")
            axes.set_title(f"iteration {k + 1}" + (f", {worker}" if worker else ""), fontsize=8)
            axes.set_xticks([0, count - 1])
            axes.set_yticks([0, count - 1])
            axes.tick_params(labelsize=7)
            if number == len(rows) - 1:
                axes.set_xlabel("column of tiles", fontsize=7)
        row[0].set_ylabel("row of tiles", fontsize=7)
    save(figure, path, f"{title}\nBlack: {capacity} tiles, as many as fit in memory")


def lanes(tasks, colours, path, title):
    """When each worker runs which kernel, one line per worker; hatched: runs that were stopped."""
    workers = sorted({task["worker"] for task in tasks}, key=lambda name: (name.rstrip("0123456789"), len(name), name))
    figure, axes = plt.subplots(figsize=(9, 0.25 * len(workers) + 1.2))
    for codelet, colour in colours.items():
        for stopped, style in (("0", dict(color=colour, edgecolor="white", linewidth=0.3, label=codelet)),
                               ("1", dict(color="white", edgecolor=colour, linewidth=0.6, hatch="/////"))):
            mine = [task for task in tasks if task["codelet"] == codelet and task["stopped"] == stopped]
            axes.barh([workers.index(task["worker"]) for task in mine],
                      [float(task["end"]) - float(task["start"]) for task in mine],
                      left=[float(task["start"]) for task in mine], **style)
    axes.set_yticks(range(len(workers)), workers, fontsize=7)
    axes.set_xlabel("seconds")
    axes.legend(fontsize=7, ncols=len(colours), loc="lower center", bbox_to_anchor=(0.5, 1))
    save(figure, path, title)


def _shade(sequence):
    strength = 0.35 + 0.65 * (sequence % 1000) / 1000
    return tuple(1 - strength * (1 - c) for c in matplotlib.colors.to_rgb(THOUSANDS[sequence // 1000 % len(THOUSANDS)]))


def save(figure, path, title):
    """In the formats that were asked for, whatever the path's suffix."""
    figure.suptitle(title, fontsize=9)
    figure.tight_layout(h_pad=1.5)
    for suffix in FORMATS:
        metadata = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[suffix]
        # Labels and legends beside the axes belong to the figure.
        figure.savefig(path.with_suffix(f".{suffix}"), dpi=80, bbox_inches="tight", metadata=metadata)
    plt.close(figure)
