// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/vendor_api.hpp>

#include <granary/detail/core/backends/kokkos_compat.hpp>
#include <granary/detail/core/backends/vendor_names.hpp>

#if defined(GRANARY_HAVE_CUDA)
#include <cuda.h>
#endif

#include <array>

namespace granary::detail {

namespace {

#if defined(GRANARY_HAVE_CUDA)
using Properties = cudaDeviceProp;
using PointerAttributes = cudaPointerAttributes;

constexpr char const* vendor_label = "CUDA";

// Every error of a broken context: each later call fails with the same one, and the memory's content is lost.
constexpr std::array lost_errors{cudaErrorDevicesUnavailable,
                                 cudaErrorECCUncorrectable,
                                 cudaErrorNvlinkUncorrectable,
                                 cudaErrorIllegalAddress,
                                 cudaErrorLaunchTimeout,
                                 cudaErrorContextIsDestroyed,
                                 cudaErrorAssert,
                                 cudaErrorHardwareStackError,
                                 cudaErrorIllegalInstruction,
                                 cudaErrorMisalignedAddress,
                                 cudaErrorInvalidAddressSpace,
                                 cudaErrorInvalidPc,
                                 cudaErrorLaunchFailure,
                                 cudaErrorExternalDevice,
                                 cudaErrorUnknown};

std::string version_of(int number) { return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10); }
std::string architecture_of(Properties const& found) {
  return "sm_" + std::to_string(found.major) + std::to_string(found.minor);
}
// cudaSetDevice would create a context on the device.
bool has_context(int device) {
  unsigned flags = 0;
  int active = 1;
  CUdevice of = 0;
  if (cuDeviceGet(&of, device) == CUDA_SUCCESS) static_cast<void>(cuDevicePrimaryCtxGetState(of, &flags, &active));
  return active != 0;
}
auto type_of(PointerAttributes const& found) { return found.type; }

cudaError_t allocate_host(void** memory, Bytes bytes) {
  return cudaHostAlloc(memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
}
cudaError_t free_host(void* memory) { return cudaFreeHost(memory); }
cudaStream_t stream_in(DeviceExecutionSpace const& instance) { return instance.cuda_stream(); }
int device_in(DeviceExecutionSpace const& instance) { return instance.cuda_device(); }
#else
using Properties = hipDeviceProp_t;
using PointerAttributes = hipPointerAttribute_t;

constexpr char const* vendor_label = "HIP";

constexpr std::array lost_errors{hipErrorDeinitialized,      hipErrorECCNotCorrectable,
                                 hipErrorIllegalAddress,     hipErrorLaunchTimeOut,
                                 hipErrorContextIsDestroyed, hipErrorAssert,
                                 hipErrorLaunchFailure,      hipErrorUnknown};

std::string version_of(int number) {
  return std::to_string(number / 10000000) + "." + std::to_string(number / 100000 % 100);
}
// Of "gfx90a:sramecc+:xnack-".
std::string architecture_of(Properties const& found) {
  std::string const name = found.gcnArchName;
  return name.substr(0, name.find(':'));
}
bool has_context(int) { return true; }  // hipSetDevice allocates nothing on a device
auto type_of(PointerAttributes const& found) {
#if HIP_VERSION_MAJOR >= 6
  return found.type;
#else
  return found.memoryType;
#endif
}

hipError_t allocate_host(void** memory, Bytes bytes) {
  return hipHostMalloc(memory, bytes, hipHostMallocPortable | hipHostMallocMapped);
}
hipError_t free_host(void* memory) { return hipHostFree(memory); }
hipStream_t stream_in(DeviceExecutionSpace const& instance) { return instance.hip_stream(); }
int device_in(DeviceExecutionSpace const& instance) { return instance.hip_device(); }
#endif

// The functions of a vendor's runtime that VendorApi needs.
struct Runtime {
  using Status = GRANARY_GPU(Error_t);
  using Stream = GRANARY_GPU(Stream_t);
  using Event = GRANARY_GPU(Event_t);
  using Instance = DeviceExecutionSpace;

  static constexpr char const* label = vendor_label;
  static constexpr Status success = GRANARY_GPU(Success);
  static constexpr Status not_ready = GRANARY_GPU(ErrorNotReady);
  static constexpr Status peer_access_already_enabled = GRANARY_GPU(ErrorPeerAccessAlreadyEnabled);

  static char const* text(Status status) { return GRANARY_GPU(GetErrorString)(status); }
  static char const* error_name(Status status) { return GRANARY_GPU(GetErrorName)(status); }
  static Status last_error() { return GRANARY_GPU(GetLastError)(); }
  static bool is_lost(Status status) { return std::ranges::find(lost_errors, status) != lost_errors.end(); }

  static Status version(int* number) { return GRANARY_GPU(RuntimeGetVersion)(number); }
  static std::string version_text(int number) { return version_of(number); }
  static Status device_count(int* count) { return GRANARY_GPU(GetDeviceCount)(count); }
  static Status current_device(int* device) { return GRANARY_GPU(GetDevice)(device); }
  static Status set_device(int device) { return GRANARY_GPU(SetDevice)(device); }
  // True if the process has a context on the device.
  static bool in_use(int device) { return has_context(device); }
  static Status describe(int device, DeviceProperties& properties) {
    Properties found{};
    std::array<char, 32> bus{};
    if (auto const status = GRANARY_GPU(GetDeviceProperties)(&found, device); status != success) return status;
    if (auto const status = GRANARY_GPU(DeviceGetPCIBusId)(bus.data(), bus.size(), device); status != success) {
      return status;
    }
    properties.name = found.name;
    properties.architecture = architecture_of(found);
    properties.bus = bus.data();
    properties.memory = found.totalGlobalMem;
    return success;
  }

  static Status memory(std::size_t* free, std::size_t* total) { return GRANARY_GPU(MemGetInfo)(free, total); }
  static Status allocate(void** memory, Bytes bytes) { return GRANARY_GPU(Malloc)(memory, bytes); }
  static Status free(void* memory) { return GRANARY_GPU(Free)(memory); }
  static Status allocate_pinned(void** memory, Bytes bytes) { return allocate_host(memory, bytes); }
  static Status free_pinned(void* memory) { return free_host(memory); }
  static Status pin(void* memory, Bytes bytes) {
    return GRANARY_GPU(HostRegister)(memory, bytes,
                                     GRANARY_GPU(HostRegisterPortable) | GRANARY_GPU(HostRegisterMapped));
  }
  static Status unpin(void* memory) { return GRANARY_GPU(HostUnregister)(memory); }
  static bool is_pinned(void const* memory) {
    PointerAttributes found{};
    if (GRANARY_GPU(PointerGetAttributes)(&found, memory) == success) {
      return type_of(found) == GRANARY_GPU(MemoryTypeHost);
    }
    static_cast<void>(last_error());
    return false;
  }
  static int holder_of(void const* memory) {
    PointerAttributes found{};
    if (GRANARY_GPU(PointerGetAttributes)(&found, memory) == success) {
      return type_of(found) == GRANARY_GPU(MemoryTypeDevice) ? found.device : host_end;
    }
    static_cast<void>(last_error());
    return host_end;
  }
  static Status can_access_peer(int* can, int device, int peer) {
    return GRANARY_GPU(DeviceCanAccessPeer)(can, device, peer);
  }
  static Status enable_peer_access(int peer) { return GRANARY_GPU(DeviceEnablePeerAccess)(peer, 0); }

  static Status make_stream(Stream* stream) {
    return GRANARY_GPU(StreamCreateWithFlags)(stream, GRANARY_GPU(StreamNonBlocking));
  }
  static Status synchronize(Stream stream) { return GRANARY_GPU(StreamSynchronize)(stream); }
  static Status destroy_stream(Stream stream) { return GRANARY_GPU(StreamDestroy)(stream); }
  static Instance make_instance(Stream stream) { return make_device_instance(stream); }
  static Stream stream_of(Instance const& instance) { return stream_in(instance); }
  static int device_of(Instance const& instance) { return device_in(instance); }
  static Status make_event(Event* event) { return GRANARY_GPU(EventCreateWithFlags)(event, GRANARY_GPU(EventDefault)); }
  static Status destroy_event(Event event) { return GRANARY_GPU(EventDestroy)(event); }
  static Status record(Event event, Stream stream) { return GRANARY_GPU(EventRecord)(event, stream); }
  static Status query(Event event) { return GRANARY_GPU(EventQuery)(event); }
  static Status elapsed(float* milliseconds, Event first, Event last) {
    return GRANARY_GPU(EventElapsedTime)(milliseconds, first, last);
  }

  static auto kind(DeviceCopy::Direction direction) {
    switch (direction) {
      case DeviceCopy::Direction::ToDevice:
        return GRANARY_GPU(MemcpyHostToDevice);
      case DeviceCopy::Direction::ToHost:
        return GRANARY_GPU(MemcpyDeviceToHost);
      default:
        return GRANARY_GPU(MemcpyDefault);
    }
  }
  static Status copy(void* to, void const* from, Bytes bytes, DeviceCopy::Direction direction, Stream stream) {
    return GRANARY_GPU(MemcpyAsync)(to, from, bytes, kind(direction), stream);
  }
  static Status copy_peer(void* to, int to_device, void const* from, int from_device, Bytes bytes, Stream stream) {
    return GRANARY_GPU(MemcpyPeerAsync)(to, to_device, from, from_device, bytes, stream);
  }
  static Status copy_lines(DeviceCopy const& copy, Stream stream) {
    return GRANARY_GPU(Memcpy2DAsync)(copy.destination, copy.destination_pitch, copy.source, copy.source_pitch,
                                      copy.line, copy.lines, kind(copy.direction), stream);
  }
  static Status clear(void* memory, Bytes bytes, Stream stream) {
    return GRANARY_GPU(MemsetAsync)(memory, 0, bytes, stream);
  }
};

}  // namespace

std::shared_ptr<DeviceApi> make_vendor_api(std::string* problem) {
  return std::make_shared<VendorApi<Runtime>>(problem);
}

char const* vendor_backend() { return Runtime::label; }

}  // namespace granary::detail
