#include "frontends/record/HostStrips.h"

#include <cstring>

namespace graphc::pieces {

Status upload(rt::Buffer &to, const HostValue &from, int64_t axis, int64_t begin, int64_t end,
              std::vector<char> &station) {
  rt::Queue &queue = to.device().queue();
  int64_t total =
      end > begin ? product(from.shape) / from.shape[at(axis)] * (end - begin) * from.item : 0;
  if (total == 0)
    return Status::ok();
  if (from.inOrder(axis)) {
    const char *first = nullptr;
    from.runs(axis, begin, end, [&](const char *run, int64_t, int64_t) { first = run; });
    return queue.uploadBeside(to, first, total);
  }
  station.resize(static_cast<size_t>(total));
  from.runs(axis, begin, end, [&](const char *run, int64_t place, int64_t bytes) {
    std::memcpy(station.data() + place, run, static_cast<size_t>(bytes));
  });
  return queue.uploadBeside(to, station.data(), total);
}

Status download(const HostValue &to, int64_t axis, int64_t begin, int64_t end, rt::Buffer &from,
                std::vector<char> &station) {
  rt::Queue &queue = from.device().queue();
  int64_t total = product(to.shape) / to.shape[at(axis)] * (end - begin) * to.item;
  if (total == 0)
    return Status::ok();
  if (to.inOrder(axis)) {
    char *first = nullptr;
    to.runs(axis, begin, end, [&](char *run, int64_t, int64_t) { first = run; });
    return queue.download(first, from, total);
  }
  station.resize(static_cast<size_t>(total));
  GRAPHC_TRY(queue.download(station.data(), from, total));
  to.runs(axis, begin, end, [&](char *run, int64_t place, int64_t bytes) {
    std::memcpy(run, station.data() + place, static_cast<size_t>(bytes));
  });
  return Status::ok();
}

} // namespace graphc::pieces
