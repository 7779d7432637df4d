// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/core/backends/vendor_api.hpp>

#include <hip/hip_runtime_api.h>

#include <array>

namespace granary::detail {

namespace {

// The functions of a vendor's runtime that VendorApi needs; cuda_interop.cpp has the same ones in the same order.
struct Runtime {
  using Status = hipError_t;
  using Stream = hipStream_t;
  using Event = hipEvent_t;
  using Instance = DeviceExecutionSpace;

  static constexpr char const* label = "HIP";
  static constexpr Status success = hipSuccess;
  static constexpr Status not_ready = hipErrorNotReady;
  static constexpr Status peer_access_already_enabled = hipErrorPeerAccessAlreadyEnabled;

  static char const* text(Status status) { return hipGetErrorString(status); }
  static char const* error_name(Status status) { return hipGetErrorName(status); }
  static Status last_error() { return hipGetLastError(); }
  // True if the context is broken: every later call fails with the same error, and the memory's content is lost.
  static bool is_lost(Status status) {
    switch (status) {
      case hipErrorDeinitialized:
      case hipErrorECCNotCorrectable:
      case hipErrorIllegalAddress:
      case hipErrorLaunchTimeOut:
      case hipErrorContextIsDestroyed:
      case hipErrorAssert:
      case hipErrorLaunchFailure:
      case hipErrorUnknown:
        return true;
      default:
        return false;
    }
  }

  static Status version(int* number) { return hipRuntimeGetVersion(number); }
  static std::string version_text(int number) {
    return std::to_string(number / 10000000) + "." + std::to_string(number / 100000 % 100);
  }
  static Status device_count(int* count) { return hipGetDeviceCount(count); }
  static Status current_device(int* device) { return hipGetDevice(device); }
  static Status set_device(int device) { return hipSetDevice(device); }
  static bool in_use(int) { return true; }  // hipSetDevice allocates nothing on a device
  static Status describe(int device, DeviceProperties& properties) {
    hipDeviceProp_t found{};
    std::array<char, 32> bus{};
    if (auto const status = hipGetDeviceProperties(&found, device); status != success) return status;
    if (auto const status = hipDeviceGetPCIBusId(bus.data(), bus.size(), device); status != success) return status;
    properties.name = found.name;
    std::string const architecture = found.gcnArchName;  // "gfx90a:sramecc+:xnack-"
    properties.architecture = architecture.substr(0, architecture.find(':'));
    properties.bus = bus.data();
    properties.memory = found.totalGlobalMem;
    return success;
  }

  static Status memory(std::size_t* free, std::size_t* total) { return hipMemGetInfo(free, total); }
  static Status allocate(void** memory, Bytes bytes) { return hipMalloc(memory, bytes); }
  static Status free(void* memory) { return hipFree(memory); }
  static Status allocate_pinned(void** memory, Bytes bytes) {
    return hipHostMalloc(memory, bytes, hipHostMallocPortable | hipHostMallocMapped);
  }
  static Status free_pinned(void* memory) { return hipHostFree(memory); }
  static Status pin(void* memory, Bytes bytes) {
    return hipHostRegister(memory, bytes, hipHostRegisterPortable | hipHostRegisterMapped);
  }
  static Status unpin(void* memory) { return hipHostUnregister(memory); }
  static bool is_pinned(void const* memory) {
    hipPointerAttribute_t found{};
    if (hipPointerGetAttributes(&found, memory) == success) {
#if HIP_VERSION_MAJOR >= 6
      return found.type == hipMemoryTypeHost;
#else
      return found.memoryType == hipMemoryTypeHost;
#endif
    }
    static_cast<void>(last_error());
    return false;
  }
  static int holder_of(void const* memory) {
    hipPointerAttribute_t found{};
    if (hipPointerGetAttributes(&found, memory) == success) {
#if HIP_VERSION_MAJOR >= 6
      return found.type == hipMemoryTypeDevice ? found.device : host_end;
#else
      return found.memoryType == hipMemoryTypeDevice ? found.device : host_end;
#endif
    }
    static_cast<void>(last_error());
    return host_end;
  }
  static Status can_access_peer(int* can, int device, int peer) { return hipDeviceCanAccessPeer(can, device, peer); }
  static Status enable_peer_access(int peer) { return hipDeviceEnablePeerAccess(peer, 0); }

  static Status make_stream(Stream* stream) { return hipStreamCreateWithFlags(stream, hipStreamNonBlocking); }
  static Status synchronize(Stream stream) { return hipStreamSynchronize(stream); }
  static Status destroy_stream(Stream stream) { return hipStreamDestroy(stream); }
  static Instance make_instance(Stream stream) { return make_device_instance(stream); }
  static Stream stream_of(Instance const& instance) { return instance.hip_stream(); }
  static int device_of(Instance const& instance) { return instance.hip_device(); }
  static Status make_event(Event* event) { return hipEventCreateWithFlags(event, hipEventDefault); }
  static Status destroy_event(Event event) { return hipEventDestroy(event); }
  static Status record(Event event, Stream stream) { return hipEventRecord(event, stream); }
  static Status query(Event event) { return hipEventQuery(event); }
  static Status elapsed(float* milliseconds, Event first, Event last) {
    return hipEventElapsedTime(milliseconds, first, last);
  }

  static hipMemcpyKind kind(DeviceCopy::Direction direction) {
    switch (direction) {
      case DeviceCopy::Direction::ToDevice:
        return hipMemcpyHostToDevice;
      case DeviceCopy::Direction::ToHost:
        return hipMemcpyDeviceToHost;
      default:
        return hipMemcpyDefault;
    }
  }
  static Status copy(void* to, void const* from, Bytes bytes, DeviceCopy::Direction direction, Stream stream) {
    return hipMemcpyAsync(to, from, bytes, kind(direction), stream);
  }
  static Status copy_peer(void* to, int to_device, void const* from, int from_device, Bytes bytes, Stream stream) {
    return hipMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream);
  }
  static Status copy_lines(DeviceCopy const& copy, Stream stream) {
    return hipMemcpy2DAsync(copy.destination, copy.destination_pitch, copy.source, copy.source_pitch, copy.line,
                            copy.lines, kind(copy.direction), stream);
  }
  static Status clear(void* memory, Bytes bytes, Stream stream) { return hipMemsetAsync(memory, 0, bytes, stream); }
};

}  // namespace

std::shared_ptr<DeviceApi> make_vendor_api(std::string* problem) {
  return std::make_shared<VendorApi<Runtime>>(problem);
}

char const* vendor_backend() { return Runtime::label; }

}  // namespace granary::detail
