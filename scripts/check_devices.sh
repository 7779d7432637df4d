#!/usr/bin/env bash
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiles the code for NVIDIA and AMD devices as far as the installed software allows. If GRANARY_CUDA_KOKKOS or
# GRANARY_HIP_KOKKOS names an installation of Kokkos with that backend, everything is built (this takes long). Otherwise
# it compiles the files that call the vendor's libraries, with those libraries' headers, and with nvcc the host code of
# the files that work on devices, both with the installed Kokkos without a device backend. Skipped checks are reported.
# Fails if something does not compile.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=build/devices
rm -rf $work/sources $work/logs $work/failed
mkdir -p $work/sources/include/granary $work/logs
ln -s "$PWD" $work/sources/include/granary/detail
skipped=0
checks=0

skip() {
  printf 'skipped: %s\n' "$*"
  skipped=$((skipped + 1))
}

# check WHAT COMMAND...: runs in the background, one command per core. %OUT% is a separate output file.
check() {
  local what=$1 log
  shift
  checks=$((checks + 1))
  log=$work/logs/$checks
  while (($(jobs -rp | wc -l) >= $(nproc))); do wait -n || true; done
  {
    if "${@//%OUT%/$log.o}" >"$log" 2>&1; then
      printf 'compiled: %s\n' "$what"
    else
      printf 'FAILED: %s\n  %s\n%s\n' "$what" "${*//%OUT%/$log.o}" "$(tail -n 40 "$log")" >&2
      touch $work/failed
    fi
  } &
}

# everything NAME KOKKOS: configures and builds the whole project with an installed Kokkos.
everything() {
  local name=$1 kokkos=$2 compiler=()
  if [[ $name == HIP ]]; then compiler=(-DCMAKE_CXX_COMPILER=hipcc); fi
  check "everything with $name, configured" cmake -S . -B "$work/$name" -DCMAKE_BUILD_TYPE=Release "${compiler[@]}" \
    -DKokkos_ROOT="$kokkos" -DKokkosKernels_ROOT="$kokkos" "-DCMAKE_PREFIX_PATH=$kokkos"
  wait
  [[ -e $work/failed ]] || check "everything with $name" cmake --build "$work/$name" --parallel "$(nproc)"
  wait
}

# stand_in NAME: writes a kokkos_compat.hpp for a missing Kokkos backend: the vendors' files use nothing
# else of it.
stand_in() {
  mkdir -p "$work/sources/$1/granary/detail/core/backends"
  cat >"$work/sources/$1/granary/detail/core/backends/kokkos_compat.hpp" <<EOF
#pragma once
namespace granary::detail {
struct DeviceExecutionSpace {
  ${1}Stream_t stream;
  ${1}Stream_t ${1}_stream() const { return stream; }
  int ${1}_device() const { return 0; }
};
inline DeviceExecutionSpace make_device_instance(${1}Stream_t stream) { return {stream}; }
}  // namespace granary::detail
EOF
}

# first_with FILE FOLDER...: the first of the folders that has the file.
first_with() {
  local file=$1 folder
  shift
  for folder in "$@"; do
    if [[ -e $folder/$file ]]; then
      echo "$folder"
      return
    fi
  done
}

# The files that call the vendors' libraries.
vendor_files() { find core linalg bench -name "vendor_interop*.cpp" | sort; }

kokkos=$(first_with Kokkos_Core.hpp ${Kokkos_ROOT:+"$Kokkos_ROOT/include"} /usr/include/{trilinos,kokkos} /usr/{local/,}include)
sources=(-I. "-I$work/sources/include" -isystem "${kokkos:-/nonexistent}")
flags=(-std=c++20 -Wall -Wextra -Wshadow -Wconversion -Werror)
on_devices=(core/backends/device_*.cpp runtime/*/*.cpp linalg/tiles/*.cpp linalg/kernels/device/device_*.cpp)
[[ -n "$kokkos" ]] || skip "files that include Kokkos: its headers are missing"

# compilable FILE FOLDER LIBRARIES: whether the folder has all headers of these libraries (a pattern) that the file
# includes; otherwise skips it.
compilable() {
  if [[ -z "$kokkos" ]] && grep -q 'linalg/' "$1"; then return 1; fi
  local header
  while read -r header; do
    if [[ ! -e $2/$header ]]; then
      skip "$1: $header is missing"
      return 1
    fi
  done < <(sed -nE 's/^#include <(('"$3"')[^>]*)>.*/\1/p' "$1")
}

if [[ -n "${GRANARY_CUDA_KOKKOS:-}" ]]; then
  everything CUDA "$GRANARY_CUDA_KOKKOS"
else
  nvcc=$(command -v nvcc || first_with nvcc /usr/local/cuda/bin | sed 's,$,/nvcc,')
  if [[ -z "$nvcc" ]]; then
    skip "CUDA: there is no nvcc"
  else
    stand_in cuda
    # nvcc knows its headers; its path does not show them, since PATH may find a link or a wrapper script.
    include=$("$nvcc" --dryrun -x cu -c /dev/null -o /dev/null 2>&1 | sed -nE 's/^#\$ INCLUDES="-I([^"]*)".*/\1/p')
    include=$(first_with cuda_runtime_api.h ${include:+"$include"} /usr/local/cuda/include /usr/include)
    [[ -n "$include" ]] || skip "files that call CUDA: cuda_runtime_api.h is missing"
    for file in ${include:+$(vendor_files)}; do
      compilable "$file" "$include" 'cublas|cusolver' || continue
      check "$file with g++ and CUDA's headers" g++ "${flags[@]}" -DGRANARY_HAVE_CUDA "-I$work/sources/cuda" \
        "${sources[@]}" -isystem "$include" -include cuda_runtime_api.h -c "$file" -o %OUT%
    done
    for file in ${kokkos:+"${on_devices[@]}"}; do
      check "$file with nvcc, host code" "$nvcc" -std=c++20 -x cu -ptx -Werror all-warnings \
        -Xcudafe --diag_suppress=554 -DFMT_USE_CONSTEXPR=1 "${sources[@]}" "$file" -o %OUT%
    done
  fi
  skip "CUDA: device code needs a Kokkos with CUDA (GRANARY_CUDA_KOKKOS)"
fi

if [[ -n "${GRANARY_HIP_KOKKOS:-}" ]]; then
  everything HIP "$GRANARY_HIP_KOKKOS"
else
  if ! command -v hipcc >/dev/null; then
    skip "HIP: there is no hipcc"
  else
    stand_in hip
    roc=$(first_with rocsolver/rocsolver.h ${ROCM_PATH:+"$ROCM_PATH/include"} /opt/rocm/include /usr/include)
    for file in $(vendor_files); do
      compilable "$file" "${roc:-/nonexistent}" 'rocblas|rocsolver' || continue
      check "$file with hipcc" hipcc --cuda-host-only "${flags[@]}" -DGRANARY_HAVE_HIP -Wno-unused-command-line-argument \
        "-I$work/sources/hip" "${sources[@]}" ${roc:+-isystem "$roc"} \
        -include hip/hip_runtime_api.h -fsyntax-only "$file"
    done
  fi
  skip "HIP: host code by hipcc and device code need a Kokkos with HIP (GRANARY_HIP_KOKKOS)"
fi

wait
printf '%d checked, %d skipped\n' "$checks" "$skipped"
[[ ! -e $work/failed ]]
