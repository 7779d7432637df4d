#!/usr/bin/env bash
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds granary, with static libraries, with Debian's newest Kokkos, installs it, and configures, builds and runs the
# consumer against it, in a temporary root of Debian unstable.
#   tests/install/newest_kokkos.sh [--kokkos PACKAGE,PACKAGE...] [TEST...]
# PACKAGE: Kokkos' packages, if not libkokkos-dev. TEST: test programs of granary to build and run there, such as
# test_runtime. Exit status 77: such a root cannot be created here; the last line has the reason.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/setup.sh"

# inside TEST...: runs in the root, where /granary holds the sources.
inside() {
  echo "The root is ready"
  step "granary, $(g++ --version | head -n 1)"
  # Unoptimised, to save time: this tests only compiling, linking and finding.
  cmake -S . -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DBUILD_SHARED_LIBS=OFF \
    -DGRANARY_BUILD_TESTS=OFF -DGRANARY_BUILD_BENCHMARKS=OFF -DGRANARY_BUILD_EXAMPLES=OFF -DCMAKE_INSTALL_PREFIX=/prefix
  cmake --build /build --parallel "$(nproc)"
  cmake --install /build >/install.log
  step "The consumer"
  cmake -S tests/install/consumer -B /consumer -G Ninja -DCMAKE_PREFIX_PATH=/prefix -DCMAKE_BUILD_TYPE=Release
  cmake --build /consumer
  /consumer/consumer
  /prefix/bin/granary-info
  (($# > 0)) || return 0
  step "Tests: $*"
  cmake -DGRANARY_BUILD_TESTS=ON /build
  cmake --build /build --parallel "$(nproc)" --target "$@"
  local test
  for test in "$@"; do "/build/tests/bin/$test"; done
}

skip() {
  echo "skipped: $*"
  exit 77
}

if [[ "${1:-}" == --inside ]]; then
  inside "${@:2}"
  exit
fi
kokkos=libkokkos-dev
if [[ "${1:-}" == --kokkos ]]; then
  kokkos=$2
  shift 2
fi
command -v mmdebstrap >/dev/null || skip "mmdebstrap is not installed"
mirror=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' | sed -n 's/^Debian //p' | head -n 1)
[[ -n "$mirror" ]] || skip "apt's sources name no archive of Debian"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -cf "$work/granary.tar" CMakeLists.txt cmake core policies linalg outofcore runtime simulator trace workloads apps scripts tests
packages=$(IFS=, && echo "${build_packages[*]}")
(($# == 0)) || packages+=,libgtest-dev,libgmock-dev
options=(--variant=apt --format=null --aptopt='Acquire::Check-Valid-Until "false"' --dpkgopt=force-unsafe-io
  --include="$packages,$kokkos" --customize-hook='mkdir "$1/granary"' --customize-hook="tar-in $work/granary.tar /granary"
  --customize-hook="chroot \"\$1\" env -i PATH=/usr/bin:/bin GRANARY_MODELS=off /granary/tests/install/newest_kokkos.sh --inside $*")
step "A root of Debian unstable with $kokkos"
if ! mmdebstrap "${options[@]}" unstable /dev/null "$mirror" 2>&1 | tee "$work/log"; then
  grep -q '^The root is ready' "$work/log" && fail "granary does not build or run there"
  skip "mmdebstrap could not make the root: $(sed -n 's/^E: //p' "$work/log" | head -n 1)"
fi
