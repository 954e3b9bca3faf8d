//===- Numerics.h - Whether matrix products may give up the promised bits ---------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_NUMERICS_H
#define GRAPHC_FRONTENDS_RECORD_NUMERICS_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <optional>

namespace graphc {

/// Exact: the bits of docs/numerics.md. Fast: matrix products of 16-bit floats may be summed in
/// any order, where a device has instructions for that.
enum class Numerics : uint8_t { Exact, Fast };

/// What this thread chose, else GRAPHC_NUMERICS (InvalidArgument when that names neither). Belongs
/// to an operation when it is recorded.
Result<Numerics> numerics();
/// Null: as GRAPHC_NUMERICS says. Returns what was chosen before.
std::optional<Numerics> chooseNumerics(std::optional<Numerics> choice);

/// What of this thread's settings a recording depends on, as one number: this choice, and what is
/// done about floating-point errors.
uint64_t recordingModes();

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_NUMERICS_H
