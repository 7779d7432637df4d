#!/usr/bin/env bash
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs what is missing, builds, makes a matrix file of 512 MiB and factors it with 96 MiB for its tiles.
source "$(dirname "${BASH_SOURCE[0]}")/scripts/setup.sh"

n=8192
tile=512
memory=96MiB
input=$build/demo/spd-$n.h5
factor=$build/demo/factor-$n.h5

set_up "${build_packages[@]}"
if [[ ! -f $build/build.ninja && ! -f $build/Makefile ]]; then
  configure -DCMAKE_BUILD_TYPE=Release -DGRANARY_BUILD_TESTS=OFF -DGRANARY_BUILD_BENCHMARKS=OFF -DGRANARY_BUILD_EXAMPLES=OFF
fi
tell_old_kokkos
build_targets "the demo's programs" granary-cholesky granary-matrix

mkdir -p $build/demo
if [[ ! -f $input ]]; then
  step "Making a symmetric positive definite matrix, $n x $n, in $input"
  $build/bin/granary-matrix generate spd $n $input --tile $tile
fi
rm -f $factor
command=("$build/bin/granary-cholesky" "$input" "$factor" --memory "$memory" --tile "$tile" --check)
step "Factoring it with $memory for its tiles:"
printf '   %s\n' "${command[*]}"
"${command[@]}"
