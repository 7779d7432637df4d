# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The nodes of the LAHeteroprio paper (Bramas 2019), k40x4 and p100x2, from published figures; written by
make_published_platforms.py.

Sources:
paper     Bramas, 'Impact study of data locality on task-based applications through the Heteroprio scheduler', PeerJ CS 2019
sirocco   StarPU's calibration of the paper's K40 node, in simulator/platforms/sirocco.json; its cl_update, save_cl_top,
          save_cl_bottom (tools/perfmodels/sampling/codelets/45/*.sirocco of StarPU, commit 3f3cc82a6)
gemini-1  StarPU's calibrations of V100 in its history, same folder: chol_model_{21,22}.gemini-1-cho_dep_corrected
          (commit 09f476d9f), starpu_dlu_lu_model_{12,21,22}.gemini-1-lu_sans_cusolver (528051020)
clBLAS    doc/performance/cuBLAS_7.0 and cuBLAS_7.5/Tesla_K40 of clMathLibraries/clBLAS, commit cf9113982: boost clock
MAGMA     results/v2.0.0/cuda7.0-k40c of icl-utk-edu/magma, commit c64e52ab8: potrf_gpu, getrf_gpu, geqrf_gpu
P100      sgemm: zzc0721/torch-performance-test-data, issue 174; transfers: mpicbg-scicomp/gearshifft, pull request 82
cuSOLVER  potrf on an A100: ROCm/rocm-jax, issue 278 (s), xwang233/code-snippet, linalg/cholesky_benchmark_for_torch1.9
          (d); getrf on a V100 at 4096: jax-ml/jax, issue 9694
OpenBLAS  measured with OpenBLAS 0.3.21 on one core of an AMD EPYC, as fractions of its dgemm
"""
import json
import math
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIROCCO = json.loads((ROOT / "simulator/platforms/sirocco.json").read_text())

K40_MULTIPROCESSORS, P100_MULTIPROCESSORS, V100_MULTIPROCESSORS = 15, 56, 80
K40_BANDWIDTH, P100_BANDWIDTH = 288e9, 732e9  # data sheets
P100_PEAK = {"s": 9.3e12, "d": 4.7e12}  # d: paper
AT_BASE_CLOCK = 745 / 875  # of a K40's boost clock
# Bytes per second of a core: Intel's figure for a socket by its 12 cores (the paper's count).
CORE_BANDWIDTH = {"k40x4": 68e9 / 12, "p100x2": 76.8e9 / 12}
CORE_CLOCK = {"k40x4": 1, "p100x2": 2.1 / 2.5}  # E5-2683 v4 beside E5-2680 v3

FLOPS = {"gemm": 2, "syrk": 1, "trsm": 1, "trsm_ll": 1, "trsm_ru": 1, "potrf": 1 / 3, "getrf": 2 / 3, "geqrf": 4 / 3}
TRSM = ("trsm", "trsm_ll", "trsm_ru")

# GFlop/s by order.
CUBLAS_GEMM = {"d": {128: 100.5, 192: 264.6, 256: 468.9}, "s": {128: 164, 256: 732}}
CUBLAS_DGEMM_TOP = 1310
CUBLAS_DTRSM = {  # 7.5, right lower, left lower; 7.0, right upper
    "trsm": {192: 45.3, 384: 145, 768: 367, 960: 407, 1536: 668, 1920: 859},
    "trsm_ll": {384: 143, 768: 356, 960: 396, 1536: 656, 1920: 847},
    "trsm_ru": {384: 148, 768: 375, 960: 416, 1536: 688, 1920: 883}}
MAGMA = {
    "potrf": {"d": {100: 0.25, 300: 3.66, 500: 13.39, 1000: 54.41, 2000: 200.03, 3000: 358.55, 4000: 585.91},
              "s": {100: 0.26, 300: 4.10, 500: 16.56, 1000: 66.30, 2000: 300.63, 3000: 627.97, 4000: 952.86}},
    "getrf": {"d": {100: 1.43, 300: 5.95, 500: 18.16, 1000: 63.98, 2000: 178.98, 3000: 315.08, 4000: 407.04},
              "s": {100: 1.63, 300: 7.40, 500: 23.01, 1000: 86.70, 2000: 259.14, 3000: 458.04, 4000: 662.44}},
    "geqrf": {"d": {300: 8.66, 500: 23.08, 1000: 71.68, 2000: 191.68, 3000: 315.89, 4000: 401.12},
              "s": {300: 13.58, 500: 27.62, 1000: 99.61, 2000: 296.04, 3000: 489.48, 4000: 705.17}}}
P100_SGEMM = {1024: 5990, 2048: 7570, 4096: 8260, 8192: 8630}
V100_GEMM = {"s": 14900, "d": 7110}
V100_TRSM = {"s": dict.fromkeys(TRSM, {1920: 4280, 3840: 8590}),
             "d": {"trsm": {1920: 3350, 2880: 4100}, "trsm_ll": {1920: 2940, 2880: 4120},
                   "trsm_ru": {1920: 3350, 2880: 4100}}}
# Seconds per column of a factorization by cuSOLVER.
PER_COLUMN = {"potrf": {"s": 0.84e-6, "d": 1.3e-6}, "getrf": {"s": 10e-6, "d": 10e-6}}
# Fractions of gemm on a core, OpenBLAS: getrf by order; geqrt and gemqrt (nb = 32) of 2048 to 8192 rows and 512 columns.
GETRF_ON_CORE = {320: 0.43, 640: 0.55, 960: 0.62, 1440: 0.77}
QR_ON_CORE = {"qr_panel": 0.6, "qr_update": 0.66}

# cl_update and save_cl_*: the means in microseconds on a core and over the four GPUs, for blocks of 128, 192, 256 cells.
LIFE = {128: (6471.465, 734.5), 192: (20103.56, 1317.7), 256: (47051.0, 2869.8)}
SAVE = {128: (41.06, 48.0), 192: (34.74, 36.5), 256: (51.89, 36.7)}
SAVED_OF_1024 = 2 * 1026**2  # bytes
BYTES_PER_ENTRY = 24  # of an assembly: reads 8, reads and writes 8


def points(kernel, rates):
    """Pairs of operations and seconds from GFlop/s by order."""
    flops = {n: FLOPS[kernel] * n**3 for n in rates}
    return [[flops[n], flops[n] / rates[n] / 1e9] for n in sorted(rates)]


def sirocco(kernel, precision, model):
    models = ["gpu0", "gpu1", "gpu2", "gpu3"] if model == "gpu" else [model]
    columns = [SIROCCO["kernels"][precision][kernel][m] for m in models]
    return [[row[0][0], sum(seconds for _, seconds in row) / len(row)] for row in zip(*columns)]


def scaled(pairs, factor):
    return [[flops, seconds * factor] for flops, seconds in pairs]


def halved(pairs):
    """The kernel of half the operations at the same speed."""
    return [[flops / 2, seconds / 2] for flops, seconds in pairs]


def stencil(platform, gpu_bandwidth):
    """Times of the update by 10 operations per cell, of the copies by bytes."""
    clock, bandwidth = CORE_CLOCK[platform], CORE_BANDWIDTH[platform]
    slower = K40_BANDWIDTH / gpu_bandwidth
    saved = [2 * (n + 2)**2 for n in SAVE]
    more = SAVED_OF_1024 - saved[-1]  # a copy reads, allocates and writes on a core, reads and writes on a GPU
    update = {"cpu": [[10 * n**3, cpu * 1e-6 / clock] for n, (cpu, _) in LIFE.items()],
              "gpu": [[10 * n**3, gpu * 1e-6 * slower] for n, (_, gpu) in LIFE.items()]}
    save = {"cpu": [[size, cpu * 1e-6] for size, (cpu, _) in zip(saved, SAVE.values())] +
                   [[SAVED_OF_1024, SAVE[256][0] * 1e-6 + 3 * more / bandwidth]],
            "gpu": [[size, gpu * 1e-6] for size, (_, gpu) in zip(saved, SAVE.values())] +
                   [[SAVED_OF_1024, SAVE[256][1] * 1e-6 + 2 * more / gpu_bandwidth]]}
    return {"stencil_update": update, "stencil_save_top": save, "stencil_save_bottom": save}


def solver_kernels(platform, gpu_bandwidth, precision, kernels):
    """The kernels of the solvers, by those of dense linear algebra on the same worker."""
    of_double = 1 if precision == "d" else 2
    entries = {"cpu": CORE_BANDWIDTH[platform] / BYTES_PER_ENTRY * of_double,
               "gpu": gpu_bandwidth / BYTES_PER_ENTRY * of_double}
    gemm = kernels["gemm"]
    qr_panel = {"cpu": scaled(gemm["cpu"], 1 / QR_ON_CORE["qr_panel"]), "gpu": points("geqrf", MAGMA["geqrf"][precision])}
    qr_update = {"cpu": scaled(gemm["cpu"], 1 / QR_ON_CORE["qr_update"]), "gpu": gemm["gpu"]}
    return {
        "ldlt_assemble": {"cpu": entries["cpu"]},
        "ldlt_factor": {"cpu": kernels["potrf"]["cpu"]},
        "ldlt_solve": {"cpu": kernels["trsm"]["cpu"]},
        "ldlt_update": gemm,
        "qr_init": {"cpu": entries["cpu"]},
        "qr_assemble": entries,
        "qr_panel": qr_panel,
        "qr_update": qr_update,
        "qr_tile_assemble": {"cpu": entries["cpu"]},
        "qr_geqrt": {"cpu": qr_panel["cpu"]},
        "qr_gemqrt": qr_update, "qr_tpqrt": qr_panel, "qr_tpmqrt": qr_update}


def core_kernels(platform, precision):
    slower = 1 / CORE_CLOCK[platform]
    of = {kernel: scaled(sirocco(kernel, precision, "cpu"), slower) for kernel in ("gemm", "syrk", *TRSM, "potrf")}
    of["getrf"] = [[flops / 3, seconds / 3 / fraction]
                   for (flops, seconds), fraction in zip(of["gemm"], GETRF_ON_CORE.values())]
    return of


def k40_gemm(precision):
    small = {n: rate * AT_BASE_CLOCK for n, rate in CUBLAS_GEMM[precision].items()}
    return points("gemm", small) + sirocco("gemm", precision, "gpu")


def k40(precision):
    of = {"gemm": k40_gemm(precision), "potrf": points("potrf", MAGMA["potrf"][precision]),
          "getrf": points("getrf", MAGMA["getrf"][precision])}
    of["syrk"] = halved(of["gemm"])
    for kernel in TRSM:
        at_base = {n: rate * AT_BASE_CLOCK for n, rate in CUBLAS_DTRSM[kernel].items()}
        of[kernel] = points(kernel, at_base) if precision == "d" else sirocco(kernel, "s", "gpu")
    return of


def p100(precision):
    """A GPU of S multiprocessors reaches at order n sqrt(S / 15) the fraction of its top speed that a K40m reaches at n,
    since the thread blocks per multiprocessor are the same; trsm of 1000 and more likewise by a V100."""
    wider = math.sqrt(P100_MULTIPROCESSORS / K40_MULTIPROCESSORS)
    narrower = math.sqrt(P100_MULTIPROCESSORS / V100_MULTIPROCESSORS)
    top = P100_PEAK[precision] * P100_SGEMM[8192] * 1e9 / P100_PEAK["s"]
    pairs = k40_gemm(precision)
    fastest = max(flops / seconds for flops, seconds in pairs)
    rates = {wider * (flops / 2)**(1 / 3): flops / seconds / fastest * top / 1e9 for flops, seconds in pairs}
    if precision == "s":
        rates = {n: rate for n, rate in rates.items() if n < 900} | P100_SGEMM
    of = {"gemm": points("gemm", rates)}
    of["syrk"] = halved(of["gemm"])
    for kernel in TRSM:
        part = {wider * n: rate / CUBLAS_DGEMM_TOP for n, rate in CUBLAS_DTRSM[kernel].items() if wider * n < 1000}
        part |= {narrower * n: rate / V100_GEMM[precision] for n, rate in V100_TRSM[precision][kernel].items()}
        of[kernel] = points(kernel, {n: fraction * top / 1e9 for n, fraction in part.items()})
    for kernel in ("potrf", "getrf"):
        flops = {n: FLOPS[kernel] * n**3 for n in (512, 1024, 2048, 4096, 8192)}
        of[kernel] = [[flops[n], PER_COLUMN[kernel][precision] * n + flops[n] / top] for n in flops]
    return of


def rounded(value):
    if isinstance(value, list):
        return [rounded(entry) for entry in value]
    return float(f"{value:.6g}")


def times(platform, device, gpu_bandwidth):
    kernels = {}
    for precision in ("s", "d"):
        on_gpu, on_core = device(precision), core_kernels(platform, precision)
        of = {kernel: {"cpu": on_core[kernel], "gpu": on_gpu[kernel]} for kernel in on_core}
        of |= solver_kernels(platform, gpu_bandwidth, precision, of)
        of |= stencil(platform, gpu_bandwidth)
        kernels[precision] = {kernel: {model: rounded(pairs) for model, pairs in models.items()}
                              for kernel, models in sorted(of.items())}
    return kernels


def one_bus():
    """As in StarPU's calibration of the node: all transfers share a bus."""
    return SIROCCO["buses"], [{**link, "bandwidth": rounded(link["bandwidth"])} for link in SIROCCO["links"]]


def own_lanes(gpus, into, out_of, peer, latency):
    """Each GPU has lanes of its own, separate for each direction; transfers between GPUs cross those of both."""
    buses = [{"name": f"gpu{g} {way}", "bandwidth": bandwidth} for g in range(gpus)
             for way, bandwidth in (("in", into), ("out", out_of))]
    found = []
    for g in range(gpus):
        found += [{"from": "host", "to": f"gpu{g}", "bandwidth": into, "latency": latency, "buses": [f"gpu{g} in"]},
                  {"from": f"gpu{g}", "to": "host", "bandwidth": out_of, "latency": latency, "buses": [f"gpu{g} out"]}]
    for a in range(gpus):
        found += [{"from": f"gpu{a}", "to": f"gpu{b}", "bandwidth": peer, "latency": latency,
                   "buses": [f"gpu{a} out", f"gpu{b} in"]} for b in range(gpus) if b != a]
    return buses, found


def platform(name, source, gpus, capacity, wires, kernels, core_peak, gpu_peak):
    def top(model, precision):
        return max(flops / seconds for flops, seconds in kernels[precision]["gemm"][model])

    buses, found = wires
    return {
        "name": name, "source": source,
        "nodes": [{"name": "host", "kind": "host"}] +
                 [{"name": f"gpu{g}", "kind": "device", "capacity": capacity} for g in range(gpus)],
        "buses": buses, "links": found,
        "workers": [{"name": "core", "node": "host", "kind": "cpu", "model": "cpu", "peak": core_peak, "count": 24}] +
                   [{"name": f"gpu{g}", "node": f"gpu{g}", "kind": "device", "model": "gpu", "peak": gpu_peak}
                    for g in range(gpus)],
        "kernels": kernels,
        "speeds": {model: {precision: rounded(top(model, precision)) for precision in ("s", "d")}
                   for model in ("cpu", "gpu")}}


PAPER = ("Bramas, 'Impact study of data locality on task-based applications through the Heteroprio scheduler', PeerJ "
         "Computer Science 2019, section Hardware: ")
SCRIPT = "Made by scripts/laheteroprio_platforms.py, which names each source in full. "
CORES = ("Cores: gemm, syrk, trsm, potrf of an E5-2680 v3 core, measured by StarPU on sirocco{}; getrf 0.43 to 0.77 (320 to "
         "1440), panels of QR 0.6 and their updates 0.66 of gemm, as OpenBLAS on one core of an AMD EPYC; the solvers' other "
         "kernels by these; assembly 24 bytes per entry at a twelfth of a socket's {} GB/s (Intel). ")
STENCIL = ("Stencil: the game of life of StarPU's example, measured on sirocco for blocks of 128, 192, 256 cells{}; copies "
           "of larger borders: the further bytes at the memory's bandwidth. ")


def make_k40x4():
    source = (
        PAPER + "2 x 12 cores (Intel Xeon E5-2680 v3, 2.5 GHz), 4 NVIDIA K40 with 1.43 TFlop/s in double precision; the same "
        "processors and GPUs as sirocco, which StarPU calibrated. " + SCRIPT + CORES.format("", 68) +
        "GPUs: gemm and syrk of a K40m by tile (320 to 1440), measured by StarPU, below 320 by cuBLAS 7.0 on a K40 at boost "
        "clock, times 745/875; trsm in double precision by cuBLAS 7.5, likewise, in single as measured by StarPU; potrf, "
        "getrf (with pivoting) and, by the number of operations, panels of QR by MAGMA 2.0 on a K40c; updates of QR and LDLT "
        "at the speed of gemm; assembly at 288 GB/s. " + STENCIL.format("") +
        "Transfers: StarPU's calibration, which measures each link alone and lets all transfers of both directions share the "
        "fastest one's bandwidth (the bus 'Host'). PCI Express lanes, of which each processor has 40, are separate for each "
        "direction, so this is the lowest bandwidth that fits the measurements; docs/figures.md has results without the bus. "
        "Peak: single precision, three times that of double.")
    kernels = times("k40x4", k40, K40_BANDWIDTH)
    return platform("k40x4", source, 4, 12079136768, one_bus(), kernels, 80e9, 4.29e12)


def make_p100x2():
    source = (
        PAPER + "2 x 12 cores (Intel Xeon E5-2683 v4, 2.1 GHz), 2 NVIDIA P100 with 4.7 TFlop/s in double precision. " +
        SCRIPT + CORES.format(", times 2.1/2.5 for the clock", 76.8) +
        "GPUs: sgemm as published for a P100-PCIE-16GB (5.99, 7.57, 8.26, 8.63 TFlop/s at 1024, 2048, 4096, 8192), dgemm the "
        "same fraction of 4.7 TFlop/s (0.93); smaller sizes, all of dgemm, and trsm below 1000: the fraction that a K40m "
        "reaches at an order smaller by sqrt(56/15), the ratio of multiprocessors (this rule gives 0.70 of the top speed for "
        "sgemm of 1024, published are 0.69; 0.58 and 0.94 on a V100 for 960 and 1920, StarPU measured 0.80 and 0.93); larger "
        "trsm by a V100 that StarPU calibrated, with the same rule; potrf and getrf: 0.84, 1.3 (s, d) and 10 us per column, "
        "as cuSOLVER on A100 and V100, and the operations at the speed of gemm; panels of QR as MAGMA on a K40c, since the "
        "host computes most of them; updates of QR and LDLT at the speed of gemm; assembly at 732 GB/s. " +
        STENCIL.format(", on GPUs times 288/732 for the memory's bandwidth") +
        "Transfers: 12.15 and 12.89 GB/s into and out of a P100-PCIE-16GB, as published; GPU to GPU 10 GB/s from Table 1 of "
        "the DARTS paper; 16 lanes for each GPU, separate for each direction, as in PCI Express. Latency 10 us: assumed. "
        "Peak: twice the double-precision figure.")
    kernels = times("p100x2", p100, P100_BANDWIDTH)
    return platform("p100x2", source, 2, 16000000000, own_lanes(2, 12.15e9, 12.89e9, 10e9, 1e-5), kernels, 67.2e9, 9.4e12)


def platforms():
    return [make_k40x4(), make_p100x2()]
