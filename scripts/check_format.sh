#!/usr/bin/env bash
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Fails if clang-format would change a source; --fix changes it. The version is fixed because each formats differently.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [[ "${1:-}" == --fix ]]; then mode=(-i); else mode=(--dry-run -Werror); fi
# Tracked and new files, but none that is ignored or deleted.
git ls-files -z --cached --others --exclude-standard '*.hpp' '*.cpp' |
  while IFS= read -r -d '' file; do [[ ! -f "$file" ]] || printf '%s\0' "$file"; done |
  xargs -0 --no-run-if-empty clang-format-14 "${mode[@]}"
