#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Simulates the experiments of the DARTS, LAHeteroprio, Static, Hierarchical and Memory papers and draws their figures.

The configuration of a figure as its paper has it is in as_published/, with the source of each choice.

    bench/figures/make_figures.py [--program build/bin/granary-simulate] [--to build/figures] [--quick] [FIGURE ...]
    bench/figures/make_figures.py --load build/examples/libgranary-example-stack.so --schedulers stack --vector darts-6
"""
import argparse
import pathlib
import time

import darts
import hierarchical
import laheteroprio
import memory
import plots
import static
from simulate import Simulations


def main():
    figures = {**darts.FIGURES, **laheteroprio.FIGURES, **static.FIGURES, **hierarchical.FIGURES, **memory.FIGURES}
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description="Simulate and draw the figures of the DARTS, LAHeteroprio, Static, Hierarchical and Memory papers.")
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help="any of " + ", ".join(figures) + " (default: all)")
    parser.add_argument("--program", default=root / "build/bin/granary-simulate", type=pathlib.Path)
    parser.add_argument("--to", default=root / "build/figures", type=pathlib.Path,
                        help="folder for figures, CSV and JSON files")
    parser.add_argument("--quick", action="store_true", help="fewer and smaller matrices")
    parser.add_argument("--schedulers", metavar="NAMES", type=lambda names: names.split(","), default=[],
                        help="schedulers to draw beside the paper's, as NAME or NAME:KEY=VALUE:..., separated by commas")
    parser.add_argument("--load", metavar="FILE", action="append", default=[], type=pathlib.Path,
                        help="shared library that registers policies; may be repeated")
    parser.add_argument("--vector", action="store_true", help="figures in vector form, SVG and PDF, instead of PNG")
    options = parser.parse_args()
    for name in options.figures:
        if name not in figures:
            parser.error(f"unknown figure {name}: the known ones are {', '.join(figures)}")
    if not options.program.exists():
        parser.error(f"there is no program {options.program}: build it, or name it with --program")
    if options.vector:
        plots.FORMATS = ["svg", "pdf"]
    simulations = Simulations(options.program, options.to, options.schedulers, [file.resolve() for file in options.load])
    makers = {}
    for name in options.figures or figures:
        makers.setdefault(figures[name], name)  # one may make several figures
    for make, name in makers.items():
        start = time.monotonic()
        make(simulations, options.quick)
        print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)
    print(f"figures and data are in {options.to}")


if __name__ == "__main__":
    main()
