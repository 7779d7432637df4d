# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Static (Agullo, Beaumont, Eyraud-Dubois, Kumar 2016)."""
import statistics

import static
from claims.claim import claim


def _rates(simulations, tiles, schedulers, **options):
    """Of each scheduler, by its name in the paper: GFlop/s of each of its runs."""
    runs = static._runs(simulations, "runs", tiles, schedulers, no_bounds=True, **options)
    return {name: static._rates(run) for name, run in runs.items()}


def _gflops(simulations, tiles, schedulers, **options):
    return {name: statistics.median(rates) for name, rates in _rates(simulations, tiles, schedulers, **options).items()}


@claim("static-3-loss")
def loss(simulations, whole, expect):
    schedule = static._static(simulations, 12, not whole, ("none",))
    exact, = _rates(simulations, 12, schedule)["SS"]
    expect.at_most(0.1, 1 - min(_rates(simulations, 12, schedule, **static.TRUTHS)["SS"]) / exact, "the largest loss with other times")


@claim("static-10-sizes")
def sizes(simulations, whole, expect):
    by_size = [_gflops(simulations, tiles, static.HP) for tiles in (static.SIZES if whole else static.SIZES[:3])]
    for name in by_size[0]:
        for smaller, larger in zip(by_size, by_size[1:]):
            expect.at_least(1, larger[name] / smaller[name], f"{name} with more tiles / with fewer")


@claim("static-11-exact-times")
def exact_times(simulations, whole, expect):
    for tiles in static.SIZES if whole else static.SIZES[:2]:
        rates = _gflops(simulations, tiles, static._static(simulations, tiles, not whole, ("none", "gs")))
        expect.between(0.97, rates["SS+GS"] / rates["SS"], 1, f"SS+GS / SS with exact times, {tiles} tiles")


@claim("static-12-order")
def order(simulations, whole, expect):
    for tiles in (12, 16, 20, 24) if whole else (12,):
        median = _gflops(simulations, tiles, {**static.HEFT, **static.HP}, **static.TRUTHS)
        others = max(rate for name, rate in median.items() if name not in ("HP+PCEPT", "HP+CGV"))
        expect.at_least(0.998 if tiles == 24 else 1, median["HP+PCEPT"] / others, f"PCEPT / the best other one, {tiles} tiles")
        rules = min(median[name] for name in median if name.startswith("HP+"))
        expect.at_most(1, median["HP+PC"] / rules, f"PC / the poorest rule, {tiles} tiles")
        expect.at_most(1, median["heftp+GB"] / median["heftp"], f"GB / heftp, {tiles} tiles")
        if tiles >= 20:
            expect.at_most(1, median["heftp+LET"] / median["heftp"], f"LET / heftp, {tiles} tiles")


@claim("static-13-order", long=True)
def repairs(simulations, whole, expect):
    schedulers = {**static._static(simulations, 12, not whole), "heteroprio:spoliation=pcept": "HP+PCEPT"}
    median = _gflops(simulations, 12, schedulers, jitter=0.1, seeds=30)
    for name in ("SS", "SS+G", "SS+GS", "auto"):
        expect.at_least(1, median[name] / median["HP+PCEPT"], f"{name} / PCEPT")
    expect.at_least(0.998, median["SS+GS"] / median["SS"], "SS+GS / SS")
    expect.at_least(1, median["auto"] / median["SS"], "auto / SS")
