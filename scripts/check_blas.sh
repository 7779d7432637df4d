#!/usr/bin/env bash
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs the tests `linalg` and `lapack` of a build with OpenBLAS kernels other than those of this processor, which add in
# another order:
#
#     scripts/check_blas.sh [--build DIR] [CORE...]
#
# CORE is a name of OPENBLAS_CORETYPE, by default Prescott and Haswell. These two differ most: SSE3, which rounds each
# product before adding it, in small blocks, and AVX2 with fused multiply-adds, in large ones. By hand, all of them:
#
#     scripts/check_blas.sh Prescott Nehalem Sandybridge Haswell Zen SkylakeX
#
# and the reference BLAS and LAPACK (Debian: libblas-dev, liblapack-dev), with `reference` for CORE. It loads only
# these, from GRANARY_REFERENCE_BLAS, by default Debian's two folders, whatever libblas.so.3 is otherwise. A build that
# names OpenBLAS needs a second build:
#
#     cmake -S . -B build-generic -DBLA_VENDOR=Generic -DGRANARY_BUILD_TESTS=ON && cmake --build build-generic -t test_linalg test_lapack
#     scripts/check_blas.sh --build build-generic reference
#
# A core type is skipped, with a message, if the BLAS cannot choose its kernels or the processor lacks their
# instructions. Fails if a test fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=build
if [[ ${1:-} == --build ]]; then
  build=$2
  shift 2
fi
cores=("$@")
((${#cores[@]} > 0)) || cores=(Prescott Haswell)
system=/usr/lib/$(uname -m)-linux-gnu
reference=${GRANARY_REFERENCE_BLAS:-$system/blas:$system/lapack}
# Tests that do not call BLAS.
without_blas='-*Refus*:Files*:*Market*:*Generator*:*Sink*:*Source*:*Simulator*:*Priorities*:IoBounds*:*Grid*'

instructions() {
  case $1 in
    Prescott) echo pni ;;
    Nehalem) echo sse4_2 ;;
    Sandybridge | Bulldozer) echo avx ;;
    Haswell | Zen) echo avx2 fma ;;
    SkylakeX | Cooperlake) echo avx512f avx512dq avx512bw avx512vl ;;
  esac
}

# The reason why CORE cannot run here; empty if it can.
obstacle() {
  local core=$1 flag chosen
  if [[ $core == reference ]]; then
    ! LD_LIBRARY_PATH=$reference ldd "$build/tests/bin/test_linalg" | grep -Eq 'libopenblas|libmkl|libblis' ||
      echo "$build is linked with another BLAS than the reference one; build it with -DBLA_VENDOR=Generic"
    return
  fi
  chosen=$(OPENBLAS_VERBOSE=2 OPENBLAS_CORETYPE=$core "$build/tests/bin/test_linalg" --gtest_list_tests 2>&1 | sed -n 's/^Core: //p')
  if [[ -z $chosen ]]; then
    echo "the BLAS of $build is not an OpenBLAS that chooses its kernels when it starts (DYNAMIC_ARCH)"
  elif [[ ${chosen,,} != "${core,,}" ]]; then
    echo "OpenBLAS uses its kernels for $chosen instead"
  fi
  for flag in $(instructions "$core"); do
    grep -qw "$flag" /proc/cpuinfo || echo "this processor has no $flag"
  done
}

# run CORE TEST: runs all tests of TEST, in one process per core.
run() {
  local core=$1 test=$2 shards i status=0 pids=()
  shards=$(nproc)
  for ((i = 0; i < shards; ++i)); do
    if [[ $core == reference ]]; then export LD_LIBRARY_PATH=$reference; else export OPENBLAS_CORETYPE=$core; fi
    GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$i GRANARY_MODELS=off \
      "$build/tests/bin/test_$test" --gtest_brief=1 --gtest_filter="$without_blas" >"$build/check_blas-$core-$test-$i.log" 2>&1 &
    pids+=($!)
  done
  for i in "${!pids[@]}"; do
    wait "${pids[$i]}" || { status=1; cat "$build/check_blas-$core-$test-$i.log" >&2; }
  done
  return $status
}

failed=0
for core in "${cores[@]}"; do
  why=$(obstacle "$core" | head -n 1)
  if [[ -n $why ]]; then
    printf 'skipped %s: %s\n' "$core" "$why"
    continue
  fi
  for test in linalg lapack; do
    begin=$SECONDS
    if (run "$core" "$test"); then
      printf 'passed %s with %s (%d s)\n' "$test" "$core" $((SECONDS - begin))
    else
      printf 'FAILED %s with %s\n' "$test" "$core"
      failed=1
    fi
  done
done
exit $failed
