#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every include of <granary/...> is of the file's own layer or of one that the table allows, and no unit, a header with
the source of its name, includes itself through others; vendors' headers, threads, clocks and the environment appear only
where they are allowed; a source of the planner defines the classes of its own header; files are short. Prints file:line
for each violation and exits with 1."""
import pathlib
import posixpath
import re
import sys

# Layer: what its files may include besides their own folder. A file's layer is its longest prefix in this table.
BASE = ["core/base"]
MODEL = BASE + ["core/model"]
POLICY = MODEL + ["core/policy"]
PLANNER = POLICY + ["core/planner"]
ENGINE = PLANNER + ["core/engine"]
PLANNER_SHARES = [f"core/planner/{name}.hpp" for name in ("agenda", "command", "context", "notice", "policy_calls")]
DISK_NODE = ["outofcore/disk_node.hpp"]
FACADE = ["runtime/api", "runtime/session", "runtime/setup"]
LINALG_DATA = [f"linalg/data/{name}.hpp" for name in ("blas_enums", "narrow", "scalar", "tile_grid")]
# What emits tasks knows neither a runtime nor a file.
EMITS = MODEL + ["linalg/data", "linalg/kernels", "linalg/priorities"]
ALGORITHMS = ["linalg/algorithms", "linalg/tiles"]
LAYERS = {
    "core/base": [],
    "core/model": BASE,
    "core/policy": MODEL,
    # The movement of data knows no task.
    "core/planner/movement": BASE + [f"core/model/{name}.hpp" for name in ("access", "codelet", "data", "machine", "trace")]
                             + ["core/policy/eviction_policy.hpp"] + PLANNER_SHARES,
    "core/planner/dispatch": POLICY + ["core/planner/movement", "core/planner/failure.hpp"] + PLANNER_SHARES,
    "core/planner": POLICY + ["core/planner/movement", "core/planner/dispatch"],
    "bounds": MODEL,
    "schedules": MODEL,
    "schedules/search": MODEL + ["bounds"],
    "schedules/recorder": PLANNER + ["schedules"],
    "policies": POLICY + ["schedules"],
    "distributed": PLANNER,
    # For an engine.
    "distributed/transports": ENGINE + ["distributed"],
    "simulator": PLANNER,
    "simulator/cluster": PLANNER + ["distributed", "simulator"],
    # The scheduler that simulates.
    "auto": PLANNER + ["simulator", "policies"],
    "trace": MODEL,
    "core/engine": PLANNER,
    "core/backends": ENGINE,
    "outofcore": BASE,
    "outofcore/disk_node.hpp": ENGINE + ["outofcore"],
    "outofcore/disk_node.cpp": DISK_NODE + BASE,
    # The façade in rooms: options and what they choose; what runs a session; what users call.
    "runtime/setup": ENGINE + ["core/backends", "outofcore", "policies", "auto", "trace"] + DISK_NODE,
    "runtime/session": ENGINE + ["core/backends", "distributed", "distributed/transports", "outofcore", "policies", "schedules", "schedules/recorder", "trace", "runtime/setup"] + DISK_NODE,
    "runtime/api": ENGINE + ["core/backends", "runtime/session", "runtime/setup"],
    # All that includes mpi.h.
    "mpi": ENGINE + ["distributed", "distributed/transports"] + FACADE,
    "linalg/data": MODEL + ["core/backends/kokkos_core.hpp"],
    "linalg/kernels": MODEL + ["core/backends/kokkos_compat.hpp", "core/backends/kokkos_core.hpp"] + LINALG_DATA,
    # Formats of files know no algebra.
    "linalg/files": BASE + ["outofcore"] + [f"linalg/data/{name}.hpp" for name in ("all_finite", "strided_shape", "tile_grid")],
    "linalg/generators": BASE + ["outofcore", "linalg/files"],
    "linalg/priorities": BASE + ["linalg/data"],
    # A task on tiles knows no algorithm: one that emits it hands it its finer graph.
    "linalg/tiles": EMITS,
    "linalg/algorithms": EMITS + ["linalg/tiles"],
    "linalg/residuals": EMITS + ALGORITHMS,
    # The calls for users, on a runtime.
    "linalg/runtime": EMITS + ALGORITHMS + ["linalg/residuals", "linalg/files", "linalg/generators", "core/backends/kokkos_core.hpp", "distributed/transports/processes.hpp"]
                      + FACADE + [f"core/backends/{name}.hpp" for name in ("blas_library", "blas_threads")]
                      + [f"core/engine/{name}.hpp" for name in ("model_file", "performance_models")],
    "workloads": MODEL + ["linalg/data", "linalg/priorities"] + ALGORITHMS,
}
# The top-level folders, lowest first: none includes one that follows it, whatever the table says.
FOLDERS = ["core", "bounds", "schedules", "policies", "distributed", "simulator", "auto", "trace", "outofcore", "runtime", "linalg", "mpi", "workloads"]
# Everything may be included by these; include/granary is the front door.
TOP = ["include", "apps", "examples", "bench", "tests", "docs"]

# (pattern of files, exceptions, forbidden pattern, reason)
FORBIDDEN = [
    (r".*", r".*vendor_(interop|names)[^/]*",
     r"#\s*include\s*[<\"](cuda|cublas|cusolver|nvml|hip/|hipblas|rocblas|rocsolver)",
     "only vendor_interop and vendor_names include a vendor's headers"),
    (r".*", r"core/backends/kokkos_core\.hpp", r"#\s*pragma\s+GCC\s+visibility",
     "what other layers use has GRANARY_EXPORT (core/base/export.hpp)"),
    (r"(policies|core/policy)/.*", r"policies/registry\.[ch]pp", r"#\s*include\s*<(thread|mutex|shared_mutex|condition_variable|atomic|future|semaphore)>",
     "a policy owns no thread and no lock"),
    (r"(policies|core/policy)/.*", r"-", r"(system|steady|high_resolution)_clock\b|\bclock_gettime\b|\bClock::now\b",
     "a policy owns no clock"),
    (r"(auto|bounds|core|distributed|mpi|policies|linalg|outofcore|schedules|simulator|trace|workloads)/.*", r"-", r"\b(secure_)?getenv\s*\(|\benviron\b",
     "only runtime reads the environment"),
    (r".*", r"(mpi|bench|tests|apps|examples)/.*", r"#\s*include\s*<mpi\.h>", "only the layer mpi and programs include mpi.h"),
]

# Limits of lines: (pattern of files, lines).
LENGTHS = [(r"core/planner/.*\.hpp", 150), (r"(?!tests/|core/planner/.*\.hpp).*", 400)]
# Sources that define nothing but their own header's classes.
OWN_CLASSES = r"core/planner/.*\.cpp"
MEMBER = re.compile(r"^(?:[\w:<>,&*\[\] ]+ )?[*&]?(?:\w+::)*?([A-Z]\w+)::~?\w+\(")

INCLUDE = re.compile(r"^\s*#\s*include\s*[<\"]granary/(detail/)?([^>\"]+)[>\"]")
# Programs and tests include their own headers by name.
QUOTED = re.compile(r"^\s*#\s*include\s*\"([^\"]+)\"")


def layer_of(path):
    """The longest folder of the table that contains `path`, or `path` itself, or None."""
    holding = [layer for layer in [*LAYERS, *TOP] if path == layer or path.startswith(layer + "/")]
    return max(holding, key=len, default=None)


def is_upward(layer, included):
    folder, target = layer.split("/")[0], included.split("/")[0]
    return folder in FOLDERS and target in FOLDERS[FOLDERS.index(folder) + 1:]


def may_include(layer, included):
    if layer in TOP:
        return True
    if is_upward(layer, included):
        return False
    target = layer_of(included)
    return target == layer or target in LAYERS[layer] or included in LAYERS[layer]


def violations(path, text):
    """(line number, message) for each violation in a file."""
    layer = layer_of(path)
    for number, line in enumerate(text.splitlines(), 1):
        code = line.split("//")[0] if not line.lstrip().startswith("#") else line
        include = INCLUDE.search(line)
        if include:
            inner, included = include.groups()
            if layer is None:
                yield number, "this folder belongs to no layer: name it in scripts/check_layers.py"
            elif not inner and layer not in TOP:
                yield number, f"{layer} may not include the front door, <granary/{included}>"
            elif inner and layer_of(included) is None:
                yield number, f"<granary/detail/{included}> belongs to no layer"
            elif inner and not may_include(layer, included):
                yield number, f"{layer} may not include <granary/detail/{included}>"
        for files, but_not, forbidden, why in FORBIDDEN:
            if re.fullmatch(files, path) and not re.fullmatch(but_not, path) and re.search(forbidden, code):
                yield number, why


def lengths_and_classes(root, path, text):
    """The same for the limits of lines and for definitions of other headers' members."""
    lines = text.splitlines()
    for files, most in LENGTHS:
        if re.fullmatch(files, path) and len(lines) > most:
            yield most + 1, f"the file has more than {most} lines"
    header = (root / path).with_suffix(".hpp")
    if not re.fullmatch(OWN_CLASSES, path):
        return
    declared = header.read_text(encoding="utf-8") if header.exists() else ""
    for number, line in enumerate(lines, 1):
        member = MEMBER.match(line)
        if member and not re.search(rf"\b(class|struct) (GRANARY_EXPORT )?{member[1]}\b[^;{{]*{{", declared + text):
            yield number, f"a member of {member[1]} is defined outside the source of its header"


def unit_of(path):
    """The header and the source of one name are one unit."""
    return path.rpartition(".")[0]


def included_files(path, text, files):
    """(line number, path) for each include of one of `files`: by its name for users, from the root, or beside `path`."""
    for number, line in enumerate(text.splitlines(), 1):
        if (found := INCLUDE.search(line)) and found[1]:
            names = [found[2]]
        elif quoted := QUOTED.search(line):
            names = [posixpath.normpath(posixpath.join(posixpath.dirname(path), quoted[1])), quoted[1]]
        else:
            continue
        yield from [(number, name) for name in names if name in files][:1]


def cycles(texts):
    """(path, line number, message) for each include that closes a circle of units; `texts` by path."""
    edges = {unit_of(path): {} for path in texts}  # to a unit: the first include of it
    for path, text in texts.items():
        for number, target in included_files(path, text, texts):
            if unit_of(target) != unit_of(path):
                edges[unit_of(path)].setdefault(unit_of(target), (path, number))
    done, open_now = set(), []

    def visit(unit):
        open_now.append(unit)
        for target, (path, number) in edges[unit].items():
            if target in open_now:
                yield path, number, "units in a circle: " + " -> ".join([*open_now[open_now.index(target):], target])
            elif target not in done:
                yield from visit(target)
        done.add(open_now.pop())

    for unit in edges:
        if unit not in done:
            yield from visit(unit)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[1])
    top = {layer.split("/")[0] for layer in [*LAYERS, *TOP]}
    sources = [file for folder in sorted(top) for file in sorted((root / folder).rglob("*")) if file.suffix in (".hpp", ".cpp")]
    texts = {file.relative_to(root).as_posix(): file.read_text(encoding="utf-8") for file in sources}
    found = list(cycles(texts))
    for path, text in texts.items():
        found += [(path, *one) for one in (*violations(path, text), *lengths_and_classes(root, path, text))]
    count = len(found)
    for path, number, what in sorted(found):
        print(f"{path}:{number}: {what}")
    print(f"layering: {len(sources)} files, {count} violation{'' if count == 1 else 's'}")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
