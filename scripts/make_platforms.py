#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the calibrated platforms from a table of StarPU's SimGrid performance models: make_platforms.py TABLE FOLDER.

Records of the table (comma-separated, columns named in its first line): config, gpu (memory), bus (latencies, us),
link and route (SimGrid), kernel (mean times, us, by tile)."""
import collections
import csv
import itertools
import json
import pathlib
import sys

# Theoretical peaks in single precision, flops per second: a core, a GPU.
PLATFORMS = {
    "mirage": ("Intel Xeon X5650, NVIDIA Tesla M2070", 21.3e9, 1.03e12),
    "idgraf": ("Intel Xeon X5650, NVIDIA Tesla C2050", 21.3e9, 1.03e12),
    "attila": ("Intel Xeon X5650, NVIDIA Tesla C2050", 21.3e9, 1.03e12),
    "sirocco": ("Intel Xeon E5-2680 v3, NVIDIA Tesla K40m", 80e9, 4.29e12),
}
# Operations of a kernel on tiles of b x b, as in granary's codelets.
FLOPS = {
    "potrf": lambda b: b**3 / 3, "trsm": lambda b: b**3, "syrk": lambda b: b**2 * (b + 1), "gemm": lambda b: 2 * b**3,
    "getrf": lambda b: 2 * b**3 / 3, "trsm_ll": lambda b: b**3, "trsm_ru": lambda b: b**3,
}
# The kernel in the table for each codelet; missing ones are derived from another kernel: see double_cholesky.
FAMILIES = {
    "s": {"potrf": "chol_float", "trsm": "chol_float", "syrk": "chol_float", "gemm": "chol_float",
          "getrf": "lu_float", "trsm_ll": "lu_float", "trsm_ru": "lu_float"},
    "d": {"gemm": "lu_double", "getrf": "lu_double", "trsm_ll": "lu_double", "trsm_ru": "lu_double"},
}
# Number of tasks whose data are prefetched: StarPU's default (STARPU_CUDA_PIPELINE).
PIPELINE_DEPTH = 2
SOURCE = ("StarPU's performance models of the machine '{0}' for SimGrid (tools/perfmodels/sampling of StarPU: kernels "
          "chol_model_*, starpu_slu_lu_model_*, starpu_dlu_lu_model_*, bus, SimGrid platform), {1}; one core per GPU "
          "drives it. Buses are the links that routes of that platform share, without those that cannot limit anything. "
          "Not measured: potrf, trsm and syrk in double precision; they take the single-precision time times the "
          "ratio of the two gemm kernels at the same tile.")


def read_table(path):
    table = collections.defaultdict(list)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            table[row["platform"]].append(row)
    return table


def model_of(architecture):
    name = architecture.split("_")[0]
    return "cpu" if name == "cpu0" else name.replace("cuda", "gpu")


def kernel_times(rows, precision):
    """codelet -> model -> tile -> seconds"""
    times = collections.defaultdict(lambda: collections.defaultdict(dict))
    for row in rows:
        codelet = row["kernel_or_metric"]
        if row["record"] == "kernel" and FAMILIES[precision].get(codelet) == row["family"]:
            times[codelet][model_of(row["arch_or_from"])][int(row["tile_or_to"])] = float(row["mean_us_or_value"]) * 1e-6
    return times


def double_cholesky(single, double):
    for codelet in ("potrf", "trsm", "syrk"):
        for model, tiles in single[codelet].items():
            for tile, seconds in tiles.items():
                if tile in double["gemm"][model]:
                    ratio = double["gemm"][model][tile] / single["gemm"][model][tile]
                    double[codelet][model][tile] = seconds * ratio


def to_points(times):
    return {codelet: {model: [[FLOPS[codelet](tile), round(seconds, 12)] for tile, seconds in sorted(tiles.items())]
                      for model, tiles in sorted(models.items())}
            for codelet, models in sorted(times.items())}


def node_name(name):
    return "host" if name == "RAM" else name.replace("CUDA", "gpu")


def machine_links(rows):
    """The links, with the other SimGrid links that they cross, and the bandwidth of each SimGrid link."""
    bandwidth = {row["kernel_or_metric"]: float(row["mean_us_or_value"]) for row in rows if row["record"] == "link"}
    latency = {(row["arch_or_from"], row["tile_or_to"]): float(row["mean_us_or_value"]) * 1e-6
               for row in rows if row["record"] == "bus" and row["kernel_or_metric"] == "latency"}
    links = []
    for row in rows:
        ends = (row["arch_or_from"], row["tile_or_to"])
        if row["record"] != "route" or "DISK0" in ends:
            continue
        crossed = row["model_file"].split("|")
        own = "-".join(ends)
        crossed.remove(own)
        links.append({"from": node_name(ends[0]), "to": node_name(ends[1]), "bandwidth": bandwidth[own],
                      "latency": round(latency[ends], 9), "buses": crossed})
    return links, bandwidth


def drop_idle_buses(links, bandwidth):
    """Drops the buses that cannot limit anything: one or two others have no more bandwidth together and are crossed at least
    as often by each link, or a single link, slower than they are, crosses them."""
    crossings = collections.defaultdict(collections.Counter)
    for number, link in enumerate(links):
        for bus in link["buses"]:
            crossings[bus][number] += 1
    kept = dict(crossings)
    for bus in sorted(crossings, key=lambda name: (-bandwidth[name], len(crossings[name]), name)):
        own = crossings[bus]
        others = [other for other in kept if other != bus]
        sets = [(other,) for other in others] + list(itertools.combinations(others, 2))
        covered = any(sum(bandwidth[other] for other in some) <= bandwidth[bus] and
                      not own - sum((kept[other] for other in some), collections.Counter()) for some in sets)
        alone = all(links[number]["bandwidth"] * times <= bandwidth[bus] for number, times in own.items())
        if covered or (len(own) == 1 and alone):
            del kept[bus]
    for link in links:
        link["buses"] = [bus for bus in link["buses"] if bus in kept]
    return [{"name": bus, "bandwidth": bandwidth[bus]} for bus in sorted(kept)]


def make_platform(name, rows):
    hardware, core_peak, gpu_peak = PLATFORMS[name]
    count = {row["kernel_or_metric"]: int(row["mean_us_or_value"]) for row in rows if row["record"] == "config"}
    memory = [row for row in rows if row["record"] == "gpu"]
    single, double = kernel_times(rows, "s"), kernel_times(rows, "d")
    double_cholesky(single, double)
    links, bandwidth = machine_links(rows)
    nodes = [{"name": "host", "kind": "host"}]
    workers = [{"name": "core", "node": "host", "kind": "cpu", "model": "cpu", "peak": core_peak,
                "count": count["ncpu"] - count["ncuda"]}]
    for row in memory:
        gpu = node_name(row["arch_or_from"])
        nodes.append({"name": gpu, "kind": "device", "capacity": int(row["mean_us_or_value"])})
        workers.append({"name": gpu, "node": gpu, "kind": "device", "model": gpu, "peak": gpu_peak})
    gemm = {p: {model: max(FLOPS["gemm"](tile) / seconds for tile, seconds in tiles.items())
                for model, tiles in times["gemm"].items()} for p, times in (("s", single), ("d", double))}
    return {"name": name, "source": SOURCE.format(name, hardware), "nodes": nodes,
            "buses": drop_idle_buses(links, bandwidth), "links": links, "workers": workers,
            "kernels": {"s": to_points(single), "d": to_points(double)},
            "speeds": {model: {p: round(gemm[p][model]) for p in ("s", "d")} for model in sorted(gemm["s"])},
            "depth": PIPELINE_DEPTH}


def lay_out(value, depth=0):
    """JSON, with values that fit on one line on one line."""
    line = json.dumps(value)
    if len(line) + depth <= 116 or not isinstance(value, (dict, list)):
        return line
    pad = " " * (depth + 1)
    if isinstance(value, dict):
        inside = [f"{pad}{json.dumps(key)}: {lay_out(item, depth + 1)}" for key, item in value.items()]
        return "{\n" + ",\n".join(inside) + "\n" + " " * depth + "}"
    return "[\n" + ",\n".join(pad + lay_out(item, depth + 1) for item in value) + "\n" + " " * depth + "]"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    table = read_table(sys.argv[1])
    for name in PLATFORMS:
        if name not in table:
            sys.exit(f"the table has no platform '{name}'")
        path = pathlib.Path(sys.argv[2]) / f"{name}.json"
        path.write_text(lay_out(make_platform(name, table[name])) + "\n")
        print(path)


if __name__ == "__main__":
    main()
