// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/distributed/transports/processes.hpp>
#include <granary/detail/runtime/setup/options.hpp>

#include <functional>
#include <memory>
#include <string>

#include "apps/common/program.hpp"

namespace granary::app {

/// For a program that a launcher (mpirun, srun) may start several times: MPI is initialised then, and these are the
/// processes of one run. Chooses BLAS first, see choose_blas. An error is printed once. Throws InvalidArgument if there
/// are several, and the program was built without MPI.
[[nodiscard]] ProgramHooks process_hooks(char** argv);

/// Null without other processes.
[[nodiscard]] std::shared_ptr<detail::Processes> processes();
/// Prints what concerns the run as a whole.
[[nodiscard]] bool is_first_process();

/// The result of `function` in the first process. Collective.
[[nodiscard]] std::string by_first_process(std::function<std::string()> const& function);
/// Throws InvalidArgument unless `ours`, a noun with its numbers, is the same text in all processes; `why` ends the
/// sentence. Collective.
void require_common(std::string const& ours, std::string const& why);
/// Calls it in each process; all throw what one throws. Collective.
void in_all_processes(std::function<void()> const& function);
/// `out.json` for the first process, `out.3.json` for process 3.
[[nodiscard]] std::string own_file(std::string const& file);
/// The options of this process on its node; see share_node.
[[nodiscard]] RuntimeOptions on_this_node(RuntimeOptions const& options);

}  // namespace granary::app
