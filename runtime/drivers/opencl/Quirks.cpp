#include "runtime/drivers/opencl/Quirks.h"

namespace graphc::rt::opencl {
namespace {

struct Row {
  std::string_view platform;
  std::string_view versions; ///< their beginning; "": all
  bool Quirks::*quirk;
};

constexpr Row kRows[] = {
    {"Portable Computing Language", "", &Quirks::compilesLaunches},
    // Seen with 3.1. Others were not tried, and nothing is lost by doing without the branch.
    {"Portable Computing Language", "", &Quirks::losesFolds},
    {"Portable Computing Language", "", &Quirks::ordersGroups},
    // Not promised; single-pass scans of its own libraries rest on it.
    {"NVIDIA CUDA", "", &Quirks::beginsInOrder},
};

} // namespace

Quirks quirksOf(std::string_view platform, std::string_view driverVersion) {
  Quirks found;
  for (const Row &row : kRows)
    if (platform == row.platform && driverVersion.starts_with(row.versions))
      found.*row.quirk = true;
  return found;
}

} // namespace graphc::rt::opencl
