# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counterparts of the figures of the LAHeteroprio paper (Bramas 2019), on graphs of the same form.

`laheteroprio-N` is as published (as_published.py): one, two and all GPUs. `laheteroprio-N-ours` has our default options
on all GPUs, and other schedulers. SFA and SFM are the paper's: heteroprio's mean (minimum) time over six runs divided by
laheteroprio's.
"""
import re

import matplotlib.pyplot as plt

import as_published
import plots
from laheteroprio_settings import APPLICATIONS, GPU_WORKERS, LOCALITY, PLATFORMS, locality

FORMULAS = ["LaRU", "MC", "LS_SDH", "LS_SDH2", "LS_SDHB", "LC_SMWB", "auto"]
OTHERS = ["dmdas", "dmdar", "prio"]
NUMBERS = {"qrmumps": 6, "spldlt": 7, "stencil": 8}  # of the figure with the details
PAIRS = [(1, 1), (1, 3), (3, 1), (3, 3)]  # l of the CPU and the devices


def _published(simulations, name, number, case, schedulers=None, quick=False):
    """The runs of one case of Figure `number` as published. Quick: two runs of smaller problems."""
    published = as_published.load(f"laheteroprio-{number}")
    size = "iterations" if "iterations" in published.options else "tiles"
    more = {"seeds": 2, size: published.options[size] // 4} if quick else {}
    runs = published.runs(simulations, f"laheteroprio-{name}-{case.replace(', ', '-').replace(' ', '-')}", case,
                          schedulers or published.schedulers, own=True, **more)
    return {run["scheduler"]: run for run in runs}


def _cases(number, platform, quick):
    """The numbers of GPUs by the names of the cases; quick: the last one."""
    cases = {name: case["gpus"] for name, case in as_published.load(f"laheteroprio-{number}").cases.items()
             if case["platform"] == platform}
    return dict(list(cases.items())[-1:]) if quick else cases


def _details_as_published(simulations, quick, number, application):
    """A formula's speed-up, transfers and BMD, a bar for each number of GPUs."""
    figure, panels = plt.subplots(3, len(PLATFORMS), figsize=(9, 8), squeeze=False)
    for column, platform in zip(panels.T, PLATFORMS):
        cases = _cases(number, platform, quick)
        width = 0.8 / len(cases)
        for i, (case, gpus) in enumerate(cases.items()):
            base, *runs = _published(simulations, number, number, case, quick=quick).values()
            style = dict(width=width, color=str(0.8 - 0.3 * i), label=f"{gpus} GPU" + ("s" if gpus > 1 else ""))
            places = [f + (i - (len(cases) - 1) / 2) * width for f in range(1, len(runs) + 1)]
            column[0].bar(places, [base["seconds_mean"] / run["seconds_mean"] for run in runs], **style)
            column[0].plot(places, [base["seconds_min"] / run["seconds_min"] for run in runs], "k_", markersize=5)
            column[1].bar([places[0] - 1, *places], [run["bytes_total"] / 1e9 for run in (base, *runs)], **style)
            column[2].bar(places, [run["counters"].get(f"bmd {_formula_of(run, run['scheduler'])}", 0) / run["tasks"]
                                   for run in runs], **style)
        column[0].axhline(1, color="black", linewidth=0.5)
        column[0].set_title(f"{application}, {platform}", fontsize=8)
        for axes, label in zip(column, ("SFA; line: SFM", "transfers (GB)", "BMD per task")):
            axes.set_xticks(range(len(runs) + 1), ["heteroprio\nas in 001", *(run["scheduler"] for run in runs)], fontsize=6,
                            rotation=25)
            axes.set_ylabel(label, fontsize=8)
            axes.tick_params(axis="y", labelsize=7)
        column[1].legend(fontsize=6)
    plots.save(figure, simulations.folder / f"laheteroprio-{number}.png",
               f"{application}, as published (LAHeteroprio, Figure {number})")


def _bars_by_locality(axes, by_pair, title):
    """`by_pair`: heteroprio's run, those of all formulas for each pair, and those of the user's schedulers."""
    base, runs_of, own = by_pair
    mean = [base["seconds_mean"] * len(runs) / sum(run["seconds_mean"] for run in runs) for runs in runs_of]
    best = [base["seconds_mean"] / min(run["seconds_mean"] for run in runs) for runs in runs_of]
    least = [base["seconds_min"] / min(run["seconds_min"] for run in runs) for runs in runs_of]
    places = range(len(PAIRS))
    axes.bar([p - 0.2 for p in places], mean, 0.4, color="grey", label="SFA, all formulas")
    axes.bar([p + 0.2 for p in places], best, 0.4, color="lightgrey", label="SFA, best formula")
    axes.plot(places, least, "k.-", label="SFM, best formula")
    for i, run in enumerate(own):
        axes.axhline(base["seconds_mean"] / run["seconds_mean"], color=plots.OTHER_COLOURS[i % len(plots.OTHER_COLOURS)],
                     linestyle="--", linewidth=1, label=run["scheduler"])
    axes.axhline(1, color="black", linewidth=0.5)
    axes.set_xticks(places, [str(pair) for pair in PAIRS], fontsize=7)
    axes.set_title(title, fontsize=8)
    axes.set_ylim(top=1.25 * axes.get_ylim()[1])


def _draw_localities(simulations, name, options, columns, panels_of):
    """One row for each application; `panels_of` returns the title and the runs of each panel of a row."""
    figure, panels = plt.subplots(len(APPLICATIONS), columns, figsize=(2.6 * columns + 2, 9), squeeze=False)
    for row, application in zip(panels, APPLICATIONS):
        for axes, (title, by_pair) in zip(row, panels_of(application)):
            _bars_by_locality(axes, by_pair, title)
        row[0].set_ylabel("speed-up over heteroprio", fontsize=8)
    panels[0][0].legend(fontsize=5, loc="upper left")
    figure.supxlabel("(l of the CPU, l of the devices)", fontsize=8)
    plots.save(figure, simulations.folder / f"{name}.png", f"Speed-up over heteroprio, {options} (LAHeteroprio, Figure 5)")


def with_locality(specification, pair):
    """The same scheduler with other l of the CPU and the devices."""
    return re.sub(r"l=cpu@\d+\+device@\d+", locality(*pair)[1:], specification)


def _localities_as_published(simulations, application, quick):
    """For each case: its name, and the runs with each pair of l instead of the figure's own."""
    number = NUMBERS[application]
    baseline, *formulas = as_published.load(f"laheteroprio-{number}").schedulers.items()
    schedulers = dict([baseline])
    for pair in PAIRS:
        schedulers |= {f"{formula} {pair}": with_locality(specification, pair) for formula, specification in formulas}
    for platform in PLATFORMS:
        for case in _cases(number, platform, quick):
            base, *runs = _published(simulations, f"5-{application}", number, case, schedulers, quick).values()
            yield f"{application}, {case}", (base, *_by_pair(runs, len(formulas)))


def _by_pair(runs, count):
    """For each pair the runs of `count` formulas; and the runs that are left."""
    end = count * len(PAIRS)
    return [runs[i:i + count] for i in range(0, end, count)], runs[end:]


def _runs(simulations, name, application, platform, schedulers, quick):
    """Six runs of each; one of the 24 cores drives each device. Quick: two runs, smaller problems."""
    options = dict(APPLICATIONS[application], seeds=2 if quick else 6)
    if quick:
        options["iterations" if "iterations" in options else "tiles"] //= 4
    return simulations.runs(name, platform=platform, gpus=PLATFORMS[platform], cpus=24 - PLATFORMS[platform],
                            gpu_workers=GPU_WORKERS[application][platform],
                            scheduler=[*schedulers, *simulations.own_beside(schedulers)], precision="d",
                            jitter=0.05, no_bounds=True, **options)


def _localities(simulations, application, quick):
    """The same with our options and all GPUs."""
    schedulers = ["heteroprio"] + [f"laheteroprio:formula={formula}{locality(*pair)}" for pair in PAIRS for formula in FORMULAS]
    for platform in PLATFORMS:
        base, *others = _runs(simulations, f"laheteroprio-5-ours-{application}-{platform}", application, platform, schedulers,
                              quick)
        yield f"{application}, {platform}", (base, *_by_pair(others, len(FORMULAS)))


def figure_5(simulations, quick):
    _draw_localities(simulations, "laheteroprio-5", "as published", len(PLATFORMS) if quick else 5,
                     lambda application: _localities_as_published(simulations, application, quick))
    _draw_localities(simulations, "laheteroprio-5-ours", "our options", len(PLATFORMS),
                     lambda application: _localities(simulations, application, quick))


def _details(simulations, quick, number, application):
    """A formula's speed-up, transfers and BMD, with the paper's locality coefficients; other schedulers beside them."""
    figure, panels = plt.subplots(3, len(PLATFORMS), figsize=(9, 8), squeeze=False)
    for column, platform in enumerate(PLATFORMS):
        schedulers = ["heteroprio"] + [f"laheteroprio:formula={formula}:bmd=all{locality(*LOCALITY[application])}"
                                       for formula in FORMULAS] + OTHERS
        base, *runs = _runs(simulations, f"laheteroprio-{number}-ours-{platform}", application, platform, schedulers, quick)
        runs, others = runs[:len(FORMULAS)], runs[len(FORMULAS):]
        names = [run["scheduler"] for run in others]
        speed, transfers, changes = (panels[row][column] for row in range(3))
        speed.bar(FORMULAS, [base["seconds_mean"] / run["seconds_mean"] for run in runs], color="grey", label="SFA")
        speed.bar(names, [base["seconds_mean"] / run["seconds_mean"] for run in others], color="lightsteelblue")
        speed.plot(FORMULAS, [base["seconds_min"] / run["seconds_min"] for run in runs], "k.--", label="SFM")
        speed.axhline(1, color="black", linewidth=0.5)
        speed.set_title(f"{application}, {platform}", fontsize=8)
        speed.set_ylim(top=1.3 * speed.get_ylim()[1])
        speed.set_ylabel("speed-up over heteroprio", fontsize=8)
        speed.legend(fontsize=6, ncols=2, loc="upper left")
        transfers.bar(["heteroprio"] + FORMULAS, [run["bytes_total"] / 1e9 for run in [base] + runs], color="grey")
        transfers.bar(names, [run["bytes_total"] / 1e9 for run in others], color="lightsteelblue")
        transfers.set_ylabel("transfers (GB)", fontsize=8)
        changes.bar(FORMULAS, [run["counters"].get(f"bmd {_formula_of(run, formula)}", 0) / run["tasks"]
                               for run, formula in zip(runs, FORMULAS)], color="grey")
        changes.set_ylabel("BMD per task", fontsize=8)
        for axes in (speed, transfers, changes):
            axes.tick_params(axis="x", labelsize=6, rotation=25)
            axes.tick_params(axis="y", labelsize=7)
    plots.save(figure, simulations.folder / f"laheteroprio-{number}-ours.png",
               f"{application}, our options (LAHeteroprio, Figure {number})")


def _formula_of(run, formula):
    """The counter shown for a run: its formula's, or the lowest for the automatic choice."""
    if formula != "auto":
        return formula
    competing = {name: run["counters"][f"bmd {name}"] for name in ("LS_SDH", "LS_SDH2", "LS_SDHB", "LC_SMWB")}
    return min(competing, key=competing.get)


def _figure(number, application):
    def make(simulations, quick):
        _details_as_published(simulations, quick, number, application)
        _details(simulations, quick, number, application)

    return make


FIGURES = {"laheteroprio-5": figure_5,
           **{f"laheteroprio-{number}": _figure(number, application) for application, number in NUMBERS.items()}}
