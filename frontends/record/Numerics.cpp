#include "frontends/record/Numerics.h"

#include "frontends/record/FloatErrors.h"
#include "runtime/base/Setting.h"
#include "runtime/base/Strings.h"

#include <utility>

namespace graphc {
namespace {

Setting numericsSetting{"GRAPHC_NUMERICS",
                        "exact, or fast: matrix products of 16-bit floats may use tensor cores",
                        "exact"};
thread_local std::optional<Numerics> chosen;

} // namespace

Result<Numerics> numerics() {
  if (chosen)
    return *chosen;
  std::optional<std::string> asked = numericsSetting.get();
  if (!asked || *asked == "exact")
    return Numerics::Exact;
  if (*asked == "fast")
    return Numerics::Fast;
  return Status(ErrorCode::InvalidArgument,
                strings::format("GRAPHC_NUMERICS is '{}'; it may be exact or fast", *asked));
}

std::optional<Numerics> chooseNumerics(std::optional<Numerics> choice) {
  return std::exchange(chosen, choice);
}

uint64_t recordingModes() {
  uint64_t choice = chosen ? 1 + static_cast<uint64_t>(*chosen) : 0;
  return choice << 32 | modesNow();
}

} // namespace graphc
