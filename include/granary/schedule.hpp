// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Schedules as files: recording, reading and following them (docs/schedules.md).
#include <granary/detail/core/policy/model_names.hpp>
#include <granary/detail/schedules/recorder/schedule_recorder.hpp>
#include <granary/detail/schedules/schedule.hpp>
#include <granary/detail/schedules/signatures.hpp>
