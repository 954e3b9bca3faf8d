#include "frontends/record/Lend.h"

#include "frontends/record/Session.h"
#include "runtime/drivers/Choice.h"

#include <cstring>

namespace graphc {

namespace {

/// The newest version of all of a storage, computed; the host can read it.
Result<NodeRef> computed(const std::shared_ptr<Storage> &storage) {
  Array whole = Array::ofStorage(storage);
  Array *arrays[] = {&whole};
  GRAPHC_ASSIGN(std::vector<NodeRef> nodes, evaluateArrays(arrays, "exchange"));
  GRAPHC_TRY(storage->device().queue().finish());
  return nodes[0];
}

void copyBytes(rt::Buffer &to, const rt::Buffer &from, int64_t bytes) {
  if (bytes > 0)
    std::memcpy(to.host(), from.host(), static_cast<size_t>(bytes));
}

} // namespace

Result<Loan> lend(const Array &x) {
  const std::shared_ptr<Storage> &storage = x.storage();
  if (auto loan = storage->loan(); loan.borrower)
    return loan;
  GRAPHC_ASSIGN(NodeRef newest, computed(storage));
  GRAPHC_ASSIGN(rt::BufferRef memory, x.device().allocate(newest->bytes()));
  copyBytes(*memory, *newest->buffer(), newest->bytes());
  Loan loan{std::move(memory), std::make_shared<char>()};
  storage->lendTo(loan);
  return loan;
}

Status repay(const std::shared_ptr<Storage> &storage) {
  Loan loan = storage->loan();
  if (!loan.memory)
    return Status::ok();
  GRAPHC_ASSIGN(NodeRef newest, computed(storage));
  copyBytes(*loan.memory, *newest->buffer(), newest->bytes());
  storage->repaid();
  return Status::ok();
}

} // namespace graphc
