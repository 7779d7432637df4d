#!/usr/bin/env bash
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs what is missing, builds all but the benchmarks in build/ and runs the tests. Arguments go to ctest: ./test.sh -R planner
source "$(dirname "${BASH_SOURCE[0]}")/scripts/setup.sh"

set_up "${build_packages[@]}" "${test_packages[@]}"
if ! grep -qs '^GRANARY_BUILD_TESTS:BOOL=ON' $build/CMakeCache.txt || [[ ! -f $build/CTestTestfile.cmake ]]; then
  configure -DCMAKE_BUILD_TYPE=Release -DGRANARY_BUILD_TESTS=ON -DGRANARY_BUILD_BENCHMARKS=OFF -DGRANARY_BUILD_EXAMPLES=ON
fi
build_targets "the library, the programs and the tests" all
step "Running the tests"
ctest --test-dir $build --output-on-failure --parallel "$(nproc)" "$@"
