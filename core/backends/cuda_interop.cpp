// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/core/backends/vendor_api.hpp>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>

static_assert(CUDART_VERSION >= 12000, "granary needs CUDA 12 or newer");

namespace granary::detail {

namespace {

// The functions of a vendor's runtime that VendorApi needs; hip_interop.cpp has the same ones in the same order.
struct Runtime {
  using Status = cudaError_t;
  using Stream = cudaStream_t;
  using Event = cudaEvent_t;
  using Instance = DeviceExecutionSpace;

  static constexpr char const* label = "CUDA";
  static constexpr Status success = cudaSuccess;
  static constexpr Status not_ready = cudaErrorNotReady;
  static constexpr Status peer_access_already_enabled = cudaErrorPeerAccessAlreadyEnabled;

  static char const* text(Status status) { return cudaGetErrorString(status); }
  static char const* error_name(Status status) { return cudaGetErrorName(status); }
  static Status last_error() { return cudaGetLastError(); }
  // True if the context is broken: every later call fails with the same error, and the memory's content is lost.
  static bool is_lost(Status status) {
    switch (status) {
      case cudaErrorDevicesUnavailable:
      case cudaErrorECCUncorrectable:
      case cudaErrorNvlinkUncorrectable:
      case cudaErrorIllegalAddress:
      case cudaErrorLaunchTimeout:
      case cudaErrorContextIsDestroyed:
      case cudaErrorAssert:
      case cudaErrorHardwareStackError:
      case cudaErrorIllegalInstruction:
      case cudaErrorMisalignedAddress:
      case cudaErrorInvalidAddressSpace:
      case cudaErrorInvalidPc:
      case cudaErrorLaunchFailure:
      case cudaErrorExternalDevice:
      case cudaErrorUnknown:
        return true;
      default:
        return false;
    }
  }

  static Status version(int* number) { return cudaRuntimeGetVersion(number); }
  static std::string version_text(int number) {
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
  }
  static Status device_count(int* count) { return cudaGetDeviceCount(count); }
  static Status current_device(int* device) { return cudaGetDevice(device); }
  static Status set_device(int device) { return cudaSetDevice(device); }
  // True if the process has a context on the device. cudaSetDevice would create one.
  static bool in_use(int device) {
    unsigned flags = 0;
    int active = 1;
    CUdevice of = 0;
    if (cuDeviceGet(&of, device) == CUDA_SUCCESS) static_cast<void>(cuDevicePrimaryCtxGetState(of, &flags, &active));
    return active != 0;
  }
  static Status describe(int device, DeviceProperties& properties) {
    cudaDeviceProp found{};
    std::array<char, 32> bus{};
    if (auto const status = cudaGetDeviceProperties(&found, device); status != success) return status;
    if (auto const status = cudaDeviceGetPCIBusId(bus.data(), bus.size(), device); status != success) return status;
    properties.name = found.name;
    properties.architecture = "sm_" + std::to_string(found.major) + std::to_string(found.minor);
    properties.bus = bus.data();
    properties.memory = found.totalGlobalMem;
    return success;
  }

  static Status memory(std::size_t* free, std::size_t* total) { return cudaMemGetInfo(free, total); }
  static Status allocate(void** memory, Bytes bytes) { return cudaMalloc(memory, bytes); }
  static Status free(void* memory) { return cudaFree(memory); }
  static Status allocate_pinned(void** memory, Bytes bytes) {
    return cudaHostAlloc(memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
  }
  static Status free_pinned(void* memory) { return cudaFreeHost(memory); }
  static Status pin(void* memory, Bytes bytes) {
    return cudaHostRegister(memory, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped);
  }
  static Status unpin(void* memory) { return cudaHostUnregister(memory); }
  static bool is_pinned(void const* memory) {
    cudaPointerAttributes found{};
    if (cudaPointerGetAttributes(&found, memory) == success) return found.type == cudaMemoryTypeHost;
    static_cast<void>(last_error());
    return false;
  }
  static int holder_of(void const* memory) {
    cudaPointerAttributes found{};
    if (cudaPointerGetAttributes(&found, memory) == success) {
      return found.type == cudaMemoryTypeDevice ? found.device : host_end;
    }
    static_cast<void>(last_error());
    return host_end;
  }
  static Status can_access_peer(int* can, int device, int peer) { return cudaDeviceCanAccessPeer(can, device, peer); }
  static Status enable_peer_access(int peer) { return cudaDeviceEnablePeerAccess(peer, 0); }

  static Status make_stream(Stream* stream) { return cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking); }
  static Status synchronize(Stream stream) { return cudaStreamSynchronize(stream); }
  static Status destroy_stream(Stream stream) { return cudaStreamDestroy(stream); }
  static Instance make_instance(Stream stream) { return make_device_instance(stream); }
  static Stream stream_of(Instance const& instance) { return instance.cuda_stream(); }
  static int device_of(Instance const& instance) { return instance.cuda_device(); }
  static Status make_event(Event* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
  static Status destroy_event(Event event) { return cudaEventDestroy(event); }
  static Status record(Event event, Stream stream) { return cudaEventRecord(event, stream); }
  static Status query(Event event) { return cudaEventQuery(event); }
  static Status elapsed(float* milliseconds, Event first, Event last) {
    return cudaEventElapsedTime(milliseconds, first, last);
  }

  static cudaMemcpyKind kind(DeviceCopy::Direction direction) {
    switch (direction) {
      case DeviceCopy::Direction::ToDevice:
        return cudaMemcpyHostToDevice;
      case DeviceCopy::Direction::ToHost:
        return cudaMemcpyDeviceToHost;
      default:
        return cudaMemcpyDefault;
    }
  }
  static Status copy(void* to, void const* from, Bytes bytes, DeviceCopy::Direction direction, Stream stream) {
    return cudaMemcpyAsync(to, from, bytes, kind(direction), stream);
  }
  static Status copy_peer(void* to, int to_device, void const* from, int from_device, Bytes bytes, Stream stream) {
    return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream);
  }
  static Status copy_lines(DeviceCopy const& copy, Stream stream) {
    return cudaMemcpy2DAsync(copy.destination, copy.destination_pitch, copy.source, copy.source_pitch, copy.line,
                             copy.lines, kind(copy.direction), stream);
  }
  static Status clear(void* memory, Bytes bytes, Stream stream) { return cudaMemsetAsync(memory, 0, bytes, stream); }
};

}  // namespace

std::shared_ptr<DeviceApi> make_vendor_api(std::string* problem) {
  return std::make_shared<VendorApi<Runtime>>(problem);
}

char const* vendor_backend() { return Runtime::label; }

}  // namespace granary::detail
