# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory (Sergent, Goudin, Thibault, Aumage 2016)."""
from claims.claim import claim

# The paper's matrix in tiles of 512, or a small one with thresholds that are as small.
PROBLEM = {True: dict(tiles=393, sleep=20e9), False: dict(tiles=48, sleep=0.31e9)}


def _run(simulations, whole, controlled, processes=9, **changed):
    """Setup 1, or setup 2 in tiles of 1024."""
    problem = {**PROBLEM[whole], "tile": 512, **changed}
    sleep = problem.pop("sleep")
    options = dict(booking="paper", booking_sleep=f"{sleep:.0f}", booking_wakeup=f"{0.9 * sleep:.0f}") if controlled else dict(booking="none")
    run, = simulations.runs(f"memory-{processes}-{controlled}", platform="tera100", algorithm="cholesky-growing", precision="z",
                            processes=processes, scheduler="prio", no_bounds=True, **problem, **options)
    return run


def _in_memory(run):
    return max(process["host_bytes_peak"] for process in run["of_processes"])


@claim("memory-4-booked")
def booked(simulations, whole, expect):
    run = _run(simulations, whole, False)
    expect.at_least(8, run["booked_bytes_peak"] / 20.8e9 if whole else run["booked_bytes_peak"] / _in_memory(run),
                    "booked / the machine's memory" if whole else "booked / what the run needs")


@claim("memory-4-below-sleep")
def below_sleep(simulations, whole, expect):
    run = _run(simulations, whole, True)
    expect.at_least(1, run["submission_sleeps"], "the number of sleeps")
    expect.between(0.9, run["booked_bytes_peak"] / PROBLEM[whole]["sleep"], 1.001 if whole else 1.02, "booked / SLEEP")


@claim("memory-4-times")
def times(simulations, whole, expect):
    free, controlled = (_run(simulations, whole, control) for control in (False, True))
    expect.between(0.999, controlled["seconds"] / free["seconds"], 1.001, "the time with control / without")


@claim("memory-6-with")
def with_control(simulations, whole, expect):
    sizes = dict(tiles=440, tile=1024, sleep=18e9) if whole else dict(sleep=0.18e9)
    for processes in (16, 25) if whole else (16,):
        run = _run(simulations, whole, True, processes, **sizes)
        expect.at_most(20.8 / 18 * sizes["sleep"], _in_memory(run), f"the memory in use, {processes} processes")


@claim("memory-5-fewer-processes")
def fewer_processes(simulations, whole, expect):
    sizes = dict(tiles=440, tile=1024, sleep=18e9) if whole else dict(sleep=0.35e9)
    hours = {processes: processes * _run(simulations, whole, processes < 36, processes, **sizes)["seconds"] for processes in (16, 25, 36)}
    for processes in (16, 25):
        expect.at_most(1, hours[processes] / hours[36], f"the CPU hours of {processes} processes with control / of 36 without")
