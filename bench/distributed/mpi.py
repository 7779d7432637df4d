#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processes of MPI on this machine. Appends one CSV line, with the exact command, per measurement; runs alternate.

  bench/distributed/mpi.py --build build --output bench/distributed/mpi.csv

  wire     bandwidth of values between two processes, against MPI alone (transport_bench)
  potrf    Cholesky on two processes of one worker, against one process of two (mpi_potrf), and ScaLAPACK
  bits     the factor on 1, 3, 4 and 7 processes: a hash of its bits
  files    granary-cholesky from file to file, with 1/4 of the triangle in memory: two processes of one worker against one of two
  least    granary-cholesky on four processes with the smallest memory that a refusal names: resident_over_peak is the largest
           resident size of a process less its tiles in memory
The exit status is 1 if the bytes that were sent are not those that the algorithm implies, or factors differ.
"""
import argparse
import csv
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

COLUMNS = ["section", "mpi", "processes", "grid", "workers", "n", "tile", "library", "seconds", "gflops", "sent_bytes", "implied_bytes",
           "memory_limit_bytes", "memory_peak_bytes", "resident_over_peak", "factor", "bytes", "mpi_bytes_per_second",
           "wire_bytes_per_second", "ratio", "command"]
# As root, with more processes than cores, in a container.
SETTINGS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none", "OPENBLAS_NUM_THREADS": "1"}


def run(arguments, table, section, mpi, processes, program, *options):
    command = [f"mpirun.{mpi}", "-np", str(processes), program, *map(str, options)]
    path = [*command[:3], str(arguments.build / "bin" / program), *command[4:]]
    done = subprocess.run(path, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **SETTINGS}, timeout=600)
    line = {"section": section, "mpi": mpi, "processes": processes, "command": shlex.join(command), **json.loads(done.stdout)}
    table.writerow(line)
    print({key: value for key, value in line.items() if key != "command"}, flush=True)
    return line


# Runs a program and prints its peak of resident memory to a file of its own.
RESIDENT = """import os, resource, subprocess, sys
status = subprocess.run(sys.argv[2:]).returncode
open(f"{sys.argv[1]}.{os.getpid()}", "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024))
sys.exit(status)"""


def cholesky(arguments, table, section, processes, folder, matrix, *options):
    """granary-cholesky as so many processes of the MPI that it was built with."""
    for old in folder.glob("resident*"):
        old.unlink()
    mpirun = ["mpirun", "-np", str(processes)] if processes > 1 else []
    command = ["granary-cholesky", matrix, "L.h5", *map(str, options)]
    path = [*mpirun, sys.executable, "-c", RESIDENT, "resident", str(arguments.build.resolve() / "bin" / command[0]), *command[1:],
            "--json", "out.json", "--quiet"]
    done = subprocess.run(path, check=False, cwd=folder, stderr=subprocess.PIPE, text=True, env={**os.environ, **SETTINGS}, timeout=600)
    if done.returncode != 0:
        return done.stderr
    line = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    resident = max(int(file.read_text(encoding="utf-8")) for file in folder.glob("resident.*"))
    line |= {"section": section, "mpi": "default", "processes": processes, "sent_bytes": line.get("bytes_sent"),
             "resident_over_peak": resident - line["memory_peak_bytes"], "command": shlex.join([*mpirun, *command])}
    table.writerow(line)
    print({key: line[key] for key in COLUMNS if line.get(key) is not None and key != "command"}, flush=True)
    return line


def programs(arguments, table):
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as name:
        folder, n, tile = pathlib.Path(name), 8192, 512
        subprocess.run([arguments.build.resolve() / "bin" / "granary-matrix", "generate", "spd", str(n), "A.h5", "--tile", str(tile)],
                       check=True, cwd=folder)
        memory = n * n * 8 // 8  # of all processes
        for _ in range(arguments.repeat):
            for processes in (1, 2):
                cholesky(arguments, table, "files", processes, folder, "A.h5", "--tile", tile, "--workers", 3 - processes,
                         "--memory", memory // processes)
        small = ["--tile", 128, "--workers", 1]
        refusal = cholesky(arguments, table, "least", 4, folder, "random:3000", *small, "--memory", 1)
        least = re.search(r"\(--memory (\d+)\)", refusal)[1]
        for scheduler in ("auto", "prio", "darts", "planned"):
            cholesky(arguments, table, "least", 4, folder, "random:3000", *small, "--memory", least, "--scheduler", scheduler)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--output", type=pathlib.Path, required=True, help="CSV; it is replaced")
    parser.add_argument("--mpi", nargs="+", default=["openmpi", "mpich"])
    parser.add_argument("--repeat", type=int, default=3, help="pairs of runs")
    parser.add_argument("--scratch", type=pathlib.Path, default=pathlib.Path("."), help="folder for files of the programs")
    arguments = parser.parse_args()
    found = [mpi for mpi in arguments.mpi if shutil.which(f"mpirun.{mpi}") and (arguments.build / "bin" / f"mpi_potrf_{mpi}").exists()]
    if not found:
        sys.exit(f"none of {', '.join(arguments.mpi)} is installed, with its benchmarks in {arguments.build}")
    wrong = []
    with arguments.output.open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, COLUMNS, extrasaction="ignore")
        table.writeheader()
        for mpi in found:
            for size in [2 * 2**20, 8 * 2**20]:
                run(arguments, table, "wire", mpi, 2, f"transport_bench_{mpi}", "--bytes", size, "--values", 2**29 // size)
            for _ in range(arguments.repeat):
                for processes in (1, 2):
                    run(arguments, table, "potrf", mpi, processes, f"mpi_potrf_{mpi}", "--workers", 3 - processes)
                if mpi == "openmpi" and (arguments.build / "bin" / "scalapack_potrf").exists():
                    for block in (128, 256):
                        run(arguments, table, "potrf", mpi, 2, "scalapack_potrf", "--block", block)
            lines = [run(arguments, table, "bits", mpi, processes, f"mpi_potrf_{mpi}", "--n", 3000, "--tile", 256, "--repeat", 1)
                     for processes in (1, 3, 4, 7)]
            wrong += [line["command"] for line in lines
                      if line["factor"] != lines[0]["factor"] or line["sent_bytes"] != line["implied_bytes"]]
        programs(arguments, table)
    if wrong:
        sys.exit("\n".join(["other bits or bytes than expected:", *wrong]))


if __name__ == "__main__":
    main()
