#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints what single changes do to the results of LAHeteroprio's figures (docs/figures.md).

    laheteroprio_variants.py [--program build/bin/granary-simulate] [APPLICATION ...]
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

from laheteroprio_settings import APPLICATIONS, GPU_WORKERS, LOCALITY, PLATFORMS, locality

PLATFORM_FILES = pathlib.Path(__file__).resolve().parents[2] / "simulator/platforms"


def with_own_lanes(platform):
    for link in platform["links"]:
        link["buses"] = [f"{node} {way}" for node, way in ((link["from"], "out"), (link["to"], "in")) if node != "host"]
    fastest = max(link["bandwidth"] for link in platform["links"])
    platform["buses"] = [{"name": name, "bandwidth": fastest}
                         for name in sorted({bus for link in platform["links"] for bus in link["buses"]})]


def with_shared_directions(platform):
    for link in platform["links"]:
        link["buses"] = [node for node in (link["from"], link["to"]) if node != "host"]
    fastest = max(link["bandwidth"] for link in platform["links"])
    platform["buses"] = [{"name": node["name"], "bandwidth": fastest} for node in platform["nodes"][1:]]


def without_cores(*codelets):
    def change(platform):
        for kernels in platform["kernels"].values():
            for codelet in codelets:
                kernels[codelet].pop("cpu")
    return change


def with_fast_panels(platform):
    for kernels in platform["kernels"].values():
        kernels["qr_panel"]["gpu"] = kernels["gemm"]["gpu"]


def variants(application):
    """Pairs of a name and of what is changed: a function on the platform, or options."""
    yield "as in the figures", {}
    yield "one worker per GPU", {"gpu_workers": 1}
    yield "own lanes for each GPU, separate directions", with_own_lanes
    yield "own lanes for each GPU, shared directions", with_shared_directions
    yield "data of 16 tasks fetched ahead", {"depth": 16}
    if application == "qrmumps":
        yield "root of 36 columns of 512", {"tiles": 36}
        yield "panels on GPUs at the speed of gemm", with_fast_panels
    if application == "stencil":
        yield "borders are copied on GPUs only", without_cores("stencil_save_top", "stencil_save_bottom")
        yield "no cores", {"cpus": 0}
        yield "32 slices", {"tiles": 32}


def pair(program, machine, options, application):
    """The runs of heteroprio and laheteroprio, without jitter."""
    with tempfile.TemporaryDirectory() as folder:
        file, runs = pathlib.Path(folder, "platform.json"), pathlib.Path(folder, "runs.json")
        file.write_text(json.dumps(machine))
        command = [program, "--platform", file, "--json", runs, "--no-bounds", "--precision", "d", "--scheduler",
                   "heteroprio,laheteroprio" + locality(*LOCALITY[application])]
        for key, value in options.items():
            command += ["--" + key.replace("_", "-"), str(value)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return json.loads(runs.read_text())


def main():
    parser = argparse.ArgumentParser(description="Print what single changes do to the figures of LAHeteroprio.")
    parser.add_argument("--program", default="build/bin/granary-simulate")
    parser.add_argument("applications", nargs="*", metavar="APPLICATION", default=list(APPLICATIONS),
                        help="any of " + ", ".join(APPLICATIONS) + " (default: all)")
    options = parser.parse_args()
    for name in options.applications:
        if name not in APPLICATIONS:
            parser.error(f"unknown application {name}: the known ones are {', '.join(APPLICATIONS)}")
    print("speed-up over heteroprio, change of the bytes moved, heteroprio's time and bytes")
    for application in options.applications:
        for platform, gpus in PLATFORMS.items():
            for name, change in variants(application):
                machine = json.loads((PLATFORM_FILES / f"{platform}.json").read_text())
                problem = dict(APPLICATIONS[application], gpu_workers=GPU_WORKERS[application][platform], cpus=24 - gpus)
                if callable(change):
                    change(machine)
                else:
                    problem.update(change)
                plain, local = pair(options.program, machine, problem, application)
                print(f"{application:8} {platform:7} {name:45} {plain['seconds'] / local['seconds']:5.2f} "
                      f"{local['bytes_total'] / plain['bytes_total'] - 1:+6.0%}  {plain['seconds']:7.3f} s "
                      f"{plain['bytes_total'] / 1e9:6.1f} GB", flush=True)


if __name__ == "__main__":
    main()
