#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Least squares of N x 31 data in a file, as whole programs: granary-lstsq, NumPy, SciPy and dask.

  bench/linalg/least_squares.py --bin build/bin --rows 2000000 --directory /tmp          a minute
  bench/linalg/least_squares.py --rows 2000003 20000000 --output bench/linalg/least_squares.csv

h5py writes the data: a contiguous dataset of standard normal numbers, the response their combination and noise, also as .npy, and as CSV for the
first number of rows. Each program runs --repeat times in turns; a line has the median of the seconds from start to end, the largest resident
memory, and the largest error of a coefficient. dask (python3-dask) is left out if it is missing.
"""
import argparse
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

COLUMNS = ["program", "input", "rows", "seconds", "resident_mb", "largest_error", "repeat"]
MAKE = """
import h5py, numpy as np, sys
path, m = sys.argv[1], int(sys.argv[2])
g = np.random.default_rng(7)
npy = np.lib.format.open_memmap(path + '.npy', 'w+', 'f8', (m, 32))
with h5py.File(path + '.h5', 'w') as f:
    d = f.create_dataset('D', (m, 32), dtype='f8')
    for i in range(0, m, 250_000):
        B = g.standard_normal((min(250_000, m - i), 32))
        B[:, 31] = B[:, :31] @ np.arange(1, 32) + 0.5 * B[:, 31]
        d[i:i + len(B)] = npy[i:i + len(B)] = B
"""
PYTHON = {
    "numpy.linalg.lstsq": "D = h5py.File(path)['D'][:]\nb = np.linalg.lstsq(D[:, :31], D[:, 31], rcond=None)[0]",
    "scipy.linalg.lstsq gelsy": "import scipy.linalg\nD = h5py.File(path)['D'][:]\n"
                                "b = scipy.linalg.lstsq(D[:, :31], D[:, 31], lapack_driver='gelsy', check_finite=False)[0]",
    "dask.array.linalg.lstsq": "import dask.array as da\nD = da.from_array(h5py.File(path)['D'], chunks=(100_000, 32))\n"
                               "b = da.linalg.lstsq(D[:, :31], D[:, 31])[0].compute()",
}


def measured(command, **more):
    """Seconds, resident memory in MB and the output; None if it fails."""
    begin = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    out, err = child.stdout.read(), child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status != 0:
        print(f"left out: {command[:3]}: {err.strip().splitlines()[-1] if err.strip() else status}", file=sys.stderr)
        return None
    return time.monotonic() - begin, usage.ru_maxrss * 1024 / 1e6, out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000_003])
    parser.add_argument("--directory", type=pathlib.Path, default=pathlib.Path("/var/tmp"), help="for the data")
    parser.add_argument("--memory", default="64MiB", help="of granary-lstsq")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--most-in-memory", type=int, default=5_000_000, help="rows for programs that load the data")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--output", type=pathlib.Path, help="CSV")
    options = parser.parse_args()
    rows_out = []
    for number, rows in enumerate(options.rows):
        stem = options.directory / f"least-squares-{rows}"
        subprocess.run([options.python, "-c", MAKE, stem, str(rows)], check=True)
        lstsq = [options.bin / "granary-lstsq", "--memory", options.memory, "--json", "-"]
        programs = {("granary-lstsq", kind): [*lstsq, f"{stem}.{kind}", "--response", "32"] for kind in ("h5", "npy")}
        for name, script in PYTHON.items():
            if rows <= options.most_in_memory or name.startswith("dask"):
                programs[name, "h5"] = [options.python, "-c", f"import h5py, json, numpy as np, sys\npath = sys.argv[1]\n{script}\n"
                                        "print(json.dumps({'fits': [{'coefficients': list(map(float, b))}]}))", f"{stem}.h5"]
        if number == 0:
            subprocess.run([options.python, "-c", "import numpy as np, sys\nnp.savetxt(sys.argv[2], np.load(sys.argv[1]), '%.17g', ',')",
                            f"{stem}.npy", f"{stem}.csv"], check=True)
            programs["granary-lstsq", "csv"] = [*lstsq, f"{stem}.csv", "--response", "32"]
            programs["granary-matrix convert", "csv"] = [options.bin / "granary-matrix", "convert", f"{stem}.csv", f"{stem}-out.h5"]
        runs = {key: [] for key in programs}
        for _ in range(options.repeat):
            for key, command in programs.items():
                if (run := measured(list(map(str, command)))) is not None:
                    runs[key].append(run)
        for (name, kind), found in runs.items():
            if not found:
                continue
            error = ""
            if found[0][2]:
                b = json.loads(found[0][2])["fits"][0]["coefficients"]
                error = f"{max(abs(x - i - 1) for i, x in enumerate(b)):.3g}"
            rows_out.append(dict(zip(COLUMNS, [name, kind, rows, f"{statistics.median(run[0] for run in found):.2f}",
                                               f"{max(run[1] for run in found):.0f}", error, len(found)])))
        for file in options.directory.glob(stem.name + "*"):
            file.unlink()
    out = open(options.output, "w", newline="") if options.output else sys.stdout
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows_out)


if __name__ == "__main__":
    main()
