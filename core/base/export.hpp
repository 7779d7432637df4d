// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// On types and functions that other libraries use: layers are compiled with hidden visibility.
#define GRANARY_EXPORT __attribute__((visibility("default")))
