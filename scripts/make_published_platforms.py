#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the platforms whose figures were published: make_published_platforms.py FOLDER, or --check FOLDER to compare
the files there with what it would write.

The time of a GPU kernel on tiles of order b is startup * b + operations / rate: below orders of about 2000 the
factorizations of a vendor's library take a time that is nearly proportional to the order. Both numbers are fitted to
published times, which `source` names in every file; they are not fitted to any result of a scheduler."""
import argparse
import difflib
import json
import pathlib
import sys

import laheteroprio_platforms
from make_platforms import FLOPS, lay_out

PLATFORMS = pathlib.Path(__file__).resolve().parent.parent / "simulator/platforms"
MIRAGE = json.loads((PLATFORMS / "mirage.json").read_text())
BUNSEN = json.loads((PLATFORMS / "bunsen.json").read_text())
TILES = [240, 480, 960, 1440, 1920, 2880, 3840]

# Seconds per unit of the order, and the rate as a fraction of the gemm rate, by precision.
#
# gemm, trsm on NVIDIA V100: StarPU's performance models of gemini-1 of Grid'5000 (8 V100-SXM2, cuBLAS 11; history of
# tools/perfmodels/sampling: chol_model_*.gemini-1-cho_dep_corrected of February 2023 at tiles of 960, 1920 and 3840 in
# single precision, starpu_dlu_lu_model_*.gemini-1-lu_sans_cusolver of March 2023 at 1920 and 2880 in double). The fit
# meets each time within 3 %, except trsm at 960 in single precision: 0.61 ms, StarPU has 0.56.
GEMM_STARTUP = 0.033e-6
TRSM = {"s": {"trsm": (0.57e-6, 0.91), "trsm_ll": (0.57e-6, 0.91), "trsm_ru": (0.57e-6, 0.91)},
        "d": {"trsm": (0.36e-6, 0.70), "trsm_ll": (0.65e-6, 0.855), "trsm_ru": (0.36e-6, 0.70)}}
TRSM_SOURCE = ("trsm: cuBLAS 11 on V100, from StarPU's performance models of the machine gemini-1 (chol_model_21, "
               "starpu_dlu_lu_model_12 and _21)")
TRSM_ELSEWHERE = TRSM_SOURCE + ", in proportion to gemm"

# One core: fractions of its gemm rate at TILES; granary's kernels with OpenBLAS on a core of an AMD EPYC, in CPU time.
CORE = {"potrf": [0.5, 0.63, 0.75, 0.78, 0.82, 0.86, 0.88], "getrf": [0.6, 0.7, 0.88, 0.89, 0.91, 0.92, 0.92],
        "trsm": [0.8, 0.9, 0.94, 0.94, 0.94, 0.96, 0.96], "trsm_ll": [0.8, 0.86, 0.93, 0.92, 0.91, 0.93, 0.93],
        "trsm_ru": [0.8, 0.91, 0.96, 0.96, 0.95, 0.96, 0.96]}
CORE_SOURCE = (" On a core the other kernels take the fractions of the gemm rate that granary's own kernels reach with "
               "OpenBLAS on one core (potrf 0.75 to 0.86, getrf 0.88 to 0.92, trsm 0.91 to 0.96 at tiles of 960 to 2880).")

DARTS = ("Gonthier, Thibault, Marchal, 'A generic scheduler to foster data locality for GPU and out-of-core task-based "
         "applications', 2024 (hal-04146714v2, the DARTS paper), ")
FULL_DUPLEX = " PCIe and NVLink carry both directions at once."


class Gpu:
    """A GPU model: rates of gemm in flops per second at tiles of order `tile`, and its factorizations by precision.

    potrf, getrf: precision -> (startup, fraction of the gemm rate)."""

    def __init__(self, rates, tile, potrf, getrf, source):
        self.rates, self.tile, self.source = rates, tile, source
        self.factorizations = {"potrf": potrf, "getrf": getrf}

    def kernels(self, precision):
        seconds = FLOPS["gemm"](self.tile) / self.rates[precision]
        rate = FLOPS["gemm"](self.tile) / (seconds - GEMM_STARTUP * self.tile)
        startups = {"gemm": (GEMM_STARTUP, 1), "syrk": (GEMM_STARTUP, 1), **TRSM[precision],
                    **{name: by_precision[precision] for name, by_precision in self.factorizations.items()}}
        return {codelet: points(codelet, lambda b: startup * b + FLOPS[codelet](b) / (fraction * rate))
                for codelet, (startup, fraction) in startups.items()}


class Core:
    def __init__(self, rates):
        self.rates = rates

    def kernels(self, precision):
        rate = self.rates[precision]
        fractions = {codelet: dict(zip(TILES, at_tiles)) for codelet, at_tiles in CORE.items()}
        times = {codelet: points(codelet, lambda b: FLOPS[codelet](b) / (fraction[b] * rate))
                 for codelet, fraction in fractions.items()}
        return {**times, "gemm": rate, "syrk": rate}


def points(codelet, seconds):
    return [[round(FLOPS[codelet](b)), float(f"{seconds(b):.5g}")] for b in TILES]


POTRF_V100 = ("potrf: cuSOLVER, 1.03 and 2.87 ms in single precision at orders of 1024 and 2048 (benchmark of PyTorch's "
              "pull request 57788, which does not name the GPU; an A100 needs 0.86 and 1.69 ms)")
# MAGMA 2.0 on a K40c (results/v2.0.0): the rate of sgetrf is 1.31, 0.86, 0.73 and 0.69 of that of spotrf at orders of
# 1000, 2000, 3000, 4000: a startup of 1.2 and a rate of 0.51 of potrf's.
GETRF_V100 = ("getrf: potrf's time times the ratio of the two in MAGMA 2.0's results on a K40c, which gives 38 ms at 4096; "
              "JAX's issue 9694 measured 41 ms with pivoting on a V100")
DOUBLE = ("Double precision: potrf's and getrf's time that is proportional to the order is 1.5 times that in single, as for "
          "potrf on an A100 (PyTorch 1.9).")

V100 = Gpu({"s": 14e12, "d": 7e12}, 2880, {"s": (0.874e-6, 0.184), "d": (1.3e-6, 0.184)},
           {"s": (1.04e-6, 0.095), "d": (1.56e-6, 0.095)},
           f"{TRSM_SOURCE}; {POTRF_V100}; {GETRF_V100}. {DOUBLE}")
A100 = Gpu({"s": 18e12, "d": 9e12}, 2880, {"s": (0.78e-6, 1), "d": (1.2e-6, 1)},
           {"s": (1.04e-6, 0.074), "d": (1.56e-6, 0.074)},
           f"{TRSM_ELSEWHERE}; potrf: cuSOLVER, 0.86, 1.24 and 1.69 ms in single precision at 1024, 1536 and 2048 (issue "
           "278 of ROCm/rocm-jax); getrf: as on a V100 (JAX's issue 9694: 44 ms at 4096, 41 ms on a V100). "
           f"{DOUBLE}")
P100 = Gpu({"s": 6.7e12, "d": 3.35e12}, 1920, {"s": (0.874e-6, 0.184), "d": (1.3e-6, 0.184)},
           {"s": (1.04e-6, 0.095), "d": (1.56e-6, 0.095)},
           f"{TRSM_ELSEWHERE}; potrf and getrf: as on a V100, the part that is proportional to the operations in "
           "proportion to gemm (no figures of a P100 were found)")
HOPPER = Gpu({"s": 53.6e12, "d": 53.6e12}, 2880, {"s": (0.4e-6, 1), "d": (0.6e-6, 1)},
             {"s": (0.53e-6, 0.05), "d": (0.8e-6, 0.05)},
             f"{TRSM_ELSEWHERE}; potrf: cuSOLVER, 0.41 ms in single precision at 1024 on a H20 (pull request 4160 of "
             "FlagGems); getrf: half the time of an A100, as potrf (no figures were found). "
             f"{DOUBLE}")
MI300A = Gpu({"s": 73.6e12, "d": 73.6e12}, 2880, {"s": (4.1e-6, 0.15), "d": (4.1e-6, 0.15)},
             {"s": (4.9e-6, 0.077), "d": (4.9e-6, 0.077)},
             f"{TRSM_ELSEWHERE} (no figures of AMD's were found); potrf: rocSOLVER, 4.2, 6.4 and 9.0 ms in single "
             "precision at 1024, 1536 and 2048 on a MI250X (issue 278 of ROCm/rocm-jax); getrf: potrf's time times the "
             "ratio of the two in MAGMA 2.0's results on a K40c")


def device(name, capacity):
    return {"name": name, "kind": "device", "capacity": capacity}


def link(start, end, bandwidth, latency=1e-5, **more):
    return {"from": start, "to": end, "bandwidth": bandwidth, "latency": latency, **more}


def both_ways(start, end, bandwidth, latency=1e-5):
    return link(start, end, bandwidth, latency, both_ways=True)


def gpu_worker(number, peak, node=None):
    return {"name": f"gpu{number}", "node": node or f"gpu{number}", "kind": "device", "model": "gpu", "peak": peak}


def cores(count, peak, node="host"):
    return {"name": "core", "node": node, "kind": "cpu", "model": "cpu", "peak": peak, "count": count}


def platform(name, source, nodes, buses, links, workers, models):
    kernels = {precision: {} for precision in "sd"}
    for precision, by_codelet in kernels.items():
        for model, hardware in models.items():
            for codelet, times in hardware.kernels(precision).items():
                by_codelet.setdefault(codelet, {})[model] = times
        kernels[precision] = dict(sorted(by_codelet.items()))
    return {"name": name, "source": source, "nodes": nodes, **({"buses": buses} if buses else {}), "links": links,
            "workers": workers, "kernels": kernels, "speeds": {model: hardware.rates for model, hardware in models.items()}}


def gpus_alone(name, source, gpu, count, capacity, peak, links, buses=()):
    """GPUs without cores that take tasks."""
    return platform(name, f"{source} {gpu.source}.", [{"name": "host", "kind": "host"}] +
                    [device(f"gpu{i}", capacity) for i in range(count)], list(buses), links,
                    [gpu_worker(i, peak) for i in range(count)], {"gpu": gpu})


def pcie(count, bandwidth):
    """Each GPU has its own to the host."""
    return [both_ways("host", f"gpu{i}", bandwidth) for i in range(count)]


def nvlinks(count, bandwidth_of):
    return [both_ways(f"gpu{a}", f"gpu{b}", bandwidth_of(a, b)) for a in range(count) for b in range(a + 1, count)]


def v100s(count):
    source = (f"{DARTS}Table 1 and Figure 5: NVIDIA V100, 32 GB each, 14000 GFlop/s in single precision on gemm (tiles of "
              "2880; double: half, as StarPU measured on gemini-1), 12 GB/s of PCIe in each direction. Two GPUs share a "
              "switch, which has 12 GB/s to memory in each direction as well: Table 1 has 12 'with contention'. The paper "
              "contradicts itself here: Figure 5 and section 6.2 have 22 GB/s, measured, on this link; docs/figures.md has "
              "results with both. NVLinks of 24 or 48 "
              "GB/s in each direction; the pairs that have 48 (0-3, 1-2, 2-3): StarPU's measurements on gemini-1."
              f"{FULL_DUPLEX} Peak: NVIDIA's data sheet. Latency 10 us: assumed.")
    if count == 1:
        return gpus_alone("v100x1", source, V100, 1, 32_000_000_000, 15.7e12, pcie(1, 12e9))
    buses = [{"name": f"switch{s} {way}", "bandwidth": 12e9} for s in range(count // 2) for way in ("down", "up")]
    links = [link(*ends, 12e9, buses=[f"switch{i // 2} {way}"]) for i in range(count)
             for ends, way in ((("host", f"gpu{i}"), "down"), ((f"gpu{i}", "host"), "up"))]
    links += nvlinks(count, lambda a, b: 48e9 if (a, b) in ((0, 3), (1, 2), (2, 3)) else 24e9)
    return gpus_alone(f"v100x{count}", source, V100, count, 32_000_000_000, 15.7e12, links, buses)


def a100s(count):
    source = (f"{DARTS}Table 1: NVIDIA A100, 40 GB each, 18000 GFlop/s in single precision on gemm (tiles of 2880), 12 GB/s "
              "of PCIe for each GPU in each direction without contention, NVLinks of 24 GB/s in each direction between all "
              f"pairs.{FULL_DUPLEX} Double precision: half, as without tensor cores. Peak: NVIDIA's data sheet. Latency "
              "10 us: assumed.")
    return gpus_alone(f"a100x{count}", source, A100, count, 40_000_000_000, 19.5e12,
                      pcie(count, 12e9) + nvlinks(count, lambda a, b: 24e9))


def p100():
    source = (f"{DARTS}Table 1: NVIDIA P100, 16 GB, 6700 GFlop/s in single precision on gemm, PCIe 13 GB/s in each direction "
              f"(tiles of 1920).{FULL_DUPLEX} Double precision: half. Peak: NVIDIA's data sheet. Latency 10 us: assumed.")
    return gpus_alone("p100", source, P100, 1, 16_000_000_000, 9.3e12, pcie(1, 13e9))


def xeon_disk():
    source = (f"{DARTS}Table 1 and section 7.3: Intel Xeon E5-2620, 12 cores, 15 GFlop/s in single precision on gemm (read "
              "here as each core's rate), 32 GB of memory, a disk of 94 MB/s that reads and writes share. Double precision: "
              f"half. Peak: 2.0 GHz x 16 operations. Latency of the disk 1 ms: assumed.{CORE_SOURCE}")
    links = [link("disk", "host", 94e6, 1e-3, buses=["disk"]), link("host", "disk", 94e6, 1e-3, buses=["disk"])]
    return platform("xeon-disk", source, [{"name": "disk", "kind": "disk"},
                                          {"name": "host", "kind": "host", "capacity": 32_000_000_000}],
                    [{"name": "disk", "bandwidth": 94e6}], links, [cores(12, 32e9)], {"cpu": Core({"s": 15e9, "d": 7.5e9})})


H200_SOURCE = ("NVIDIA H200 data sheet: 141 GB, 67 TFlop/s in single precision (without tensor cores) and in double "
               "precision (with them), NVLink 900 GB/s (450 in each direction), PCIe 5 x16 (64 GB/s in each direction). Rates "
               "here: 80 % of these figures for gemm, 85 % for transfers (assumed). Cores of an Intel Xeon Platinum 8480C, "
               "2.0 GHz x 64 operations in single precision, 80 % of it (assumed). Latency 8 us, 3 us between GPUs: assumed. ")
H200_NETWORK = (" Network: one port of 400 Gbit/s, of which a DGX H200 has eight for computation (NVIDIA's data sheet); latency 2 us: "
                "assumed.")


def h200s(count, core_count, text, network=None):
    gpus = [f"gpu{i}" for i in range(count)]
    links = [both_ways("host", g, 54.4e9, 8e-6) for g in gpus]
    links += [link(a, b, 382.5e9, 3e-6, buses=[f"{a} out", f"{b} in"]) for a in gpus for b in gpus if a != b]
    buses = [{"name": f"{g} {way}", "bandwidth": 382.5e9} for g in gpus for way in ("out", "in")] if count > 1 else []
    made = platform(f"h200x{count}", f"{H200_SOURCE}{text} {HOPPER.source}.{CORE_SOURCE}{H200_NETWORK if network else ''}",
                    [{"name": "host", "kind": "host"}] + [device(g, 141_000_000_000) for g in gpus], buses, links,
                    [cores(core_count, 128e9)] + [gpu_worker(i, 67e12) for i in range(count)],
                    {"cpu": Core({"s": 102e9, "d": 51e9}), "gpu": HOPPER})
    return {**made, **({"network": network} if network else {})}


def gh200():
    source = ("NVIDIA GH200 data sheet: 72 Arm Neoverse V2 cores, 480 GB of LPDDR5X, an H100 with 96 GB of HBM3, 67 TFlop/s "
              "in single precision (without tensor cores) and in double precision (with them), NVLink-C2C 450 GB/s in each "
              "direction. Rates here: 80 % of these figures for gemm, 85 % for transfers (assumed); cores at 3.1 GHz x 32 "
              f"operations in single precision, 80 % of it. Latency 3 us: assumed. {HOPPER.source}.{CORE_SOURCE}")
    return platform("gh200", source, [{"name": "host", "kind": "host", "capacity": 480_000_000_000},
                                      device("gpu0", 96_000_000_000)], [], [both_ways("host", "gpu0", 382.5e9, 3e-6)],
                    [cores(71, 99.2e9), gpu_worker(0, 67e12)], {"cpu": Core({"s": 79.4e9, "d": 39.7e9}), "gpu": HOPPER})


def mi300a():
    source = ("AMD Instinct MI300A data sheet: 24 Zen 4 cores and 228 compute units on one memory of 128 GB, 122.6 TFlop/s in "
              "single precision and with matrix cores in double precision. Rates here: 60 % of these figures for gemm "
              "(assumed); cores at 3.7 GHz x 32 operations in single precision, 80 % of it. The data live on an NVMe disk, "
              "PCIe 4 x4, 6.5 GB/s that reads and writes share (assumed), since cores and compute units need no transfers "
              f"between them. Latency 80 us: assumed. {MI300A.source}.{CORE_SOURCE}")
    links = [link("disk", "memory", 6.5e9, 8e-5, buses=["disk"]), link("memory", "disk", 6.5e9, 8e-5, buses=["disk"])]
    return platform("mi300a", source, [{"name": "disk", "kind": "disk"},
                                       {"name": "memory", "kind": "host", "capacity": 128_000_000_000}],
                    [{"name": "disk", "bandwidth": 6.5e9}], links,
                    [cores(23, 118.4e9, "memory"), gpu_worker(0, 122.6e12, "memory")],
                    {"cpu": Core({"s": 94.7e9, "d": 47.4e9}), "gpu": MI300A})


# GPU acceleration over a core (Table I), by codelet.
STATIC_ACCELERATION = {"potrf": 2.3, "trsm": 11, "syrk": 26, "gemm": 29}


def static2016():
    source = ("Agullo, Beaumont, Eyraud-Dubois, Kumar, 'Are Static Schedules so Bad? A Case Study on Cholesky Factorization', "
              "IPDPS 2016 (hal-01223573v2), sections II and V: 9 cores of Intel Xeon X5650 and 3 NVIDIA Tesla M2070, tiles of "
              "960 in single precision, transfers ignored. GPU: the core's time divided by Table I's acceleration (potrf 2.3, "
              "trsm 11, syrk 26, gemm 29). Core: not in the paper; StarPU's performance models of the same machine at tiles of "
              "960, as in platform mirage. All workers use one memory, so that nothing is ever transferred, and a "
              "worker takes a task when it is idle, as in the paper (depth 0). Other codelets, "
              "and other tiles, run at the rates that follow.")
    cores_of_mirage = MIRAGE["kernels"]["s"]
    kernels = {}
    for codelet, acceleration in sorted(STATIC_ACCELERATION.items()):
        operations = FLOPS[codelet](960)
        seconds = dict(cores_of_mirage[codelet]["cpu"])[operations]
        kernels[codelet] = {"cpu": [[operations, seconds]], "gpu": [[operations, float(f"{seconds / acceleration:.9g}")]]}
    rate = {model: FLOPS["gemm"](960) / kernels["gemm"][model][0][1] for model in ("cpu", "gpu")}
    return {"name": "static2016", "source": source, "nodes": [{"name": "memory", "kind": "host"}],
            "workers": [cores(9, 21.3e9, "memory")] + [gpu_worker(i, 1.03e12, "memory") for i in range(3)],
            "kernels": {"s": kernels}, "speeds": {model: {"s": round(rate[model])} for model in rate}, "depth": 0}


M2070_PEAK, M2090_PEAK = 515.2e9, 665.6e9  # 14 x 1.15 GHz and 16 x 1.3 GHz, 32 operations per cycle and multiprocessor
KEENELAND_TILES = range(192, 1537, 192)


def m2090_gemm(order):
    """Seconds of DGEMM: the fraction of the peak that an M2070 reaches at an order smaller by sqrt(14/16), the ratio of
    multiprocessors. Between and beyond the measured orders the time per unit of the order is linear in its square: a
    startup and a rate."""
    columns = [dict(MIRAGE["kernels"]["d"]["gemm"][f"gpu{i}"]) for i in range(3)]
    per_column = [(n, sum(c[FLOPS["gemm"](n)] for c in columns) / 3 / n) for n in (320, 640, 960)]
    measured = order * (14 / 16) ** 0.5
    (n, low), (m, high) = per_column[:2] if measured < 640 else per_column[1:]
    seconds = measured * (low + (high - low) * (measured ** 2 - n ** 2) / (m ** 2 - n ** 2))
    return FLOPS["gemm"](order) / (FLOPS["gemm"](measured) / seconds * M2090_PEAK / M2070_PEAK)


def keeneland():
    source = ("One node of Keeneland Full Scale, Wu et al., 'Hierarchical DAG Scheduling for Hybrid Distributed Systems', IPDPS "
              "2015, section VI: 3 NVIDIA M2090 (6 GB; 5.25 GiB with ECC), 2 x 8 cores (Intel Xeon E5-2670). Only gemm runs on "
              "GPUs (section V), in double precision. Its rate by tile: cuBLAS on an M2070, the same architecture, measured by "
              "StarPU on mirage at tiles of 320, 640 and 960 (mean of three GPUs); an M2090 with 16 multiprocessors instead "
              "of 14 is assumed to reach the same fraction of its peak (665.6 GFlop/s; M2070: 515.2) at a tile larger by "
              "sqrt(16/14). Other tiles by a startup per column and a rate that meet the two nearest measurements. So a GPU "
              "reaches 403 GFlop/s at tiles of 1536, and with 16 cores three of them reach 1524 GFlop/s, which is the paper's "
              "DGEMM peak of a node (59 TFlop/s are 60.5 % of that of 64 nodes, section VI.D); nothing is fitted to the paper's "
              "results. A core: 2.6 GHz, 8 operations per cycle, with the kernels of bunsen, whose cores have the same peak: "
              "fractions of the peak that were measured on mirage. PCIe 2 x16 of each GPU with separate directions, 6.01 GB/s "
              "to and 6.52 GB/s from the GPU, measured on mirage; latency 10 us as there; no links between GPUs: data move "
              "between the main memory and a GPU (section IV.B). Data are fetched far ahead, as soon as there is room (section "
              "IV.B). Network: 40 Gbit/s (section VI.D), in each direction; latency 1.5 us: assumed. The GPUs are driven by "
              "threads of the same cores: use as many fewer cores (--cpus).")
    gpus = [f"gpu{i}" for i in range(3)]
    links = [link(*ends, bandwidth) for g in gpus for ends, bandwidth in ((("host", g), 6.01e9), ((g, "host"), 6.52e9))]
    gemm = [[FLOPS["gemm"](b), float(f"{m2090_gemm(b):.6g}")] for b in KEENELAND_TILES]
    kernels = {codelet: {"cpu": by_model["cpu"]} for codelet, by_model in BUNSEN["kernels"]["d"].items()}
    kernels["gemm"]["gpu"] = gemm
    rate = gemm[-1][0] / gemm[-1][1]
    return {"name": "keeneland", "source": source,
            "nodes": [{"name": "host", "kind": "host"}] + [device(g, 5_636_554_752) for g in gpus], "links": links,
            "workers": [cores(16, 20.8e9)] + [gpu_worker(i, M2090_PEAK) for i in range(3)], "kernels": {"d": kernels},
            "speeds": {"cpu": BUNSEN["speeds"]["cpu"], "gpu": {"d": round(rate)}},
            "network": {"bandwidth": 5e9, "latency": 1.5e-6}, "depth": BUNSEN["depth"]}


def tera100():
    source = ("One node of the Hybrid part of TERA-100, Sergent et al., 'Controlling the Memory Subscription of Distributed "
              "Applications with a Task-Based Runtime System', 2016, section VI.A: 2 x 4 cores (Intel Xeon E5620, 2.4 GHz x 4 "
              "operations in double precision), of which the paper does not say the memory; no limit here. Double precision: "
              "90 % of the peak for gemm (assumed); twice that in single precision. Complex double precision: potrf at 80 % of "
              "the peak; updates of low rank, which move more than they compute, at 30 % (assumed). Network: 40 Gbit/s "
              "InfiniBand, 3.2 GB/s in each direction; latency 1.5 us: assumed. The paper's figures are of memory, so that "
              "only the ratios of these rates matter.")
    made = platform("tera100", source, [{"name": "host", "kind": "host"}], [], [], [cores(8, 19.2e9)],
                    {"cpu": Core({"s": 17.28e9, "d": 8.64e9})})
    made["kernels"]["z"] = {"potrf": {"cpu": 7_680_000_000}}
    made["speeds"]["cpu"]["z"] = 2_880_000_000
    return {**made, "network": {"bandwidth": 3.2e9, "latency": 1.5e-6}}


def platforms():
    return [v100s(1), v100s(2), v100s(4), a100s(1), a100s(4), p100(), xeon_disk(),
            h200s(1, 13, "One GPU with an eighth of a DGX H200's cores, less one that drives it."),
            h200s(8, 104, "DGX H200: 8 GPUs, each with 450 GB/s in each direction into NVSwitch; 112 cores of which 8 drive "
                          "the GPUs.", {"bandwidth": 5e10, "latency": 2e-6}),
            gh200(), mi300a(), static2016(), keeneland(), tera100(),
            *laheteroprio_platforms.platforms()]


def main():
    parser = argparse.ArgumentParser(description="Write the platforms whose figures were published.")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--check", action="store_true", help="compare the files in the folder instead")
    options = parser.parse_args()
    differences = []
    for made in platforms():
        path = options.folder / f"{made['name']}.json"
        text = lay_out(made) + "\n"
        if options.check:
            differences += difflib.unified_diff(path.read_text().splitlines(), text.splitlines(), str(path), "as made",
                                                lineterm="")
        else:
            path.write_text(text)
    if differences:
        sys.exit("\n".join(differences[:40]) + f"\nrun scripts/make_published_platforms.py {options.folder}")


if __name__ == "__main__":
    main()
