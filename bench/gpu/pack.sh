#!/usr/bin/env bash
# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# bench/gpu/pack.sh BUILD FOLDER: copies the programs of bench/gpu/gpu.py, and their libraries except the C library and
# the vendor's own, into FOLDER: `gpu.py --build FOLDER` on a machine with a GPU and the vendor's libraries.
set -euo pipefail
if (($# != 2)) || [[ ! -x $1/bin/gpu_bench || ! -x $1/tests/bin/test_device ]]; then
  echo "usage: bench/gpu/pack.sh BUILD FOLDER, where BUILD has gpu_bench and test_device" >&2
  exit 2
fi
mkdir -p "$2"/{bin,tests/bin,lib}
for program in bin/gpu_bench tests/bin/test_device tests/bin/test_device_kernels; do
  cp "$1/$program" "$2/$program"
  ldd "$1/$program"
done | awk '/=> \// { print $3 }' | sort -u |
  grep -vE '/lib(c|m|dl|rt|pthread|resolv|cuda|cudart|cublas|cublasLt|cusolver|cusparse|nvJitLink|amdhip64|hsa-runtime64|roc[a-z]+)\.so' |
  while read -r library; do cp -L "$library" "$2/lib/"; done
strip --strip-unneeded "$2"/bin/* "$2"/tests/bin/* "$2"/lib/*
du -sh "$2"
