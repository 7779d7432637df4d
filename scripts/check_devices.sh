#!/usr/bin/env bash
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiles what drives NVIDIA and AMD devices, as far as what is installed here allows: everything where
# GRANARY_CUDA_KOKKOS or GRANARY_HIP_KOKKOS names an installation of Kokkos with that backend (this takes long), else the
# files that call the vendor's runtime, with the vendor's headers and a Kokkos without devices. What cannot be checked is
# reported as skipped. Fails where something does not compile.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=build/devices
rm -rf $work/sources
mkdir -p $work/sources/include/bench
for folder in core linalg outofcore policies simulator; do
  mkdir -p $work/sources/include/granary
  ln -s "$PWD/$folder" $work/sources/include/granary/$folder
done
skipped=0
failed=0

skip() {
  printf 'skipped: %s\n' "$*"
  skipped=$((skipped + 1))
}

# compiled WHAT COMMAND...
compiled() {
  local what=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    printf 'compiled: %s\n' "$what"
  else
    tail -n 40 "$work/log" >&2
    printf 'FAILED: %s\n  %s\n' "$what" "$*" >&2
    failed=1
  fi
}

# everything NAME KOKKOS: configures and builds the whole project with an installed Kokkos.
everything() {
  local name=$1 kokkos=$2 compiler=()
  if [[ $name == HIP ]]; then compiler=(-DCMAKE_CXX_COMPILER=hipcc); fi
  compiled "everything with $name, configured" cmake -S . -B "$work/$name" -DCMAKE_BUILD_TYPE=Release "${compiler[@]}" \
    -DKokkos_ROOT="$kokkos" -DKokkosKernels_ROOT="$kokkos" "-DCMAKE_PREFIX_PATH=$kokkos"
  ((failed)) || compiled "everything with $name" cmake --build "$work/$name" --parallel "$(nproc)"
}

# Stands in for kokkos_compat.hpp where there is no Kokkos of that backend: these files use nothing else of it.
stand_in() {
  mkdir -p "$work/sources/$1/granary/core/backends"
  cat >"$work/sources/$1/granary/core/backends/kokkos_compat.hpp" <<EOF
#pragma once
namespace granary {
struct DeviceExecutionSpace {
  $2 stream;
};
inline DeviceExecutionSpace make_device_instance($2 stream) { return {stream}; }
}  // namespace granary
EOF
}

flags=(-std=c++20 -Wall -Wextra -Wshadow -Wconversion -Werror -I. "-I$work/sources/include")

if [[ -n "${GRANARY_CUDA_KOKKOS:-}" ]]; then
  everything CUDA "$GRANARY_CUDA_KOKKOS"
else
  nvcc=$(command -v nvcc || { [[ -x /usr/local/cuda/bin/nvcc ]] && echo /usr/local/cuda/bin/nvcc; } || true)
  if [[ -z "$nvcc" ]]; then
    skip "CUDA: there is no nvcc"
  else
    stand_in cuda cudaStream_t
    include=$(dirname "$(dirname "$nvcc")")/include
    for file in core/backends/cuda_interop.cpp bench/gpu/cuda_interop_factor.cpp; do
      compiled "$file with g++ and CUDA's headers" g++ "-I$work/sources/cuda" -include cuda_runtime_api.h "${flags[@]}" \
        -isystem "$include" -c "$file" -o "$work/cuda.o"
    done
  fi
  skip "CUDA: device kernels, for want of a Kokkos with CUDA (GRANARY_CUDA_KOKKOS)"
fi

if [[ -n "${GRANARY_HIP_KOKKOS:-}" ]]; then
  everything HIP "$GRANARY_HIP_KOKKOS"
else
  if ! command -v hipcc >/dev/null; then
    skip "HIP: there is no hipcc"
  else
    stand_in hip hipStream_t
    for file in core/backends/hip_interop.cpp bench/gpu/hip_interop_factor.cpp; do
      compiled "$file with hipcc" hipcc --offload-arch=gfx90a "-I$work/sources/hip" -include hip/hip_runtime_api.h \
        "${flags[@]}" -Wno-unused-command-line-argument -c "$file" -o "$work/hip.o"
    done
    if [[ ! -e /usr/include/rocsolver/rocsolver.h && ! -e /opt/rocm/include/rocsolver/rocsolver.h ]]; then
      skip "HIP: the comparison with rocSOLVER, which is not installed"
    fi
  fi
  skip "HIP: device kernels, for want of a Kokkos with HIP (GRANARY_HIP_KOKKOS)"
fi

printf '%d skipped\n' "$skipped"
exit "$failed"
