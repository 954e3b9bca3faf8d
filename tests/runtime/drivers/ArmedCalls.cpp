#include "tests/runtime/drivers/ArmedCalls.h"

#include <cstring>

namespace graphc::test {

static std::atomic<const char *> armed{nullptr};
static std::atomic<int> callsLeft{0};
static std::atomic<bool> hit{false}, everyCall{false};
std::atomic<int> failCode{0}, live{0};

void armFault(const char *function, int n, int code) {
  armed = nullptr;
  hit = false;
  callsLeft = n;
  everyCall = n < 0;
  failCode = code;
  armed = n != 0 ? function : nullptr;
}
bool faultHit() { return hit; }
int liveObjects() { return live; }

bool failsNow(const char *function) {
  const char *name = armed.load();
  if (!name || std::strcmp(name, function) != 0 || (!everyCall && callsLeft.fetch_sub(1) != 1))
    return false;
  hit = true;
  return true;
}

} // namespace graphc::test
