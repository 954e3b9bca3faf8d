//===- CallChecks.h - What must hold of a call before a program runs --------------------------===//
#ifndef GRAPHC_RUNTIME_EXEC_CALLCHECKS_H
#define GRAPHC_RUNTIME_EXEC_CALLCHECKS_H

#include "runtime/base/Strings.h"
#include "runtime/exec/Executor.h"

#include <optional>
#include <string>
#include <vector>

namespace graphc::rt {

template <typename... Args>
Status runError(ErrorCode code, fmt::format_string<Args...> form, Args &&...args) {
  return {code, "[run] " + fmt::format(form, std::forward<Args>(args)...)};
}

/// An input as errors name it.
std::string inputText(const program::Program &p, size_t i);
std::string allShapes(const program::Program &p, std::span<const Tensor> inputs);

/// A size, from those before it; nothing when it does not fit in 64 bits.
std::optional<int64_t> evaluate(const program::SizeRecord &s, const std::vector<int64_t> &sizes,
                                std::span<const Tensor> inputs, std::span<const int64_t> arguments);

/// Counts, devices, dtypes and ranks: what must hold before sizes may be read from the inputs.
Status checkInputs(const program::Program &p, const Device &device, std::span<const Tensor> inputs,
                   std::span<const int64_t> arguments);

/// Sizes the inputs must have, sizes that must agree, and that each input's buffer is large enough.
Status checkShapes(const program::Program &p, std::span<const Tensor> inputs,
                   const std::vector<int64_t> &sizes);

} // namespace graphc::rt

#endif // GRAPHC_RUNTIME_EXEC_CALLCHECKS_H
