# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Problems and settings of the LAHeteroprio paper (Bramas 2019), section Applications, as far as it states them."""

PLATFORMS = {"k40x4": 4, "p100x2": 2}
# One front of 52 * 384 = 19,968; a grid of 1024^3 in StarPU's default number of slices.
APPLICATIONS = {
    "qrmumps": dict(algorithm="tree", tiles=72, tile=512),
    "spldlt": dict(algorithm="tree-ldlt", levels=1, tiles=52, tile=384),
    "stencil": dict(algorithm="stencil-z", iterations=32, tiles=64, tile=1024),
}
# The paper's STARPU_NWORKER_PER_CUDA.
GPU_WORKERS = {"qrmumps": {"k40x4": 7, "p100x2": 16}, "spldlt": {"k40x4": 11, "p100x2": 18},
               "stencil": {"k40x4": 3, "p100x2": 3}}
LOCALITY = {"qrmumps": (3, 3), "spldlt": (2, 1), "stencil": (2, 1)}  # l of the CPU and the devices: Figures 6 to 8


def locality(cpu, device):
    return f":l=cpu@{cpu}+device@{device}"
