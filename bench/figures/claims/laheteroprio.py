# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""LAHeteroprio (Bramas 2019). One run of each, without jitter; the page has means of six."""
import laheteroprio
from claims.claim import claim
from laheteroprio_settings import APPLICATIONS, GPU_WORKERS, LOCALITY, PLATFORMS, locality

TREES = ("qrmumps", "spldlt")


def _runs(simulations, application, platform, formulas, whole, gpus=None, pair=None):
    """The run of heteroprio, and by formula those of laheteroprio."""
    gpus = gpus or PLATFORMS[platform]
    options = dict(APPLICATIONS[application], **(dict(seeds=6, jitter=0.05) if whole else {}))
    schedulers = ["heteroprio"] + [f"laheteroprio:formula={formula}:bmd=all{locality(*(pair or LOCALITY[application]))}" for formula in formulas]
    base, *runs = simulations.runs(f"{application}-{platform}", platform=platform, gpus=gpus, cpus=24 - gpus,
                                   gpu_workers=GPU_WORKERS[application][platform], scheduler=schedulers, precision="d", no_bounds=True,
                                   **options)
    return base, dict(zip(formulas, runs))


def _speedup(base, run):
    return base["seconds_mean"] / run["seconds_mean"]


def _bytes(base, run):
    return run["bytes_total"] / base["bytes_total"]


def _bmd(run, formula):
    return run["counters"].get(f"bmd {laheteroprio._formula_of(run, formula)}", 0) / run["tasks"]


@claim("laheteroprio-bytes")
def transfers(simulations, whole, expect):
    for platform in PLATFORMS if whole else ("k40x4",):
        for application in APPLICATIONS:
            base, runs = _runs(simulations, application, platform, ["auto"], whole)
            low, high = (0, 0.5) if application in TREES else (0.5, 0.95)
            expect.between(low, _bytes(base, runs["auto"]), high, f"the bytes / heteroprio's, {application} on {platform}")


@claim("laheteroprio-ls-sdh")
def ls_sdh(simulations, whole, expect):
    base, runs = _runs(simulations, "stencil", "k40x4", ["LS_SDH", "LC_SMWB"], whole)
    for formula in runs:
        expect.at_least(3, _speedup(base, runs[formula]), f"the speed-up by {formula}, stencil")
    base, runs = _runs(simulations, "qrmumps", "k40x4", ["LS_SDH", "LC_SMWB"], whole)
    expect.at_most(1.2, _speedup(base, runs["LS_SDH"]), "the speed-up by LS_SDH, QrMumps")
    expect.at_least(1.3, _speedup(base, runs["LC_SMWB"]), "the speed-up by LC_SMWB, QrMumps")


@claim("laheteroprio-automatic")
def automatic(simulations, whole, expect):
    for application in TREES if whole else TREES[:1]:
        base, runs = _runs(simulations, application, "k40x4", laheteroprio.FORMULAS, whole)
        best = max(_speedup(base, run) for run in runs.values())
        expect.at_least(0.93, _speedup(base, runs["auto"]) / best, f"the speed of the automatic choice / of the best formula, {application}")


@claim("laheteroprio-bmd-qrmumps")
def bmd_qrmumps(simulations, whole, expect):
    _, runs = _runs(simulations, "qrmumps", "k40x4", laheteroprio.FORMULAS, whole)
    for formula, run in runs.items():
        low, high = (0.2, 1) if formula in ("LaRU", "LS_SDH") else (0, 0.2)
        expect.between(low, _bmd(run, formula), high, f"the BMD of {formula}")


@claim("laheteroprio-bmd-and-speed")
def bmd_and_speed(simulations, whole, expect):
    for application in TREES if whole else TREES[:1]:
        base, runs = _runs(simulations, application, "k40x4", laheteroprio.FORMULAS, whole)
        best = max(_speedup(base, run) for run in runs.values())
        for formula, run in runs.items():
            if _bmd(run, formula) >= 0.15:
                expect.at_most(0.95, _speedup(base, run) / best, f"{formula}, speed / of the best formula, {application}")


@claim("laheteroprio-l")
def coefficients(simulations, whole, expect):
    for application in TREES if whole else TREES[:1]:
        speedups = []
        for pair in ((1, 1), (1, 3), (3, 1), (3, 3)):
            base, runs = _runs(simulations, application, "k40x4", ["LS_SDHB", "LC_SMWB"], whole, pair=pair)
            speedups.append(max(_speedup(base, run) for run in runs.values()))
        expect.at_most(1.05, max(speedups) / min(speedups), f"the largest speed-up of all l / the smallest, {application}")


@claim("laheteroprio-p20-qrmumps")
def qrmumps_bytes(simulations, whole, expect):
    base, runs = _runs(simulations, "qrmumps", "k40x4", laheteroprio.FORMULAS, whole)
    for formula, run in runs.items():
        expect.at_most(0.95, _bytes(base, run), f"the bytes of {formula} / heteroprio's")


@claim("laheteroprio-p20-mc")
def mc_on_one(simulations, whole, expect):
    base, runs = _runs(simulations, "qrmumps", "k40x4", ["MC"], whole, gpus=1)
    expect.at_most(0.6, _bytes(base, runs["MC"]), "the bytes of MC / heteroprio's, one K40")
    expect.at_most(1, _speedup(base, runs["MC"]), "the speed-up by MC, one K40")
