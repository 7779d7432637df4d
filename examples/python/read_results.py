#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a result of granary-cholesky or granary-solve, checks it and plots it; needs h5py and matplotlib.

    granary-cholesky A.h5 L.h5 --json run.json
    read_results.py L.h5 --matrix A.h5 --summary run.json --plot factor.png

    granary-solve A.h5 B.h5 X.h5 --json run.json
    read_results.py X.h5 --matrix A.h5 --right-sides B.h5 --summary run.json --plot solution.png

A result is read some rows at a time, so it may be larger than memory. Exit status: 0, 1 if the check fails, 2 for bad input.
"""
import argparse
import json
import sys

import h5py
import numpy as np

ROWS = 512  # rows read at a time
PIXELS = 256  # pixels of a matrix plot along its longer side


def open_dataset(path):
    """The only matrix in FILE, or the dataset of FILE:/DATASET."""
    name, _, dataset = path.partition(":")
    file = h5py.File(name, "r")
    if not dataset:
        # Row exchanges of an LU factorization are vectors of integers beside it.
        matrices = [key for key, value in file.items() if isinstance(value, h5py.Dataset) and value.ndim == 2]
        if len(matrices) != 1:
            raise ValueError(f"{name} has {len(matrices)} matrices; name one of them as {name}:/NAME")
        dataset = matrices[0]
    if dataset not in file:
        raise ValueError(f"{name} has no dataset {dataset}")
    return file[dataset]


def part_of(matrix):
    """The stored part of a matrix of granary: 'all', 'lower' or 'upper'; the rest of the dataset has no meaning."""
    part = matrix.attrs.get("part", "all")
    return part.decode() if isinstance(part, bytes) else str(part)


def row_blocks(matrix):
    """(first row, rows) of a matrix; the part that is not stored is zero."""
    part = part_of(matrix)
    for first in range(0, matrix.shape[0], ROWS):
        rows = matrix[first : first + ROWS]
        if part == "lower":
            rows = np.tril(rows, first)
        elif part == "upper":
            rows = np.triu(rows, first)
        yield first, rows


def times(matrix, x):
    """matrix @ x, and the largest row sum of |matrix|."""
    blocks = [(rows @ x, np.abs(rows).sum(axis=1).max()) for _, rows in row_blocks(matrix)]
    return np.concatenate([product for product, _ in blocks]), max(norm for _, norm in blocks)


def adjoint_times(matrix, x):
    """matrix^H @ x."""
    return sum(rows.conj().T @ x[first : first + len(rows)] for first, rows in row_blocks(matrix))


def require_shapes(name, shape, expected):
    if shape[: len(expected)] != expected:
        raise ValueError(f"{name} is {' x '.join(map(str, shape))}, but {' x '.join(map(str, expected))} was expected")


def factor_error(factor, matrix):
    """max |A x - L L^H x| / (n eps |A| |x|) for a vector x, which needs only products with vectors."""
    n = factor.shape[0]
    require_shapes("the matrix", matrix.shape, (n, n))
    if part_of(matrix) != "all":
        raise ValueError("the matrix must have both triangles")
    x = np.random.default_rng(1).uniform(-1, 1, n).astype(factor.dtype)
    if part_of(factor) == "lower":
        product, _ = times(factor, adjoint_times(factor, x))
    else:
        product = adjoint_times(factor, times(factor, x)[0])
    expected, norm = times(matrix, x)
    return np.abs(expected - product).max() / (n * np.finfo(factor.dtype).eps * norm * np.abs(x).max())


def solution_error(solution, matrix, right_sides):
    """max |B - A X| / (n eps |A| |X|)."""
    n = solution.shape[0]
    require_shapes("the matrix", matrix.shape, (n, n))
    require_shapes("the right-hand sides", right_sides.shape, solution.shape)
    if part_of(matrix) != "all":
        raise ValueError("the matrix must have both triangles")
    x = solution[:]
    product, norm = times(matrix, x)
    return np.abs(right_sides[:] - product).max() / (n * np.finfo(solution.dtype).eps * norm * np.abs(x).max())


def draw_matrix(axes, matrix):
    """log10 of the largest |element| of the square of elements of each pixel."""
    step = -(-max(matrix.shape) // PIXELS)
    lines = []
    columns = np.arange(0, matrix.shape[1], step)
    line = None
    for first, rows in row_blocks(matrix):
        largest = np.maximum.reduceat(np.abs(rows), columns, axis=1)
        for i, row in enumerate(largest, first):
            if i % step == 0:
                line = row.copy()
                lines.append(line)
            else:
                np.maximum(line, row, out=line)
    with np.errstate(divide="ignore"):
        image = axes.imshow(np.log10(np.array(lines)), extent=(0, matrix.shape[1], matrix.shape[0], 0))
    axes.figure.colorbar(image, ax=axes, label="log10 of the largest |element|", shrink=0.8)
    axes.set(title=f"{matrix.name[1:]}, {matrix.shape[0]} x {matrix.shape[1]}", xlabel="column", ylabel="row")


def draw_columns(axes, matrix):
    step = -(-matrix.shape[0] // 4096)
    for j in range(min(matrix.shape[1], 8)):
        values = matrix[::step, j]
        axes.plot(np.arange(len(values)) * step, values.real, linewidth=1, label=f"column {j}")
    axes.set(title=f"{matrix.name[1:]}, {matrix.shape[0]} x {matrix.shape[1]}", xlabel="row", ylabel="value")
    axes.legend()


def draw_summary(axes, summary):
    """The run's disk traffic beside its lower bounds."""
    bars = {
        "read": summary["bytes_read"],
        "written": summary["bytes_written"],
        "compulsory": summary["compulsory_bytes"],
        "lower bound": summary["io_bound_bytes"],
    }
    axes.bar(list(bars), [value / 2**20 for value in bars.values()], color=["C0", "C0", "C7", "C7"])
    limit = summary["memory_limit_bytes"] / 2**20
    axes.set(ylabel="moved (MiB)", title=f"{summary['gflops']:.1f} GFlop/s, {limit:.1f} MiB of memory, {summary['scheduler']}")


def plot(path, result, summary):
    import matplotlib

    matplotlib.use("Agg")  # no display is needed
    import matplotlib.pyplot as plt

    count = 1 if summary is None else 2
    figure, axes = plt.subplots(1, count, figsize=(6 * count, 5), squeeze=False, layout="constrained")
    if part_of(result) == "all":
        draw_columns(axes[0][0], result)
    else:
        draw_matrix(axes[0][0], result)
    if summary is not None:
        draw_summary(axes[0][1], summary)
    figure.savefig(path, dpi=120)


def check(result, options):
    """The error in units of the last place, or None without a matrix to compare with."""
    if options.matrix is None:
        return None
    matrix = open_dataset(options.matrix)
    if part_of(result) != "all":
        return factor_error(result, matrix)
    if options.right_sides is None:
        raise ValueError("a solution is checked with --matrix and --right-sides")
    return solution_error(result, matrix, open_dataset(options.right_sides))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", help="FILE or FILE:/DATASET written by granary: a Cholesky factor or a solution")
    parser.add_argument("--matrix", help="the factored matrix, with both triangles, to check the result")
    parser.add_argument("--right-sides", help="the right-hand sides of a solution")
    parser.add_argument("--summary", help="the JSON summary of the run")
    parser.add_argument("--plot", help="image to write: .png, .svg or .pdf")
    options = parser.parse_args()
    try:
        result = open_dataset(options.result)
        print(f"{options.result}: {part_of(result)} of {result.shape[0]} x {result.shape[1]}, {result.dtype}")
        error = check(result, options)
        summary = None
        if options.summary is not None:
            with open(options.summary, encoding="utf-8") as file:
                summary = json.load(file)
            print(f"{summary['gflops']:.2f} GFlop/s, {summary['bytes_read'] / 2**20:.1f} MiB read, "
                  f"{summary['bytes_written'] / 2**20:.1f} MiB written")
        if options.plot is not None:
            plot(options.plot, result, summary)
    except (OSError, ValueError, KeyError) as problem:
        print(f"read_results.py: {problem}", file=sys.stderr)
        return 2
    if error is None:
        return 0
    print(f"error {error:.2g}, which is {'fine' if error < 30 else 'too large'} (LAPACK requires less than 30)")
    return 0 if error < 30 else 1


if __name__ == "__main__":
    sys.exit(main())
