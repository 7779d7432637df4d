#!/usr/bin/env bash
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds and installs a Kokkos for granary from a source tree or a tarball (.tar, .tar.gz, .tar.xz, .tar.bz2, .zip):
#   scripts/kokkos.sh SOURCE PREFIX [-DOPTION=VALUE...]
# SOURCE: a release of Kokkos, 4.0 or newer, which you have downloaded. PREFIX: where to install it, a folder that does
# not exist yet. Further arguments go to Kokkos' CMake, such as -DKokkos_ENABLE_CUDA=ON -DKokkos_ARCH_HOPPER90=ON. It has
# the backends Serial and OpenMP unless they say otherwise. Nothing is downloaded. Takes a minute or two on two cores.
set -euo pipefail

fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

(($# >= 2)) || fail "usage: scripts/kokkos.sh SOURCE PREFIX [-DOPTION=VALUE...] (SOURCE: a tree or a tarball of Kokkos)"
source=$1
prefix=$(realpath -m "$2")
shift 2
for option in "$@"; do
  [[ "$option" == -D*=* ]] || fail "'$option' is not an option of CMake: write -DOPTION=VALUE"
done
[[ -e "$source" ]] || fail "there is no source of Kokkos at '$source'"
[[ ! -e "$prefix" ]] || fail "'$prefix' exists: name a folder that does not, so that two versions of Kokkos cannot mix"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [[ -d "$source" ]]; then
  tree=$(realpath "$source")
else
  mkdir "$work/source"
  case "$source" in
    *.zip) unzip -q "$source" -d "$work/source" 2>/dev/null || fail "'$source' cannot be unpacked" ;;
    *) tar -xf "$source" -C "$work/source" 2>/dev/null || fail "'$source' cannot be unpacked" ;;
  esac
  tree=$(dirname "$(find "$work/source" -maxdepth 2 -name CMakeLists.txt -print -quit)")
fi
header="$tree/core/src/Kokkos_Core.hpp"
[[ -f "$header" ]] || fail "'$source' is no source of Kokkos: it has no core/src/Kokkos_Core.hpp"
number() { sed -nE "s/^set\(Kokkos_VERSION_$1 ([0-9]+)\).*/\1/p" "$tree/CMakeLists.txt" | head -n 1; }
version="$(number MAJOR).$(number MINOR).$(number PATCH)"
[[ "$version" =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "the version of Kokkos in '$source' cannot be read from its CMakeLists.txt"
((${version%%.*} >= 4)) || fail "'$source' is Kokkos $version; 4.0 or newer runs the bodies of several tasks at the same time"

generator=()
if command -v ninja >/dev/null; then generator=(-G Ninja); fi
printf '== Building Kokkos %s for %s\n' "$version" "$prefix"
log="$work/log"
build() {
  cmake -S "$tree" -B "$work/build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=20 \
    -DCMAKE_CXX_EXTENSIONS=OFF -DBUILD_SHARED_LIBS=ON -DKokkos_ENABLE_SERIAL=ON -DKokkos_ENABLE_OPENMP=ON \
    -DCMAKE_INSTALL_PREFIX="$prefix" "$@" &&
    cmake --build "$work/build" --parallel "$(nproc)" && cmake --install "$work/build"
}
if ! build "$@" >"$log" 2>&1; then
  tail -n 30 "$log" >&2
  rm -rf "$prefix"
  fail "Kokkos $version was not built: the last lines of its build are above"
fi
printf '== Kokkos %s is in %s. Build granary with it in a new folder:\n   rm -rf build && Kokkos_ROOT=%s ./demo.sh\n' \
  "$version" "$prefix" "$prefix"
