// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/outofcore/scratch_storage.hpp>

#include <utility>

namespace granary::detail {

ScratchStorage::ScratchStorage(std::shared_ptr<AsyncFileIo> io, std::string const& directory)
    : m_io(std::move(io)), m_file(File::create_unlinked(directory)) {}

void ScratchStorage::read_async(std::uint64_t slot, std::byte* destination, Bytes bytes, IoCompletion done) {
  m_io->read(m_file, slot, destination, round_up(bytes, io_alignment), std::move(done));
}

void ScratchStorage::write_async(std::uint64_t slot, std::byte const* source, Bytes bytes, IoCompletion done) {
  m_io->write(m_file, slot, source, round_up(bytes, io_alignment), std::move(done));
}

std::string ScratchStorage::describe(std::uint64_t slot) const {
  return "byte " + std::to_string(slot) + " of " + m_file->name();
}

}  // namespace granary::detail
