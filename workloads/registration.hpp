// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/workloads/workload.hpp>

#include <string>
#include <utility>

namespace granary::detail {

/// A datum that starts and ends at `home`.
DataId add_home_data(Submitter& submitter, DataHome home, std::string name, Bytes bytes, MatrixPosition position = {});
/// A datum without a first value that ends at `home`.
DataId add_result_data(Submitter& submitter, DataHome home, std::string name, Bytes bytes);
/// A datum that is nowhere before it is written, nor after it is released.
DataId add_temporary_data(Submitter& submitter, std::string name, Bytes bytes);

/// Adds every codelet for workers of any kind, without a body, as the function below does, and passes everything else
/// on: an algorithm of linalg becomes a workload.
class AnyWorkerSubmitter final : public Submitter {
 public:
  explicit AnyWorkerSubmitter(Submitter& submitter) : m_submitter(submitter) {}
  CodeletId add_codelet(Codelet codelet) override;
  DataId add_data(DataDescription description) override { return m_submitter.add_data(std::move(description)); }
  void release_data(DataId data) override { m_submitter.release_data(data); }
  TaskId submit(TaskSubmission const& submission, Parameters parameters) override {
    return m_submitter.submit(submission, std::move(parameters));
  }

 private:
  Submitter& m_submitter;
};

enum class RunsOn { Any, CpuOnly, DeviceOnly };
/// A codelet without a body: its kernels throw InvalidArgument. Workloads are there to be scheduled, not computed.
CodeletId add_codelet(Submitter& submitter, std::string name, std::string variant, RunsOn runs_on = RunsOn::Any);

}  // namespace granary::detail
