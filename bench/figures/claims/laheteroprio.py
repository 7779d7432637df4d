# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""LAHeteroprio (Bramas 2019), as published. One run of each, without jitter, on all K40; the page has means of six."""
import functools
import tempfile

import as_published
import laheteroprio
from claims.claim import claim
from simulate import Simulations

TREES = ("qrmumps", "spldlt")
K40, P100 = "k40x4, 4 GPUs", "p100x2, 2 GPUs"


@functools.cache
def _cached(program, application, case, whole):
    published = as_published.load(f"laheteroprio-{laheteroprio.NUMBERS[application]}")
    more = {} if whole else dict(seeds=1, jitter=0, **(dict(tiles=24) if application == "qrmumps" else {}))
    with tempfile.TemporaryDirectory() as folder:
        base, *runs = published.runs(Simulations(program, folder), case=case, **more)
    return base, {run["scheduler"]: run for run in runs}


def _runs(simulations, application, whole, case=K40):
    """The run of heteroprio, and by formula those of laheteroprio; several checks use them."""
    return _cached(simulations.program, application, case, whole)


def _cases(whole):
    return (K40, P100) if whole else (K40,)


def _speedup(base, run):
    return base["seconds_mean"] / run["seconds_mean"]


def _bytes(base, run):
    return run["bytes_total"] / base["bytes_total"]


def _bmd(run, formula):
    return run["counters"].get(f"bmd {laheteroprio._formula_of(run, formula)}", 0) / run["tasks"]


def _of_the_best(base, runs, formula):
    return _speedup(base, runs[formula]) / max(_speedup(base, run) for run in runs.values())


@claim("laheteroprio-bytes")
def transfers(simulations, whole, expect):
    for case in _cases(whole):
        saved = {}
        for application in laheteroprio.NUMBERS:
            base, runs = _runs(simulations, application, whole, case)
            saved[application] = 1 - _bytes(base, runs["auto"])
            expect.at_least(0.5 if application in TREES else 0.35, saved[application], f"the part of the bytes saved, {application}, {case}")
        expect.at_least(0.1, saved["qrmumps"] - saved["stencil"], f"saved on QrMumps - on the stencil, {case}")


@claim("laheteroprio-good")
def good(simulations, whole, expect):
    for case in _cases(whole):
        for application in laheteroprio.NUMBERS:
            base, runs = _runs(simulations, application, whole, case)
            for formula in ("LS_SDH2", "LS_SDHB"):
                expect.at_least(1.1, _speedup(base, runs[formula]), f"the speed-up by {formula}, {application}, {case}")


@claim("laheteroprio-ls-sdh")
def ls_sdh(simulations, whole, expect):
    for application, low, high in (("stencil", 0.95, 1), ("qrmumps", 0, 0.93), ("spldlt", 0, 0.7)):
        for case in _cases(whole):
            base, runs = _runs(simulations, application, whole, case)
            expect.between(low, _of_the_best(base, runs, "LS_SDH"), high, f"LS_SDH, speed / of the best formula, {application}, {case}")


@claim("laheteroprio-lc-smwb")
def lc_smwb(simulations, whole, expect):
    for application, low, high in (("stencil", 0.95, 1), ("qrmumps", 0.95, 1), ("spldlt", 0, 0.8)):
        base, runs = _runs(simulations, application, whole)
        expect.between(low, _of_the_best(base, runs, "LC_SMWB"), high, f"LC_SMWB, speed / of the best formula, {application}")


@claim("laheteroprio-p20-sdh2-stencil")
def sdh2_on_the_stencil(simulations, whole, expect):
    base, runs = _runs(simulations, "stencil", whole)
    expect.at_most(0.6, _of_the_best(base, runs, "LS_SDH2"), "LS_SDH2, speed / of the best formula, stencil")


@claim("laheteroprio-automatic")
def automatic(simulations, whole, expect):
    for application in TREES:
        for case in _cases(whole):
            base, runs = _runs(simulations, application, whole, case)
            expect.at_least(0.95, _of_the_best(base, runs, "auto"), f"the automatic choice, speed / of the best formula, {application}, {case}")


@claim("laheteroprio-bmd-and-speed")
def bmd_and_speed(simulations, whole, expect):
    base, runs = _runs(simulations, "spldlt", whole)
    for formula, run in runs.items():
        low, high = (0.15, 1) if formula in ("LaRU", "MC", "LS_SDH", "LC_SMWB") else (0, 0.05)
        expect.between(low, _bmd(run, formula), high, f"the BMD of {formula}, SpLDLT")
        if low:
            expect.at_most(0.8, _of_the_best(base, runs, formula), f"{formula}, speed / of the best formula, SpLDLT")


@claim("laheteroprio-formulas-differ")
def formulas_differ(simulations, whole, expect):
    for application in ("spldlt", "stencil"):
        base, runs = _runs(simulations, application, whole)
        speedups = [_speedup(base, run) for run in runs.values()]
        expect.at_most(0.85, sum(speedups) / len(speedups) / max(speedups), f"the mean speed-up / the best, {application}")


@claim("laheteroprio-l")
def coefficients(simulations, whole, expect):
    for application in TREES if whole else ("spldlt",):
        published = as_published.load(f"laheteroprio-{laheteroprio.NUMBERS[application]}")
        schedulers = {str(pair): laheteroprio.with_locality(published.schedulers["LS_SDHB"], pair) for pair in laheteroprio.PAIRS}
        runs = published.runs(simulations, case=K40, schedulers=schedulers, seeds=1, jitter=0)
        seconds = [run["seconds"] for run in runs]
        expect.at_most(1.03, max(seconds) / min(seconds), f"the time with the worst l / the best, LS_SDHB, {application}")


@claim("laheteroprio-p20-qrmumps")
def qrmumps_bytes(simulations, whole, expect):
    for case in as_published.load("laheteroprio-6").cases if whole else (K40,):
        base, runs = _runs(simulations, "qrmumps", whole, case)
        for formula, run in runs.items():
            expect.at_most(0.995, _bytes(base, run), f"the bytes of {formula} / heteroprio's, {case}")


@claim("laheteroprio-p20-lc-smwb")
def lc_smwb_bytes(simulations, whole, expect):
    for case in _cases(whole):
        base, runs = _runs(simulations, "spldlt", whole, case)
        expect.at_most(0.6, _bytes(base, runs["LC_SMWB"]), f"the bytes of LC_SMWB / heteroprio's, {case}")
        expect.at_least(1.15, _bytes(base, runs["LC_SMWB"]) / _bytes(base, runs["LS_SDHB"]), f"the bytes of LC_SMWB / LS_SDHB's, {case}")


@claim("laheteroprio-number-of-gpus")
def any_number_of_gpus(simulations, whole, expect):
    for application in laheteroprio.NUMBERS if whole else ("stencil",):
        for case in as_published.load(f"laheteroprio-{laheteroprio.NUMBERS[application]}").cases:
            base, runs = _runs(simulations, application, whole, case)
            expect.at_most(0.995, _bytes(base, runs["auto"]), f"the bytes of the automatic choice / heteroprio's, {application}, {case}")
