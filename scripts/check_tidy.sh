#!/usr/bin/env bash
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs clang-tidy on the sources of the layers and programs, with the compile commands of build/; tests and benchmarks
# are only checked by the compiler's warnings. clang-tidy 14 and 15 do not support C++20's aggregate initialisation in
# parentheses. Arguments are patterns of paths: scripts/check_tidy.sh core/planner. --fast omits the static analyzer,
# which takes two thirds of the time, the slowest of the other checks and, without patterns, the examples. --since COMMIT
# checks the folders in which a file has changed since then, or all if this clone does not have the commit.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
checks=()
all=(auto bounds core distributed mpi policies schedules simulator trace outofcore runtime linalg workloads apps)
if [[ ${1-} == --fast ]]; then
  checks=(-checks='-clang-analyzer-*,-bugprone-reserved-identifier')
  shift
else
  all+=(examples)
fi
if [[ ${1-} == --since ]]; then
  if changed=$(git diff --name-only "$2" -- "${all[@]/%//*.[ch]pp}" 2>/dev/null); then
    # The units of a file are those of the nearest folder that has a CMakeLists.txt.
    folders=$(while IFS= read -r file && [[ -n "$file" ]]; do
      folder=$(dirname "$file")
      while [[ ! -e $folder/CMakeLists.txt ]]; do folder=$(dirname "$folder"); done
      echo "$folder/"
    done <<<"$changed" | sort -u)
    if [[ -z "$folders" ]]; then
      echo "no source has changed since $2"
      exit 0
    fi
    mapfile -t all <<<"$folders"
  fi
  shift 2
fi
if (($# == 0)); then set -- "${all[@]}"; fi
[[ -f build/compile_commands.json ]] || {
  echo "build/compile_commands.json is missing: run ./test.sh first" >&2
  exit 1
}
log=build/tidy.log
# In a unity build, the file that includes the sources is in the same folder of build/.
status=0
run-clang-tidy-16 -clang-tidy-binary clang-tidy-16 -p build "${checks[@]}" -quiet -j "$(nproc)" "${@/#/$PWD/(build/)?}" >"$log" 2>&1 || status=$?
# Print only the findings of the log, without the commands and the number of suppressed warnings.
grep -vE '^(clang-tidy-16 |\[[0-9/]+\] |[0-9]+ warnings? (generated|treated)|Suppressed |Use -header-filter)' "$log" || true
exit "$status"
