// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/outofcore/io_engine_choice.hpp>

#include <string>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/outofcore/io_engines.hpp>

namespace granary::detail {

std::shared_ptr<AsyncFileIo> make_async_file_io(IoOptions const& options) {
  if (options.queue_depth < 1 || options.queue_depth > 1024) {
    throw InvalidArgument("the I/O queue depth must be between 1 and 1024, not " + std::to_string(options.queue_depth));
  }
  if (options.piece_bytes == 0 || options.piece_bytes % io_alignment != 0 || options.piece_bytes > 1_GiB) {
    throw InvalidArgument("an I/O piece must be a multiple of 4096 bytes up to 1 GiB, not " +
                          std::to_string(options.piece_bytes) + " bytes");
  }
  if (options.engine != IoEngine::ThreadPool) {
    if (auto io = make_uring_io(options)) return io;
    if (options.engine == IoEngine::Uring) throw InvalidArgument("io_uring is not available here");
  }
  return make_thread_pool_io(options);
}

}  // namespace granary::detail
