# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedulers with their own eviction policy, and with the best of all."""

ALL = ["lru", "mru", "luf", "luf:written=8", "belady"]
OWN = {"darts": "luf", "superblock": "belady"}  # of the others: lru


def own(runs, more):
    """`more`: the eviction policies of further schedulers, by their specifications."""
    return [run for run in runs
            if run["eviction"] == more.get(run["scheduler"], OWN.get(run["scheduler"].split(":")[0], "lru"))]


def best(runs):
    """For each scheduler and problem the run that receives the fewest bytes, of those within 0.5 % of the highest rate."""
    groups = {}
    for run in runs:
        groups.setdefault((run["scheduler"], run["tiles"]), []).append(run)
    return [min((run for run in group if run["gflops"] >= 0.995 * max(other["gflops"] for other in group)),
                key=lambda run: run["bytes_host_to_device"] + run["bytes_device_to_device"])
            for group in groups.values()]


def write_table(path, own_runs, best_runs=None):
    """Rates relative to the upper bound, and the bytes that memories receive, with both eviction policies, or with one."""
    lines = ["| tiles | scheduler | of the bound | GB received | best eviction | of the bound | GB received | bus limit, GB "
             "| lower bound, GB |", "|---|---|---|---|---|---|---|---|---|"]
    by_key = {(run["scheduler"], run["tiles"]): run for run in best_runs or own_runs}
    for run in sorted(own_runs, key=lambda run: run["tiles"]):
        other = by_key[run["scheduler"], run["tiles"]]
        least = max(run["io_bound_bytes"], run["compulsory_bytes"])
        lines.append(f"| {run['tiles']} | {run['scheduler']} | {_rate(run)} | {_received(run)} | {other['eviction']} | "
                     f"{_rate(other)} | {_received(other)} | {run['bus_limit_bytes'] / 1e9:.0f} | {least / 1e9:.0f} |")
    path.write_text("\n".join(lines) + "\n")


def _rate(run):
    return f"{run['gflops'] / run['upper_bound_gflops']:.3f}"


def _received(run):
    return f"{(run['bytes_host_to_device'] + run['bytes_device_to_device']) / 1e9:.0f}"
