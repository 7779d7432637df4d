// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The results of a run: its statistics, and its trace as a file or as a page (docs/traces.md).
#include <granary/detail/core/engine/statistics.hpp>
#include <granary/detail/trace/html_report.hpp>
#include <granary/detail/trace/process_traces.hpp>
#include <granary/detail/trace/trace_file.hpp>
