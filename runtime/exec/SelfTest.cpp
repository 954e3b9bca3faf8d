#include "runtime/exec/SelfTest.h"

#include "runtime/base/Strings.h"
#include "runtime/cache/DiskCache.h"

namespace graphc::rt {
namespace {

std::span<const uint8_t> bytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

std::string keyOf(const Device &device, std::string_view form, std::string_view compilerId) {
  return strings::format("graphc self-test 1|{}|{}|{}|{}", device.info().identity,
                         device.info().features, form, compilerId);
}

// An entry is never empty.
constexpr std::string_view kPassed = "passed";

} // namespace

std::optional<std::string> selfTestVerdict(const Device &device, std::string_view form,
                                           std::string_view compilerId) {
  auto found = DiskCache::instance().find(bytesOf(keyOf(device, form, compilerId)));
  if (!found)
    return std::nullopt;
  std::string text(found->begin(), found->end());
  return text == kPassed ? std::string() : text;
}

void rememberSelfTest(const Device &device, std::string_view form, std::string_view compilerId,
                      std::string_view verdict) {
  DiskCache::instance().store(bytesOf(keyOf(device, form, compilerId)),
                              bytesOf(verdict.empty() ? kPassed : verdict),
                              strings::format("self-test of {}", device.info().name));
}

} // namespace graphc::rt
