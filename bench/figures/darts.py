# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counterparts of the figures of the DARTS paper (Gonthier, Thibault, Marchal 2024), section 7.

`darts-N` is as published (as_published.py). `darts-N-ours` has our default options and schedulers: each scheduler runs
with its own eviction policy and with all others; the best of these are drawn beside it."""
import as_published
import evictions
import plots

TILE_BYTES = 2880 * 2880 * 4
SCHEDULERS = ["eager", "prio", "lfq", "lws", "dmdas", "dmdar", "darts", "superblock"]
# What the paper says of its peers where ours differ: docs/policies.md.
TO_THE_LETTER = ["lws:order=submission", "dmdas:ready=all", "dmdas:prefetch=assign", "dmdar:prefetch=assign"]


def _compare(simulations, name, schedulers=None, **options):
    """The runs with each scheduler's own eviction policy, and those with its best one; a table of both."""
    schedulers = schedulers or [*SCHEDULERS, *simulations.own_beside(SCHEDULERS)]
    runs = simulations.runs_with(name, evictions.ALL, precision="s", scheduler=schedulers, **options)
    own, best = evictions.own(runs, simulations.default_evictions), evictions.best(runs)
    evictions.write_table(simulations.folder / f"{name}.md", own, best)
    return own, best


def _as_published(simulations, name, case=None, figure=None, **more):
    """The runs of a figure or of one of its cases, and their table."""
    runs = as_published.load(figure or name).runs(simulations, name, case, own=True, **more)
    evictions.write_table(simulations.folder / f"{name}.md", runs)
    return runs


def _sizes(tiles):
    return dict(tiles=tiles) if tiles else {}


def figure_6(simulations, quick):
    title = "Cholesky, one V100{} (DARTS, Figure 6)"
    runs = _as_published(simulations, "darts-6", **_sizes(quick and "15:45:15"))
    plots.curves(runs, [], simulations.folder / "darts-6.png", title.format(", as published"), 32)

    problem = dict(platform="v100x1", algorithm="cholesky", tiles="15:45:15" if quick else "15:90:15", tile=2880, cpus=0)
    own, best = _compare(simulations, "darts-6-ours-half-duplex", half_duplex=True, **problem)
    plots.curves(own, best, simulations.folder / "darts-6-ours.png", title.format(", our options"), 32)
    _compare(simulations, "darts-6-ours", **problem)
    _compare(simulations, "darts-6-to-the-letter", TO_THE_LETTER, **problem)


def _order(simulations, number, title, workers=None):
    published = as_published.load(f"darts-{number}")
    paper = published.schedulers
    for scheduler, specification in {**paper, **simulations.own_beside(paper.values())}.items():
        name = f"darts-{number}" + ("" if scheduler in paper else "-" + plots.file_name(scheduler))
        tasks = simulations.order(name, scheduler=specification, **published.options)
        plots.order(tasks, int(2e9 / TILE_BYTES), simulations.folder / f"{name}.png",
                    f"{scheduler}, Cholesky of 40 x 40 tiles, {title} (DARTS, Figure {number})", workers=workers)


def figure_8(simulations, quick):
    _order(simulations, 8, "one V100 limited to 2 GB")


def figure_9(simulations, quick):
    _order(simulations, 9, "one V100 limited to 2 GB")


def figure_13(simulations, quick):
    _order(simulations, 13, "two V100 limited to 2 GB each", ["gpu0", "gpu1"])


def _group(platform, gpus, own, best=()):
    size, memory = (own[0]["compulsory_bytes"], own[0]["memory_bytes"] * gpus)
    return (f"{platform}\n{size / 1e9:.0f}/{memory / 1e9:.0f} GB", own, best)


def _bars(simulations, name, algorithm, cases):
    """Groups of our own options."""
    groups = []
    for platform, gpus, tile, tiles in cases:
        own, best = _compare(simulations, f"{name}-{platform}-{tiles}", platform=platform, algorithm=algorithm,
                             tiles=tiles, tile=tile, cpus=0, gpus=gpus)
        groups.append(_group(platform, gpus, own, best))
    return groups


def _published_bars(simulations, figure, quick, gpus=None):
    """Groups of a figure as published; of those with that many GPUs."""
    cases = {name: case for name, case in as_published.load(figure).cases.items() if gpus in (None, case["gpus"])}
    return [_group(cases[case]["platform"], cases[case]["gpus"],
                   _as_published(simulations, f"{figure}-{case.replace(', ', '-').replace(' tiles', '')}", case, figure))
            for case in list(cases)[::3 if quick else 1]]


def _draw_rates(groups, path, title):
    plots.bars(groups, path, title, lambda run: run["gflops"], "GFlop/s", lambda run: run["upper_bound_gflops"])


ONE = [("p100", 1, 1920, 25), ("p100", 1, 1920, 70), ("v100x1", 1, 2880, 25), ("v100x1", 1, 2880, 70),
       ("a100x1", 1, 2880, 25), ("a100x1", 1, 2880, 70)]
FOUR = [("v100x4", 4, 2880, 30), ("v100x4", 4, 2880, 60), ("v100x4", 4, 2880, 100), ("a100x4", 4, 2880, 30),
        ("a100x4", 4, 2880, 60), ("a100x4", 4, 2880, 110)]


def figure_10(simulations, quick):
    title = "Cholesky, one GPU, {} (DARTS, Figure 10)"
    _draw_rates(_published_bars(simulations, "darts-10", quick), simulations.folder / "darts-10.png", title.format("as published"))
    _draw_rates(_bars(simulations, "darts-10-ours", "cholesky", ONE[::3] if quick else ONE), simulations.folder / "darts-10-ours.png",
                title.format("our options"))


def figures_11_12(simulations, quick):
    for name, groups, options in (
            ("", _published_bars(simulations, "darts-11", quick), "as published"),
            ("-ours", _bars(simulations, "darts-11-ours", "cholesky", FOUR[::3] if quick else FOUR), "our options")):
        _draw_rates(groups, simulations.folder / f"darts-11{name}.png", f"Cholesky, four GPUs, {options} (DARTS, Figure 11)")
        plots.bars(groups, simulations.folder / f"darts-12{name}.png", f"Cholesky, four GPUs, {options} (DARTS, Figure 12)",
                   plots.received, "received by the devices (GB)", scale="log")


def figure_14(simulations, quick):
    title = "LU without pivoting, four V100, {} (DARTS, Figure 14)"
    runs = _as_published(simulations, "darts-14", **_sizes(quick and "12,24"))
    plots.curves(runs, [], simulations.folder / "darts-14.png", title.format("as published"), 128)
    tiles = "12,24" if quick else "12,20,24,36,48,60,72,88"
    own, best = _compare(simulations, "darts-14-ours", platform="v100x4", algorithm="lu", tiles=tiles, tile=2880, cpus=0,
                         gpus=4)
    plots.curves(own, best, simulations.folder / "darts-14-ours.png", title.format("our options"), 128)


def figure_15(simulations, quick):
    one = [(platform, gpus, tile, max(8, tiles * 2 // 3)) for platform, gpus, tile, tiles in ONE]
    four = [(platform, gpus, tile, tiles * 2 // 3) for platform, gpus, tile, tiles in FOUR]
    for number, name, cases in ((1, "one", one), (4, "four", four)):
        title = f"LU without pivoting, {name} GPU" + ("s" if number > 1 else "") + ", {} (DARTS, Figure 15)"
        _draw_rates(_published_bars(simulations, "darts-15", quick, number), simulations.folder / f"darts-15-{name}.png",
                    title.format("as published"))
        _draw_rates(_bars(simulations, f"darts-15-ours-{name}", "lu", cases[::3] if quick else cases),
                    simulations.folder / f"darts-15-{name}-ours.png", title.format("our options"))


def figure_16(simulations, quick):
    title = "LU, 12 cores and a disk, {} (DARTS, Figure 16)"
    moved = lambda run: run["bytes_total"] / 1e9, "read and written (GB)"
    runs = _as_published(simulations, "darts-16", **_sizes(quick and "10:30:10"))
    plots.curves(runs, [], simulations.folder / "darts-16.png", title.format("as published"), 32, *moved)
    own, best = _compare(simulations, "darts-16-ours", platform="xeon-disk", algorithm="lu",
                         tiles="10:30:10" if quick else "10:50:10", tile=2880)
    plots.curves(own, best, simulations.folder / "darts-16-ours.png", title.format("our options"), 32, *moved)


FIGURES = {"darts-6": figure_6, "darts-8": figure_8, "darts-9": figure_9, "darts-10": figure_10,
           "darts-11": figures_11_12, "darts-12": figures_11_12, "darts-13": figure_13,
           "darts-14": figure_14, "darts-15": figure_15, "darts-16": figure_16}
