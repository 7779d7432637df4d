// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/workloads/workload.hpp>

#include <string>
#include <utility>

namespace granary::detail {

/// A datum whose origin and home are `home`.
DataId add_home_data(Submitter& submitter, workloads::DataHome home, std::string name, Bytes bytes,
                     MatrixPosition position = {});
/// A datum without an origin, with the home `home`.
DataId add_result_data(Submitter& submitter, workloads::DataHome home, std::string name, Bytes bytes);
/// A temporary datum: without origin and home.
DataId add_temporary_data(Submitter& submitter, std::string name, Bytes bytes, MatrixPosition position = {});

/// Adds every codelet without a body for workers of any kind, like the function below, and forwards everything else: an
/// algorithm of linalg becomes a workload.
class AnyWorkerSubmitter final : public Submitter {
 public:
  explicit AnyWorkerSubmitter(Submitter& submitter) : m_submitter(submitter) {}
  CodeletId add_codelet(Codelet codelet) override;
  DataId add_data(DataDescription description) override { return m_submitter.add_data(std::move(description)); }
  void release_data(DataId data) override { m_submitter.release_data(data); }
  void last_use(DataId data) override { m_submitter.last_use(data); }
  TaskId submit(TaskSubmission const& submission, Parameters parameters) override {
    return m_submitter.submit(submission, std::move(parameters));
  }

 private:
  Submitter& m_submitter;
};

enum class RunsOn { Any, CpuOnly, DeviceOnly };
/// A codelet without a body: its kernels throw InvalidArgument. Workloads are only scheduled, not computed.
CodeletId add_codelet(Submitter& submitter, std::string name, std::string variant, RunsOn runs_on = RunsOn::Any);

}  // namespace granary::detail
