// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/workloads/workload.hpp>

#include <string>

namespace granary::detail {

/// A datum that starts and ends at `home`.
DataId add_home_data(Submitter& submitter, DataHome home, std::string name, Bytes bytes);
/// A datum without a first value that ends at `home`.
DataId add_result_data(Submitter& submitter, DataHome home, std::string name, Bytes bytes);
/// A datum that is nowhere before it is written, nor after it is released.
DataId add_temporary_data(Submitter& submitter, std::string name, Bytes bytes);

enum class RunsOn { Any, CpuOnly, DeviceOnly };
/// A codelet without a body: its kernels throw InvalidArgument. Workloads are there to be scheduled, not computed.
CodeletId add_codelet(Submitter& submitter, std::string name, std::string variant, RunsOn runs_on = RunsOn::Any);

}  // namespace granary::detail
