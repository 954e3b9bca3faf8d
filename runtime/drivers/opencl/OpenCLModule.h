//===- OpenCLModule.h - The kernels of one program on an OpenCL device ------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_OPENCL_OPENCLMODULE_H
#define GRAPHC_RUNTIME_DRIVERS_OPENCL_OPENCLMODULE_H

#include "runtime/drivers/opencl/Code.h"
#include "runtime/drivers/opencl/OpenCLDevice.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace graphc::rt::opencl {

/// What a program launches depends on its sizes: of OpenCL C, forms for other sizes are not built
/// before they are needed; those of one run are built together, but for sorts: drivers cache what
/// is built by its text, and theirs is alike in all programs. Other code is built at once, since a
/// form of it that the driver refuses leaves the next.
class OpenCLModule final : public Module {
public:
  struct Kernel {
    std::string name;
    size_t part; ///< which text it is in
    uint32_t itemsPerThread;
    uint32_t group;
    uint32_t arguments;
    bool isAlike;                           ///< in all programs
    std::atomic<cl_kernel> handle{nullptr}; ///< null until its text is built
    /// What launches keep, guarded by `launching`.
    std::vector<cl_long> sizes;  ///< as last set, the range behind them
    std::vector<cl_mem> buffers; ///< likewise, while `released` is the device's
    uint64_t released = 0;
    std::set<size_t> compiledSizes; ///< PoCL: global sizes that need no compile any more
  };

  /// The device is started. Corrupt where a kernel is missing or does not take what launches give.
  static Result<std::unique_ptr<Module>> make(OpenCLDevice &device, const program::Program &program,
                                              uint32_t refusedForms);
  ~OpenCLModule() override;

  bool isWhole() const override { return whole.load(std::memory_order_acquire); }
  Status prepare(std::span<const uint32_t> launched) override;
  /// Built if need be.
  Result<Kernel *> ready(uint32_t number);

  std::mutex launching; ///< arguments belong to the kernel object: set and enqueue go together

private:
  explicit OpenCLModule(OpenCLDevice &device) : device(device) {}
  Status addKernel(const program::Program &program, const program::KernelRecord &record);
  Status build(std::span<const size_t> parts);
  /// Takes a built program, also when it fails: then no kernel of it is left.
  Status takeKernels(cl_program built, std::span<const size_t> parts);
  Result<cl_kernel> createKernel(cl_program built, const Kernel &kernel);

  OpenCLDevice &device;
  std::deque<Kernel> kernels; ///< fixed but for their handles and what launches keep
  std::atomic<bool> whole{false};
  std::mutex building; ///< guards what follows
  SourceTexts texts;
  std::vector<cl_program> programs;
};

} // namespace graphc::rt::opencl

#endif // GRAPHC_RUNTIME_DRIVERS_OPENCL_OPENCLMODULE_H
