# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counterparts of the figures of the DARTS paper (Gonthier, Thibault, Marchal 2024), section 7.

Each scheduler runs with its own eviction policy and with all others; the best of these are drawn beside it."""
import evictions
import plots

TILE_BYTES = 2880 * 2880 * 4
SCHEDULERS = ["eager", "prio", "lfq", "lws", "dmdas", "dmdar", "darts", "superblock"]
# What the paper says of its peers where ours differ: docs/policies.md.
TO_THE_LETTER = ["lws:order=submission", "dmdas:ready=all", "dmdas:prefetch=assign", "dmdar:prefetch=assign"]


def _compare(simulations, name, schedulers=None, **options):
    """The runs with each scheduler's own eviction policy, and those with its best one; a table of both."""
    runs = simulations.runs_with(name, evictions.ALL, precision="s", scheduler=schedulers or SCHEDULERS, **options)
    own, best = evictions.own(runs), evictions.best(runs)
    evictions.write_table(simulations.folder / f"{name}.md", own, best)
    return own, best


def figure_6(simulations, quick):
    problem = dict(platform="v100x1", algorithm="cholesky", tiles="15:45:15" if quick else "15:90:15", tile=2880, cpus=0)
    for name, title, more in (("darts-6", "", {}),
                              ("darts-6-half-duplex", ", both directions share 12 GB/s", dict(half_duplex=True))):
        own, best = _compare(simulations, name, **problem, **more)
        plots.curves(own, best, simulations.folder / f"{name}.png", f"Cholesky, one V100{title} (DARTS, Figure 6)", 32)
    _compare(simulations, "darts-6-to-the-letter", TO_THE_LETTER, **problem)


def _order(simulations, number, scheduler):
    tasks = simulations.order(f"darts-{number}", platform="v100x1", algorithm="cholesky", tiles=40, tile=2880,
                              precision="s", cpus=0, memory="2GB", scheduler=scheduler)
    plots.order(tasks, int(2e9 / TILE_BYTES), simulations.folder / f"darts-{number}.png",
                f"{scheduler}, Cholesky of 40 x 40 tiles, one V100 limited to 2 GB (DARTS, Figure {number})")


def figure_8(simulations, quick):
    _order(simulations, 8, "dmdas")


def figure_9(simulations, quick):
    _order(simulations, 9, "darts")


def _bars(simulations, name, algorithm, cases):
    groups = []
    for platform, gpus, tile, tiles in cases:
        own, best = _compare(simulations, f"{name}-{platform}-{tiles}", platform=platform, algorithm=algorithm,
                             tiles=tiles, tile=tile, cpus=0, gpus=gpus)
        size, memory = (own[0]["compulsory_bytes"], own[0]["memory_bytes"] * gpus)
        groups.append((f"{platform}\n{size / 1e9:.0f}/{memory / 1e9:.0f} GB", own, best))
    return groups


ONE = [("p100", 1, 1920, 25), ("p100", 1, 1920, 70), ("v100x1", 1, 2880, 25), ("v100x1", 1, 2880, 70),
       ("a100x1", 1, 2880, 25), ("a100x1", 1, 2880, 70)]
FOUR = [("v100x4", 4, 2880, 30), ("v100x4", 4, 2880, 60), ("v100x4", 4, 2880, 100), ("a100x4", 4, 2880, 30),
        ("a100x4", 4, 2880, 60), ("a100x4", 4, 2880, 110)]


def figure_10(simulations, quick):
    groups = _bars(simulations, "darts-10", "cholesky", ONE)
    plots.bars(groups, simulations.folder / "darts-10.png", "Cholesky, one GPU (DARTS, Figure 10)",
               lambda run: run["gflops"], "GFlop/s", lambda run: run["upper_bound_gflops"])


def figures_11_12(simulations, quick):
    groups = _bars(simulations, "darts-11", "cholesky", FOUR[::3] if quick else FOUR)
    plots.bars(groups, simulations.folder / "darts-11.png", "Cholesky, four GPUs (DARTS, Figure 11)",
               lambda run: run["gflops"], "GFlop/s", lambda run: run["upper_bound_gflops"])
    plots.bars(groups, simulations.folder / "darts-12.png", "Cholesky, four GPUs (DARTS, Figure 12)", plots.received,
               "received by the devices (GB)")


def figure_13(simulations, quick):
    tasks = simulations.order("darts-13", platform="v100x2", algorithm="cholesky", tiles=40, tile=2880,
                              precision="s", cpus=0, gpus=2, memory="2GB", scheduler="darts")
    plots.order(tasks, int(2e9 / TILE_BYTES), simulations.folder / "darts-13.png",
                "darts, Cholesky of 40 x 40 tiles, two V100 limited to 2 GB each (DARTS, Figure 13)",
                workers=["gpu0", "gpu1"])


def figure_14(simulations, quick):
    tiles = "12,24" if quick else "12,20,24,36,48,60,72,88"
    own, best = _compare(simulations, "darts-14", platform="v100x4", algorithm="lu", tiles=tiles, tile=2880, cpus=0,
                         gpus=4)
    plots.curves(own, best, simulations.folder / "darts-14.png", "LU without pivoting, four V100 (DARTS, Figure 14)", 128)


def figure_15(simulations, quick):
    one = [(platform, gpus, tile, max(8, tiles * 2 // 3)) for platform, gpus, tile, tiles in ONE]
    four = [(platform, gpus, tile, tiles * 2 // 3) for platform, gpus, tile, tiles in FOUR]
    for name, cases in (("darts-15-one", one), ("darts-15-four", four[::3] if quick else four)):
        groups = _bars(simulations, name, "lu", cases)
        plots.bars(groups, simulations.folder / f"{name}.png", "LU without pivoting (DARTS, Figure 15)",
                   lambda run: run["gflops"], "GFlop/s", lambda run: run["upper_bound_gflops"])


def figure_16(simulations, quick):
    tiles = "10:30:10" if quick else "10:50:10"
    own, best = _compare(simulations, "darts-16", platform="xeon-disk", algorithm="lu", tiles=tiles, tile=2880)
    plots.curves(own, best, simulations.folder / "darts-16.png", "LU, 12 cores and a disk (DARTS, Figure 16)", 32,
                 lambda run: run["bytes_total"] / 1e9, "read and written (GB)")


FIGURES = {"darts-6": figure_6, "darts-8": figure_8, "darts-9": figure_9, "darts-10": figure_10,
           "darts-11": figures_11_12, "darts-12": figures_11_12, "darts-13": figure_13,
           "darts-14": figure_14, "darts-15": figure_15, "darts-16": figure_16}
