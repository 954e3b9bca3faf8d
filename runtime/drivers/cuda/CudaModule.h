//===- CudaModule.h - The kernels of one program on a GPU -------------------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_CUDA_CUDAMODULE_H
#define GRAPHC_RUNTIME_DRIVERS_CUDA_CUDAMODULE_H

#include "runtime/drivers/cuda/Code.h"

#include <atomic>
#include <deque>
#include <mutex>

namespace graphc::rt::cuda {

/// What a program launches depends on its sizes: forms for other sizes, which may be large, are not
/// compiled before they are needed.
class CudaModule final : public Module {
public:
  struct Kernel {
    std::string name;
    size_t part; ///< which text it is in
    uint32_t itemsPerThread;
    uint32_t group;
    int localBytes;                              ///< that a launch gives it, or 0
    bool isDependent;                            ///< waits itself for the kernel before
    std::atomic<FunctionHandle> handle{nullptr}; ///< null until its text is compiled
  };

  /// The program has PTX where it has kernels; Corrupt where they do not take what launches give.
  static Result<std::unique_ptr<Module>> make(CudaDevice &device, const program::Program &program);
  ~CudaModule() override;

  bool isWhole() const override { return whole.load(std::memory_order_acquire); }
  Status prepare(std::span<const uint32_t> launched) override;
  /// Compiled if need be.
  Result<const Kernel *> ready(uint32_t number);

private:
  CudaModule(CudaDevice &device, std::vector<std::string> texts)
      : device(device), texts(std::move(texts)), parts(this->texts.size()) {}
  Status addKernel(const program::Program &program, const program::KernelRecord &record);
  Status findFunctions();

  CudaDevice &device;
  std::deque<Kernel> kernels; ///< fixed but for their handles
  std::atomic<bool> whole{false};
  std::mutex mutex; ///< of whoever compiles; guards what follows
  std::vector<std::string> texts;
  std::vector<LoadedCode> parts; ///< of each text
};

} // namespace graphc::rt::cuda

#endif // GRAPHC_RUNTIME_DRIVERS_CUDA_CUDAMODULE_H
