#!/usr/bin/env python3
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every include of <granary/...> is of the file's own layer or of one that the table allows; vendors' headers, threads,
clocks and the environment appear only where they are allowed. Prints file:line for each violation and exits with 1."""
import pathlib
import re
import sys

# Layer: what its files may include besides their own folder. A folder's layer is its longest prefix in this table.
BASE = ["core/base"]
MODEL = BASE + ["core/model"]
POLICY = MODEL + ["core/policy"]
PLANNER = POLICY + ["core/planner"]
ENGINE = PLANNER + ["core/engine"]
LAYERS = {
    "core/base": [],
    "core/model": BASE,
    "core/policy": MODEL,
    "core/planner": POLICY,
    "policies": POLICY,
    "simulator": PLANNER,
    "trace": MODEL,
    "core/engine": PLANNER,
    "core/backends": ENGINE,
    "outofcore": ENGINE,
    "core/runtime": ENGINE + ["core/backends", "outofcore", "policies", "trace"],
    "linalg/kernels": MODEL + ["core/backends/kokkos_compat.hpp", "core/backends/kokkos_core.hpp", "linalg/scalar.hpp", "linalg/tile_grid.hpp"],
    "linalg/files": MODEL + ["core/engine", "outofcore", "linalg/tile_grid.hpp"],
    "linalg": MODEL + ["core/backends/kokkos_core.hpp", "linalg/kernels", "linalg/files"],
    "workloads/bounds": MODEL,
    "workloads": MODEL + ["linalg"],
}
# Everything may be included by these; granary.hpp is the umbrella of the façade.
TOP = ["apps", "examples", "bench", "tests", "docs"]
UMBRELLA = {"granary.hpp": "core/runtime"}

# Files that may include more than their layer: (pattern of the path, includes).
EXCEPTIONS = [
    # Users call linalg with a Runtime. The algorithms only emit tasks and do not depend on it.
    (r"linalg/(runtime/)?[^/]+\.hpp", ["core/runtime"]),
    (r"linalg/(tiled_matrix|matrix|open_matrix)[^/]*\.cpp", ["core/runtime"]),
]

# (pattern of files, exceptions, forbidden pattern, reason)
FORBIDDEN = [
    (r".*", r".*(cuda|hip)_interop[^/]*",
     r"#\s*include\s*[<\"](cuda|cublas|cusolver|nvml|hip/|hipblas|rocblas|rocsolver)",
     "only cuda_interop and hip_interop include a vendor's headers"),
    (r"(policies|core/policy)/.*", r"policies/registry\.[ch]pp", r"#\s*include\s*<(thread|mutex|shared_mutex|condition_variable|atomic|future|semaphore)>",
     "a policy owns no thread and no lock"),
    (r"(policies|core/policy)/.*", r"-", r"(system|steady|high_resolution)_clock\b|\bclock_gettime\b|\bClock::now\b",
     "a policy owns no clock"),
    (r"(core|policies|linalg|outofcore|simulator)/.*", r"core/runtime/.*", r"\b(secure_)?getenv\s*\(|\benviron\b",
     "only core/runtime reads the environment"),
]

INCLUDE = re.compile(r"#\s*include\s*[<\"]granary/([^>\"]+)[>\"]")


def layer_of(path):
    """The longest folder of the table that contains `path`, or None."""
    holding = [layer for layer in [*LAYERS, *TOP] if path == layer or path.startswith(layer + "/")]
    return max(holding, key=len, default=None)


def may_include(path, layer, included):
    if layer in TOP:
        return True
    allowed = LAYERS[layer] + [extra for pattern, extras in EXCEPTIONS if re.fullmatch(pattern, path) for extra in extras]
    target = layer_of(included)
    return target == layer or target in allowed or included in allowed


def violations(path, text):
    """(line number, message) for each violation in a file."""
    layer = layer_of(path)
    for number, line in enumerate(text.splitlines(), 1):
        code = line.split("//")[0] if not line.lstrip().startswith("#") else line
        include = INCLUDE.search(line)
        if include:
            included = include.group(1)
            target = UMBRELLA.get(included, included)
            if layer is None:
                yield number, "this folder belongs to no layer: name it in scripts/check_layers.py"
            elif layer_of(target) is None:
                yield number, f"<granary/{included}> belongs to no layer"
            elif not may_include(path, layer, target):
                yield number, f"{layer} may not include <granary/{included}>"
        for files, but_not, forbidden, why in FORBIDDEN:
            if re.fullmatch(files, path) and not re.fullmatch(but_not, path) and re.search(forbidden, code):
                yield number, why


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[1])
    top = {layer.split("/")[0] for layer in [*LAYERS, *TOP]}
    sources = [file for folder in sorted(top) for file in sorted((root / folder).rglob("*")) if file.suffix in (".hpp", ".cpp")]
    count = 0
    for file in sources:
        path = file.relative_to(root).as_posix()
        for number, what in violations(path, file.read_text(encoding="utf-8")):
            print(f"{path}:{number}: {what}")
            count += 1
    print(f"layering: {len(sources)} files, {count} violation{'' if count == 1 else 's'}")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
