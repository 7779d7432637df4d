# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counterparts of the figures of the Static paper (Agullo, Beaumont, Eyraud-Dubois, Kumar 2016) that show results.

Cholesky in single precision on the paper's node without transfers (platform static2016). The static schedules come from
granary-schedule instead of a constraint program. The paper's bound is the one by area and critical paths together.
"""
import matplotlib.pyplot as plt

import plots

SIZES = (8, 12, 16, 20, 24, 32)
SMALL_SIZES = (2, 3, 4, 5, 6)
NODE = dict(platform="static2016", algorithm="cholesky", precision="s", bound_paths=1000)  # 12 tiles need 422
TRUTHS = dict(truth_error=0.1, truth_seeds=30)
# The paper's names.
HEFT = {"heft": "heft", "heftp": "heftp", "heftp:look=let": "heftp+LET", "heftp:look=gb": "heftp+GB",
        "heftp:look=mms": "heftp+MMS"}
HP = {"heteroprio:limit=0:slow=least-urgent:merge_device=1": "HP", "heteroprio:spoliation=sp": "HP+Sp",
      "heteroprio:spoliation=sp:merge_device=3": "HP+CGV", "heteroprio:spoliation=pp": "HP+PP",
      "heteroprio:spoliation=pc": "HP+PC", "heteroprio:spoliation=pcep": "HP+PCEP", "heteroprio:spoliation=pcept": "HP+PCEPT"}
SS = {"none": "SS", "g": "SS+G", "gs": "SS+GS", "auto": "auto"}
KERNELS = {"potrf": "#d62728", "trsm": "#2ca02c", "syrk": "#1f77b4", "gemm": "#ff7f0e"}


def _sizes(quick):
    return SIZES[:2] if quick else SIZES


def _schedule(simulations, tiles, quick):
    """The schedule file for that many tiles, and what granary-schedule prints, in GFlop/s."""
    limit = dict(evaluations=20000) if quick else dict(time=60)
    if tiles in SMALL_SIZES:
        limit = dict(evaluations=3000)  # finds the optimum up to 5 tiles
    return simulations.schedule(f"static-{tiles}", **NODE, tiles=tiles, tile=960, **limit)


def _static(simulations, tiles, quick, repairs=SS):
    """The scheduler's specification by its name in the paper."""
    path, _ = _schedule(simulations, tiles, quick)
    return {f"static:file={path}:repair={repair}": name for repair, name in SS.items() if repair in repairs}


def _runs(simulations, name, tiles, schedulers, own=True, **options):
    """The runs by the schedulers' names in the paper; `own`: and those of the user's schedulers."""
    if own:
        schedulers = {**schedulers, **simulations.own_beside(schedulers)}
    runs = simulations.runs(name, **NODE, tiles=tiles, tile=960, scheduler=list(schedulers), **options)
    return {schedulers[run["scheduler"]]: run for run in runs}


def _rates(run):
    """GFlop/s of each seed."""
    return [run["gflops"] * run["seconds"] / seconds for seconds in run["seconds_of_runs"]]


def _lines(simulations, name, schedulers_of, quick, title):
    """Speed over the number of tiles, one curve per scheduler."""
    figure, axes = plt.subplots(figsize=(7, 4))
    sizes = _sizes(quick)
    runs = {tiles: _runs(simulations, f"{name}-{tiles}", tiles, schedulers_of(tiles)) for tiles in sizes}
    for scheduler, style in zip(runs[sizes[0]], plots.line_styles(len(runs[sizes[0]]))):
        axes.plot(sizes, [runs[tiles][scheduler]["gflops"] for tiles in sizes], label=scheduler, **style)
    axes.plot(sizes, [next(iter(runs[tiles].values()))["upper_bound_gflops"] for tiles in sizes], "k--", linewidth=1,
              label="bound")
    _finish(axes, "tiles per row", "GFlop/s")
    plots.save(figure, simulations.folder / f"{name}.png", title)


def _boxes(axes, rates, bound):
    """One box per scheduler."""
    axes.boxplot([rates[name] for name in rates], widths=0.6, flierprops=dict(markersize=3))
    axes.set_xticks(range(1, len(rates) + 1), list(rates), rotation=90, fontsize=7)
    axes.axhline(bound, color="black", linestyle="--", linewidth=1)
    axes.grid(color="#e0e0e0", linewidth=0.5)


def _finish(axes, x, y):
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_ylim(bottom=0)
    axes.grid(color="#e0e0e0", linewidth=0.5)
    axes.legend(fontsize=7)


def figure_2(simulations, quick):
    sizes = SMALL_SIZES + _sizes(quick)
    printed = [_schedule(simulations, tiles, quick)[1] for tiles in sizes]
    figure, axes = plt.subplots(figsize=(7, 4))
    for key, label in (("bound by the area", "area bound"), ("bound by the critical path", "critical path"),
                       ("bound by both", "both"), ("best", "annealed schedule"), ("best scheduler", "best scheduler")):
        axes.plot(sizes, [values[key] for values in printed], marker="o", markersize=4, linewidth=1, label=label)
    optimal = [(size, values["best"]) for size, values in zip(sizes, printed) if values["best"] >= values["bound by both"]]
    axes.plot(*zip(*optimal), "k*", markersize=9, label="optimal: equal to the bound")
    axes.set_ylim(top=1.3 * printed[-1]["bound by the area"])
    _finish(axes, "tiles per row", "GFlop/s")
    plots.save(figure, simulations.folder / "static-2.png", "Bounds and annealed schedules (Static, Figure 2)")


def _improvements(simulations, tiles, quick):
    """Of each truth, GFlop/s with each repair; the first one is exact."""
    schedulers = _static(simulations, tiles, quick)
    exact = _runs(simulations, f"static-exact-{tiles}", tiles, schedulers, own=False)
    drawn = _runs(simulations, f"static-truths-{tiles}", tiles, schedulers, own=False, **TRUTHS)
    return {name: [exact[name]["gflops"], *_rates(drawn[name])] for name in exact}, exact["SS"]["upper_bound_gflops"]


def figure_3_and_5(simulations, quick):
    rates, bound = _improvements(simulations, 12, quick)
    figure, axes = plt.subplots(figsize=(7, 3.4))
    axes.bar(range(len(rates["SS"])), [rate / bound for rate in rates["SS"]], color="#1f77b4")
    axes.set_xlabel("set of times; 0: the original ones")
    axes.set_ylabel("of the bound")
    plots.save(figure, simulations.folder / "static-3.png", "The same schedule with other times, 12 tiles (Static, Figure 3)")

    figure, panels = plt.subplots(1, 2, figsize=(10, 3.4), sharey=True)
    for axes, tiles in zip(panels, (12, 12 if quick else 16)):
        rates, _ = _improvements(simulations, tiles, quick)
        for name, marker in (("SS+G", "v"), ("SS+GS", "o"), ("auto", "P")):
            axes.plot([100 * (mine / strict - 1) for mine, strict in zip(rates[name], rates["SS"])], marker,
                      markersize=4, label=name)
        axes.axhline(0, color="black", linewidth=0.5)
        axes.set_title(f"{tiles} tiles", fontsize=8)
        axes.set_xlabel("set of times; 0: the original ones")
        axes.grid(color="#e0e0e0", linewidth=0.5)
    panels[0].set_ylabel("faster than SS, %")
    panels[0].legend(fontsize=7)
    plots.save(figure, simulations.folder / "static-5.png", "Repairs of static schedules (Static, Figure 5)")


def figure_6(simulations, quick):
    _lines(simulations, "static-6", lambda _: HEFT, quick, "heft and its look-ahead (Static, Figure 6)")


def figure_10(simulations, quick):
    _lines(simulations, "static-10", lambda _: HP, quick, "HeteroPrio and its spoliation (Static, Figure 10)")


def figure_11(simulations, quick):
    best = {name: label for name, label in {**HEFT, **HP}.items() if label in ("heftp", "heftp+MMS", "HP+PCEPT")}
    _lines(simulations, "static-11", lambda tiles: {**_static(simulations, tiles, quick, ("none", "gs", "auto")), **best}, quick,
           "The three approaches (Static, Figure 11)")


def figure_12(simulations, quick):
    sizes = _sizes(quick)
    figure, panels = plt.subplots(1, len(sizes), figsize=(3.6 * len(sizes), 4))
    for axes, tiles in zip(panels, sizes):
        runs = _runs(simulations, f"static-12-{tiles}", tiles, {**_static(simulations, tiles, quick), **HEFT, **HP}, **TRUTHS)
        _boxes(axes, {name: _rates(run) for name, run in runs.items()}, runs["SS"]["upper_bound_gflops"])
        axes.set_title(f"{tiles} tiles", fontsize=8)
    panels[0].set_ylabel("GFlop/s")
    plots.save(figure, simulations.folder / "static-12.png", "30 sets of times within 10 % (Static, Figure 12); dashed: bound")


def figure_13(simulations, quick):
    figure, axes = plt.subplots(figsize=(6, 4))
    runs = _runs(simulations, "static-13", 12,
                 {**_static(simulations, 12, quick), "heteroprio:spoliation=pcept": "HP+PCEPT"}, jitter=0.1, seeds=30)
    _boxes(axes, {name: _rates(run) for name, run in runs.items()}, runs["SS"]["upper_bound_gflops"])
    axes.set_ylabel("GFlop/s")
    plots.save(figure, simulations.folder / "static-13.png",
               "Times that vary by 10 % within a run, 12 tiles, 30 runs (Static, Figure 13)")


def traces(simulations, quick):
    strict, repaired = _static(simulations, 12, quick, ("none", "gs"))
    for name, scheduler, title, more in (
            ("static-4a", strict, "SS with other times (Static, Figure 4a)", dict(truth_error=0.1)),
            ("static-4b", repaired, "SS+GS with the same times (Static, Figure 4b)", dict(truth_error=0.1)),
            ("static-7", "heftp", "heftp (Static, Figure 7)", {}),
            ("static-8", next(iter(HP)), "HeteroPrio (Static, Figure 8)", {}),
            ("static-9", "heteroprio:spoliation=pcept", "HP+PCEPT (Static, Figure 9)", {}),
            *((f"static-9-{plots.file_name(own)}", own, f"{own} (beside Static, Figures 7 to 9)", {})
              for own in simulations.own_beside([]))):
        tasks = simulations.order(name, **NODE, tiles=12, tile=960, scheduler=scheduler, **more)
        plots.lanes(tasks, KERNELS, simulations.folder / f"{name}.png", title + ", 12 tiles")


FIGURES = {"static-2": figure_2, "static-3": figure_3_and_5, "static-5": figure_3_and_5, "static-6": figure_6,
           "static-10": figure_10, "static-11": figure_11, "static-12": figure_12, "static-13": figure_13,
           **{f"static-{n}": traces for n in ("4a", "4b", "7", "8", "9")}}
