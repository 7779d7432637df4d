// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error: name the data that the work uses: read(x), write(x) or read_write(x)
#include "../program.hpp"

void wrong() {
  runtime.submit_outside("receive", [] { return true; });
}
