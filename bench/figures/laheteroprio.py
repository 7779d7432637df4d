# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counterparts of the figures of the LAHeteroprio paper (Bramas 2019), on graphs of the same form.

SFA and SFM are the paper's: heteroprio's mean (minimum) time over six runs divided by laheteroprio's.
"""
import matplotlib.pyplot as plt

import plots
from laheteroprio_settings import APPLICATIONS, GPU_WORKERS, LOCALITY, PLATFORMS, locality

FORMULAS = ["LaRU", "MC", "LS_SDH", "LS_SDH2", "LS_SDHB", "LC_SMWB", "auto"]
OTHERS = ["dmdas", "dmdar", "prio"]


def _runs(simulations, name, application, platform, schedulers, quick):
    """Six runs of each; one of the 24 cores drives each device. Quick: two runs, smaller problems."""
    options = dict(APPLICATIONS[application], seeds=2 if quick else 6)
    if quick:
        options["iterations" if "iterations" in options else "tiles"] //= 4
    return simulations.runs(name, platform=platform, gpus=PLATFORMS[platform], cpus=24 - PLATFORMS[platform],
                            gpu_workers=GPU_WORKERS[application][platform], scheduler=schedulers, precision="d",
                            jitter=0.05, no_bounds=True, **options)


def figure_5(simulations, quick):
    pairs = [(1, 1), (1, 3), (3, 1), (3, 3)]
    figure, panels = plt.subplots(len(APPLICATIONS), len(PLATFORMS), figsize=(9, 9), squeeze=False)
    for row, application in zip(panels, APPLICATIONS):
        for axes, platform in zip(row, PLATFORMS):
            schedulers = ["heteroprio"] + [f"laheteroprio:formula={formula}{locality(*pair)}"
                                           for pair in pairs for formula in FORMULAS]
            name = f"laheteroprio-5-{application}-{platform}"
            base, *others = _runs(simulations, name, application, platform, schedulers, quick)
            by_pair = [others[i * len(FORMULAS):(i + 1) * len(FORMULAS)] for i in range(len(pairs))]
            mean = [base["seconds_mean"] * len(runs) / sum(run["seconds_mean"] for run in runs) for runs in by_pair]
            best = [base["seconds_mean"] / min(run["seconds_mean"] for run in runs) for runs in by_pair]
            least = [base["seconds_min"] / min(run["seconds_min"] for run in runs) for runs in by_pair]
            places = range(len(pairs))
            axes.bar([p - 0.2 for p in places], mean, 0.4, color="grey", label="SFA, all formulas")
            axes.bar([p + 0.2 for p in places], best, 0.4, color="lightgrey", label="SFA, best formula")
            axes.plot(places, least, "k.-", label="SFM, best formula")
            axes.axhline(1, color="black", linewidth=0.5)
            axes.set_xticks(places, [str(pair) for pair in pairs], fontsize=7)
            axes.set_title(f"{application}, {platform}", fontsize=8)
            axes.set_ylim(top=1.25 * axes.get_ylim()[1])
    for row in panels:
        row[0].set_ylabel("speed-up over heteroprio", fontsize=8)
    panels[0][0].legend(fontsize=6, ncols=3, loc="upper left")
    figure.supxlabel("(l of the CPU, l of the devices)", fontsize=8)
    plots.save(figure, simulations.folder / "laheteroprio-5.png", "Speed-up over heteroprio (LAHeteroprio, Figure 5)")


def _details(simulations, quick, number, application):
    """A formula's speed-up, transfers and BMD, with the paper's locality coefficients; other schedulers beside them."""
    figure, panels = plt.subplots(3, len(PLATFORMS), figsize=(9, 8), squeeze=False)
    for column, platform in enumerate(PLATFORMS):
        schedulers = ["heteroprio"] + [f"laheteroprio:formula={formula}:bmd=all{locality(*LOCALITY[application])}"
                                       for formula in FORMULAS] + OTHERS
        base, *runs = _runs(simulations, f"laheteroprio-{number}-{platform}", application, platform, schedulers, quick)
        runs, others = runs[:len(FORMULAS)], runs[len(FORMULAS):]
        speed, transfers, changes = (panels[row][column] for row in range(3))
        speed.bar(FORMULAS, [base["seconds_mean"] / run["seconds_mean"] for run in runs], color="grey", label="SFA")
        speed.bar(OTHERS, [base["seconds_mean"] / run["seconds_mean"] for run in others], color="lightsteelblue")
        speed.plot(FORMULAS, [base["seconds_min"] / run["seconds_min"] for run in runs], "k.--", label="SFM")
        speed.axhline(1, color="black", linewidth=0.5)
        speed.set_title(f"{application}, {platform}", fontsize=8)
        speed.set_ylim(top=1.3 * speed.get_ylim()[1])
        speed.set_ylabel("speed-up over heteroprio", fontsize=8)
        speed.legend(fontsize=6, ncols=2, loc="upper left")
        transfers.bar(["heteroprio"] + FORMULAS, [run["bytes_total"] / 1e9 for run in [base] + runs], color="grey")
        transfers.bar(OTHERS, [run["bytes_total"] / 1e9 for run in others], color="lightsteelblue")
        transfers.set_ylabel("transfers (GB)", fontsize=8)
        changes.bar(FORMULAS, [run["counters"].get(f"bmd {_formula_of(run, formula)}", 0) / run["tasks"]
                               for run, formula in zip(runs, FORMULAS)], color="grey")
        changes.set_ylabel("BMD per task", fontsize=8)
        for axes in (speed, transfers, changes):
            axes.tick_params(axis="x", labelsize=6, rotation=25)
            axes.tick_params(axis="y", labelsize=7)
    plots.save(figure, simulations.folder / f"laheteroprio-{number}.png",
                f"{application} (LAHeteroprio, Figure {number})")


def _formula_of(run, formula):
    """The counter shown for a run: its formula's, or the lowest for the automatic choice."""
    if formula != "auto":
        return formula
    competing = {name: run["counters"][f"bmd {name}"] for name in ("LS_SDH", "LS_SDH2", "LS_SDHB", "LC_SMWB")}
    return min(competing, key=competing.get)


FIGURES = {"laheteroprio-5": figure_5,
           "laheteroprio-6": lambda simulations, quick: _details(simulations, quick, 6, "qrmumps"),
           "laheteroprio-7": lambda simulations, quick: _details(simulations, quick, 7, "spldlt"),
           "laheteroprio-8": lambda simulations, quick: _details(simulations, quick, 8, "stencil")}
