# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the figures are drawn with."""
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

COLOURS = {
    "eager": "#7f7f7f",
    "prio": "#8c564b",
    "lws": "#2ca02c",
    "dmdas": "#1f77b4",
    "darts": "#d62728",
    "superblock": "#9467bd",
}
THOUSANDS = ["red", "green", "blue", "gold", "magenta", "cyan", "orange"]


def colour(scheduler):
    return COLOURS.get(scheduler.split(":")[0], "black")


def curves(runs, path, title, memory_gb=None):
    """Throughput and transfers over the working set, a curve for each scheduler (DARTS, Figures 6, 14 and 16)."""
    figure, (rates, transfers) = plt.subplots(1, 2, figsize=(11, 4))
    for scheduler in dict.fromkeys(run["scheduler"] for run in runs):
        mine = [run for run in runs if run["scheduler"] == scheduler]
        sizes = [run["compulsory_bytes"] / 2e9 for run in mine]
        rates.plot(sizes, [run["gflops"] for run in mine], marker="o", markersize=3, label=scheduler, color=colour(scheduler))
        transfers.plot(sizes, [run["bytes_total"] / 1e9 for run in mine], marker="o", markersize=3, color=colour(scheduler))
    one = [run for run in runs if run["scheduler"] == runs[0]["scheduler"]]
    sizes = [run["compulsory_bytes"] / 2e9 for run in one]
    rates.plot(sizes, [run["upper_bound_gflops"] for run in one], "k:", label="upper bound")
    transfers.plot(sizes, [max(run["io_bound_bytes"], run["compulsory_bytes"]) / 1e9 for run in one], "k", label="lower bound")
    if all(run.get("bus_limit_bytes") for run in one):
        transfers.plot(sizes, [run["bus_limit_bytes"] / 1e9 for run in one], color="grey", label="bus limit")
    for axes in (rates, transfers):
        axes.set_xlabel("working set (GB)")
        if memory_gb:
            axes.axvline(memory_gb, color="green", linestyle=":")
    rates.set_ylabel("GFlop/s")
    rates.set_ylim(bottom=0)
    transfers.set_ylabel("transfers (GB)")
    transfers.set_yscale("log")
    rates.legend(fontsize=7)
    transfers.legend(fontsize=7)
    save(figure, path, title)


def bars(groups, path, title, value, label, bound=None):
    """A group of bars, one for each scheduler, for each (name, runs) (DARTS, Figures 10, 11, 12 and 15)."""
    figure, axes = plt.subplots(figsize=(max(6, 1.6 * len(groups)), 4))
    schedulers = list(dict.fromkeys(run["scheduler"] for _, runs in groups for run in runs))
    width = 0.8 / len(schedulers)
    for i, scheduler in enumerate(schedulers):
        heights = [next((value(run) for run in runs if run["scheduler"] == scheduler), 0) for _, runs in groups]
        axes.bar([g + i * width for g in range(len(groups))], heights, width, label=scheduler, color=colour(scheduler))
    if bound:
        for g, (_, runs) in enumerate(groups):
            axes.hlines(bound(runs[0]), g - width / 2, g + 0.8 - width / 2, color="black", linestyle=":")
    axes.set_xticks([g + 0.4 - width / 2 for g in range(len(groups))], [name for name, _ in groups], fontsize=8)
    axes.set_ylabel(label)
    axes.legend(fontsize=7)
    save(figure, path, title)


def order(tasks, path, title, iterations=4, worker=None):
    """Where in the matrix each task worked, coloured by thousands of tasks (DARTS, Figures 8, 9 and 13)."""
    figure, panels = plt.subplots(1, iterations, figsize=(3.2 * iterations, 3.4), squeeze=False)
    count = 1 + max(int(task["row"]) for task in tasks)
    for k, axes in enumerate(panels[0]):
        image = [[(1.0, 1.0, 1.0)] * count for _ in range(count)]
        for task in tasks:
            if int(task["iteration"]) != k or (worker is not None and task["worker"] != worker):
                continue
            sequence = int(task["sequence"])
            red, green, blue = matplotlib.colors.to_rgb(THOUSANDS[sequence // 1000 % len(THOUSANDS)])
            shade = 0.35 + 0.65 * (sequence % 1000) / 1000
            image[int(task["row"])][int(task["col"])] = tuple(1 - shade * (1 - c) for c in (red, green, blue))
        axes.imshow(image, interpolation="nearest")
        axes.set_title(f"iteration {k + 1}", fontsize=8)
        axes.set_xticks([])
        axes.set_yticks([])
    save(figure, path, title)


def save(figure, path, title):
    figure.suptitle(title, fontsize=9)
    figure.tight_layout()
    figure.savefig(path, dpi=90)
    plt.close(figure)
