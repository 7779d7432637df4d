#!/usr/bin/env bash
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds the documentation's site in build/site: the pages with MkDocs, the reference of the public headers with
# Doxygen. A broken link, a page that is not in the navigation, or a warning of either tool is an error.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

missing=()
for tool in mkdocs doxygen; do command -v "$tool" >/dev/null || missing+=("$tool"); done
[[ -d /usr/share/doc/mkdocs-material ]] || python3 -c "import material" 2>/dev/null || missing+=(mkdocs-material)
if ((${#missing[@]} > 0)); then
  printf 'Missing: %s; on Debian: apt-get install --no-install-recommends doxygen mkdocs mkdocs-material\n' "${missing[*]}" >&2
  exit 2
fi

mkdir -p build
python3 scripts/stage_site.py build/site-pages
doxygen docs/site/Doxyfile
mkdocs --quiet build --clean
python3 scripts/check_site.py build/site
echo "The site is in build/site; open build/site/index.html"
