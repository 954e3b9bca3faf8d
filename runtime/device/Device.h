//===- Device.h - The driver contract ---------------------------------------------------------===//
//
// Ownership: drivers and devices live as long as the process and are never destroyed (no static
// destructor may touch a driver), so plain references to them stay valid. Buffers are shared. A
// Module is owned by the program that was loaded and must outlive its launches, which
// Queue::finish() waits for.
//
// Fork: a child process may use the cpu and null devices; other drivers answer every call with a
// Device error.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_DEVICE_DEVICE_H
#define GRAPHC_RUNTIME_DEVICE_DEVICE_H

#include "runtime/base/Status.h"
#include "runtime/program/Reader.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphc::rt {

class Device;

/// A piece of device memory. Immutable handle: size, device and host address never change.
/// Destroying the last reference gives the memory back to the device's pool; that is safe while
/// queued work still uses it.
class Buffer {
public:
  virtual ~Buffer() = default;
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  Device &device() const { return *bufferDevice; }
  /// Usable bytes, at least what was asked for.
  int64_t bytes() const { return bufferBytes; }
  /// Address on the host, or null when this memory cannot be touched directly. Contents are stable
  /// only while the queue is finished. At least 64-byte aligned unless the memory came from
  /// Device::wrapHost.
  void *host() const { return hostAddress; }
  /// False for memory of someone else, who may look at it.
  bool isPrivate() const { return bufferPrivate; }

protected:
  Buffer(Device &device, int64_t bytes, void *host, bool isPrivate = true)
      : bufferDevice(&device), bufferBytes(bytes), hostAddress(host), bufferPrivate(isPrivate) {}

private:
  Device *bufferDevice;
  int64_t bufferBytes;
  void *hostAddress;
  bool bufferPrivate;
};
using BufferRef = std::shared_ptr<Buffer>;

/// The code of one program, loaded on one device. Usable from any thread.
class Module {
public:
  virtual ~Module() = default;
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  /// Whether the code of every kernel is made.
  virtual bool isWhole() const { return true; }
  /// Makes the code of these kernels, by their numbers in the program, side by side where the
  /// device can; a launch makes that of its own where it is missing.
  virtual Status prepare(std::span<const uint32_t> launched) {
    static_cast<void>(launched);
    return Status::ok();
  }

protected:
  Module() = default;
};

/// One kernel start; the views need to be valid during the call only.
struct Launch {
  Module *module;
  uint32_t kernel; ///< number in the program
  std::span<Buffer *const> buffers;
  std::span<const int64_t> sizes;
  int64_t range;        ///< work items, > 0
  int64_t scratchBytes; ///< for each worker or, of local memory, group; 0 for none
  int64_t work = 1;     ///< elements an item visits; costs are per element
};

/// Launches that follow each other and are run on some rows at a time, all on the same rows before
/// the next; the views need to be valid during the call only.
struct TileLaunch {
  /// Memory of a kernel argument.
  struct Operand {
    Buffer *buffer; ///< null: a local of the tile
    uint32_t local; ///< its number
  };
  struct Step {
    uint32_t kernel;
    std::span<const Operand> operands;
    std::span<const int64_t> sizes;
    int64_t items; ///< of so many rows:
    int64_t rows;  ///< 1 or program::kRowsTogether
    int64_t scratchBytes;
    int64_t work;
  };
  Module *module;
  std::span<const Step> steps;
  /// Bytes of a row of each local: memory that no step outside looks at, kept for the rows at hand.
  std::span<const int64_t> locals;
  int64_t rows;     ///< > 0
  int64_t tileRows; ///< rows at a time, > 0 and a multiple of every step's
  /// Not 0: a step may be run on a row once the steps before it have been run on the rows up to
  /// `skew` further on. Steps are then taken in `groups` of about as many, each of which follows
  /// the one before it through the rows. There are no locals.
  int64_t skew = 0;
  int64_t groups = 1;
};

/// One copy from the beginning of a buffer to host memory.
struct Readback {
  void *to;
  Buffer *from;
  int64_t bytes;
};

/// An in-order queue. Safe from any thread; work of one thread runs in the order it was queued.
/// Errors of queued work are reported by the call that queued it or by the next call that waits.
class Queue {
public:
  virtual ~Queue() = default;
  virtual Status launch(const Launch &launch) = 0;
  /// Of devices that say so in DeviceInfo::tilesRows.
  virtual Status launchTile(const TileLaunch &tile) {
    static_cast<void>(tile);
    return {ErrorCode::Unsupported, "[run] this device runs whole launches only"};
  }
  /// Copies the first `bytes` bytes; the buffers must be of this queue's device and different.
  virtual Status copy(Buffer &destination, Buffer &source, int64_t bytes) = 0;
  /// The same from a buffer of another device, in the order of both devices' work and without
  /// waiting for it. False: not between these two, and nothing was done.
  virtual Result<bool> copyFromOther(Buffer &destination, Buffer &source, int64_t bytes) {
    static_cast<void>(destination), static_cast<void>(source), static_cast<void>(bytes);
    return false;
  }
  /// Host memory to device; `source` may be reused when the call returns.
  virtual Status upload(Buffer &destination, const void *source, int64_t bytes) = 0;
  /// As upload(), but without waiting for queued work, none of which may use the buffer. What is
  /// queued after the return sees it. May be called from a thread of its own.
  virtual Status uploadBeside(Buffer &destination, const void *source, int64_t bytes) {
    return upload(destination, source, bytes);
  }
  /// Device to host memory; waits for everything queued before.
  virtual Status download(void *destination, Buffer &source, int64_t bytes) = 0;
  /// Several of them with one wait.
  virtual Status downloadAll(std::span<const Readback> all) {
    for (const Readback &r : all)
      GRAPHC_TRY(download(r.to, *r.from, r.bytes));
    return Status::ok();
  }
  /// Waits until all queued work has ended and returns its first error.
  virtual Status finish() = 0;
};

/// What a device is; fixed after the driver has listed it.
struct DeviceInfo {
  std::string name;        ///< "cpu", "cuda:0", ...: what users write
  std::string description; ///< "Intel(R) Xeon(R) ..., 2 threads"
  /// Driver, device and version in one line: part of every cache key for this device.
  std::string identity;
  program::Target target = program::Target::Cpu;
  std::string features;      ///< for TargetDesc::features
  int64_t memoryBytes = 0;   ///< of the device
  int64_t budgetBytes = 0;   ///< what buffers may take together
  int64_t largestBuffer = 0; ///< bytes
  int threads = 1;           ///< cores or compute units
  bool fp64 = true;
  bool cpuClass = true;    ///< work-items run on CPU cores
  bool exactDivide = true; ///< float32 division and square root are correctly rounded
  bool hostVisible = true; ///< Buffer::host() is never null
  bool tilesRows = false;  ///< Queue::launchTile works
  bool runsKernels = true; ///< false: results are undefined (the null device)
};

/// Safe from any thread.
class Device {
public:
  virtual ~Device() = default;
  virtual const DeviceInfo &info() const = 0;
  virtual Queue &queue() = 0;
  /// Uninitialised memory, recycled when possible. OutOfMemory names the bytes wanted and free. 0
  /// bytes are fine.
  virtual Result<BufferRef> allocate(int64_t bytes) = 0;
  /// Memory of someone else as a buffer, without a copy; `owner` is held as long as the buffer.
  /// Unsupported when this device cannot see host memory. The address must be aligned for its
  /// element type.
  virtual Result<BufferRef> wrapHost(void *address, int64_t bytes, std::shared_ptr<void> owner) = 0;
  /// Loads a program's code. Unsupported when the device lacks a feature the program needs.
  virtual Result<std::unique_ptr<Module>> load(const program::Program &program) = 0;
  /// Of a device whose code is tested before its first use: the form that is built first, "ptx",
  /// "spirv" or "c"; "" of others.
  virtual std::string_view codeForm() const { return ""; }
  /// The form of programs with fast products (docs/numerics.md) where cores for those are used,
  /// else "".
  virtual std::string_view productForm() const { return ""; }
  /// A form is not used any more; false, and nothing done, when there is no other.
  virtual bool refuseCodeForm(std::string_view form) {
    static_cast<void>(form);
    return false;
  }
  /// Bytes in live buffers, and bytes kept for reuse.
  virtual int64_t liveBytes() const = 0;
  virtual int64_t cachedBytes() const = 0;
  /// Gives recycled memory back to the system.
  virtual void releaseCached() = 0;
};

/// One line of a device list.
struct DeviceListing {
  std::string name;
  std::string description;
  Device *device;     ///< null when unusable
  std::string reason; ///< why it is unusable; empty otherwise
};

/// A family of devices. list() loads vendor libraries on its first call and may take a second; it
/// never fails: what does not work is listed with the reason.
class Driver {
public:
  virtual ~Driver() = default;
  virtual std::string_view name() const = 0;
  virtual const std::vector<DeviceListing> &list() = 0;
};

} // namespace graphc::rt

#endif // GRAPHC_RUNTIME_DEVICE_DEVICE_H
