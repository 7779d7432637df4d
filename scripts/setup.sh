# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
# Sourced by demo.sh, test.sh and .ci/run: installs missing packages, configures and builds in build/. Each step does
# nothing if there is nothing to do.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=build

# Debian's names. Kokkos 3.4.1 is part of Trilinos; libkokkos-dev is used where only that is packaged.
build_packages=(g++ cmake make ninja-build pkg-config libhwloc-dev libhdf5-dev libopenblas-pthread-dev liburing-dev
  libfmt-dev libspdlog-dev nlohmann-json3-dev libcli11-dev coinor-libclp-dev)
test_packages=(libgtest-dev libgmock-dev python3-minimal python3-h5py python3-matplotlib
  doxygen mkdocs mkdocs-material help2man man-db libopenmpi-dev openmpi-bin libmpich-dev mpich)
kokkos_packages=(libtrilinos-kokkos-dev libtrilinos-kokkos-kernels-dev)

step() { printf '== %s\n' "$*"; }
fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

# run_logged LOG COMMAND...: writes the output to build/LOG; shows its last line on a terminal, and its end on failure.
run_logged() {
  local log="$build/$1" status=0
  shift
  mkdir -p "$build"
  if [[ -t 1 ]]; then
    "$@" >"$log" 2>&1 </dev/null &
    local pid=$!
    while kill -0 "$pid" 2>/dev/null; do
      printf '\r\033[K   %.70s' "$(tail -c 400 "$log" | tail -n 1)"
      sleep 0.5
    done
    printf '\r\033[K'
    wait "$pid" || status=$?
  else
    "$@" >"$log" 2>&1 </dev/null || status=$?
  fi
  if ((status != 0)); then
    tail -n 40 "$log" >&2
    printf '\nfailed: %s\nThe whole log is in %s\n' "$*" "$log" >&2
  fi
  return "$status"
}

installed() { [[ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]; }

# missing_packages PACKAGE...: prints those that are not installed, one per line.
missing_packages() {
  local package
  for package in "$@"; do
    case "$package" in
      g++ | cmake | make) command -v "$package" >/dev/null || echo "$package" ;;
      ninja-build) command -v ninja >/dev/null || echo "$package" ;;
      pkg-config) command -v pkg-config >/dev/null || echo "$package" ;;
      *) installed "$package" || echo "$package" ;;
    esac
  done
}

# wanted_kokkos: the packages of Kokkos to install; none if the user provides a Kokkos (Kokkos_ROOT or Kokkos_DIR) or
# has libkokkos-dev.
wanted_kokkos() {
  if [[ -n "${Kokkos_ROOT:-}${Kokkos_DIR:-}" ]] || installed libkokkos-dev; then return; fi
  printf '%s\n' "${kokkos_packages[@]}"
}

# install_packages PACKAGE...: installs missing ones, or prints their names.
install_packages() {
  local missing as_root=()
  mapfile -t missing < <(missing_packages "$@")
  if ((${#missing[@]} == 0)); then return; fi
  if [[ "$(id -u)" != 0 ]]; then
    if ! sudo -n true 2>/dev/null; then
      fail "Some packages are missing. Install them with
  sudo apt-get install --no-install-recommends ${missing[*]}
and run this command again."
    fi
    as_root=(sudo -n)
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive)
  local apt=("${as_root[@]}" apt-get -o DPkg::Lock::Timeout=300)
  step "Installing ${#missing[@]} packages: ${missing[*]}"
  run_logged apt-update.log "${apt[@]}" update || step "The package index could not be updated; using the old one"
  local kokkos=${kokkos_packages[0]}
  if [[ " ${missing[*]} " == *" $kokkos "* && -z "$(apt-cache madison "$kokkos" 2>/dev/null)" ]]; then
    local kept=() package
    for package in "${missing[@]}"; do [[ "$package" == libtrilinos-* ]] || kept+=("$package"); done
    missing=("${kept[@]}" libkokkos-dev)
  fi
  if [[ " ${missing[*]} " == *" $kokkos "* && -n "$(apt-cache madison libkokkos-dev 2>/dev/null)" ]]; then
    step "Kokkos 3.4.1, with which the tasks of applications that launch Kokkos kernels run one at a time; this system also
   has libkokkos-dev, which is newer: install it and remove $build/, if you write such tasks (docs/kokkos.md)"
  fi
  run_logged apt-install.log "${apt[@]}" install -y --no-install-recommends "${missing[@]}"
}

# set_up PACKAGE...: packages to install before configuring.
set_up() {
  packages=("$@")
  mapfile -t -O "${#packages[@]}" packages < <(wanted_kokkos)
  if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then install_packages "${packages[@]}"; fi
}

# configure OPTION...: configures build/ unless it is configured; later changes are handled by CMake.
configure() {
  local generator=()
  if [[ ! -f $build/CMakeCache.txt ]] && command -v ninja >/dev/null; then generator=(-G Ninja); fi
  step "Configuring in $build/"
  # Everything is built, so a unity build takes a third of the time.
  if ! run_logged configure.log cmake -S . -B "$build" "${generator[@]}" -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=16 "$@"; then
    command -v apt-get >/dev/null || fail "granary needs the software in these Debian packages; install the equivalents for this system:
  ${packages[*]}"
    exit 1
  fi
}

# tell_old_kokkos: says so if the Kokkos of build/ runs the bodies of an application one at a time.
tell_old_kokkos() {
  local version
  version=$(sed -nE 's/^GRANARY_KOKKOS_VERSION:INTERNAL=//p' $build/CMakeCache.txt)
  [[ "$version" != 3.* ]] ||
    step "This is Kokkos $version. The programs and linear algebra run at full speed with it, but your own tasks that launch
   Kokkos kernels run one at a time: scripts/kokkos.sh builds a newer Kokkos (docs/kokkos.md)"
}

# build_targets NAME TARGET...
build_targets() {
  local name=$1
  shift
  step "Building $name (log in $build/build.log)"
  run_logged build.log cmake --build "$build" --parallel "$(nproc)" --target "$@"
}
