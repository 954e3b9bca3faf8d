#include "frontends/record/MemoryOrder.h"

#include "frontends/record/Trace.h"

#include <cstdlib>
#include <numeric>

namespace graphc::ops {
namespace {

/// The stride of an operand along an axis of the result; 0 where it has one element there.
int64_t strideAlong(const Array &x, int64_t axis, int64_t rank) {
  int64_t own = axis - (rank - x.rank());
  if (own < 0 || x.shape()[static_cast<size_t>(own)] == 1)
    return 0;
  return std::abs(x.view().strides()[static_cast<size_t>(own)]);
}

enum class Order : uint8_t { Open, Keep, Swap };

/// What the operands say about two axes of which `outer` is the slower one so far.
Order orderOf(int64_t outer, int64_t inner, int64_t rank, std::span<const Operand> operands) {
  Order order = Order::Open;
  for (const Operand &o : operands) {
    if (!o.array)
      continue;
    int64_t a = strideAlong(*o.array, outer, rank), b = strideAlong(*o.array, inner, rank);
    if (a == 0 || b == 0)
      continue;
    if (b <= a)
      return Order::Keep; // row-major wins
    order = Order::Swap;
  }
  return order;
}

std::vector<int64_t> inverse(std::span<const int64_t> order) {
  std::vector<int64_t> places(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    places[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return places;
}

/// Whether the axes in that order show all of the storage as it is.
bool isWholeInOrder(const View &view, std::span<const int64_t> order) {
  const Shape &base = view.base();
  if (!view.hasLayout() || view.isRecast() || view.offset() != 0 || base.size() != order.size() ||
      view.shape().size() != order.size())
    return false;
  int64_t expected = 1;
  for (size_t k = order.size(); k-- > 0;) {
    auto axis = static_cast<size_t>(order[k]);
    int64_t size = view.shape()[axis];
    if (size != base[k] || (size != 1 && view.strides()[axis] != expected))
      return false;
    expected *= size;
  }
  return true;
}

} // namespace

Array turnedBack(Array made, std::span<const int64_t> order) {
  if (!order.empty())
    made = made.withView(made.view().transpose(inverse(order)));
  return made;
}

bool isSameView(const Array &a, const Array &b) {
  return a.sharesStorage(b) && a.dtype() == b.dtype() && a.shape() == b.shape() &&
         a.view().offset() == b.view().offset() && a.view().strides() == b.view().strides();
}

AxisList keptOrder(const Shape &shape, std::span<const Operand> operands) {
  int64_t rank = shape.rank();
  AxisList fastFirst;
  if (rank < 2 || Trace::active())
    return fastFirst;
  // An insertion sort, so that axes that nobody orders stay beside their neighbours.
  for (int64_t i = 0; i < rank; ++i) {
    int64_t outer = rank - 1 - i;
    size_t place = fastFirst.size();
    for (size_t k = fastFirst.size(); k-- > 0;) {
      Order order = orderOf(outer, fastFirst[k], rank, operands);
      if (order == Order::Keep)
        break;
      if (order == Order::Swap)
        place = k;
    }
    fastFirst.insert(place, outer);
  }
  std::ranges::reverse(fastFirst);
  if (std::ranges::is_sorted(fastFirst))
    fastFirst.clear();
  return fastFirst;
}

AxisList joinedOrder(std::span<const Operand> operands) {
  const int64_t rank = operands.front().array->rank();
  AxisList slowFirst;
  for (int64_t axis = 0; axis < rank; ++axis) {
    size_t place = slowFirst.size();
    for (size_t k = slowFirst.size(); k-- > 0;) {
      Order order = orderOf(slowFirst[k], axis, rank, operands);
      if (order == Order::Keep)
        break;
      if (order == Order::Swap)
        place = k;
    }
    slowFirst.insert(place, axis);
  }
  if (Trace::active() || std::ranges::is_sorted(slowFirst))
    slowFirst.clear();
  return slowFirst;
}

Array inMemoryOrder(const Array &x) {
  const Operand one[] = {x};
  const AxisList order = keptOrder(x.shape(), one);
  if (order.size() == 0)
    return x;
  return isWholeInOrder(x.view(), order) ? Array::ofStorage(x.storage())
                                         : x.withView(x.view().transpose(order));
}

Result<Array> inOrder(std::span<const int64_t> order, std::span<const Operand> operands,
                      const std::function<Result<Array>(std::span<const Operand>)> &apply) {
  std::vector<Array> arrays;
  arrays.reserve(operands.size());
  std::vector<Operand> turned;
  turned.reserve(operands.size());
  for (const Operand &o : operands) {
    if (!o.array || o.array->rank() == 0) {
      turned.push_back(o);
      continue;
    }
    if (isWholeInOrder(o.array->view(), order)) {
      arrays.push_back(Array::ofStorage(o.array->storage()));
      turned.push_back(Operand(arrays.back()));
      continue;
    }
    std::vector<int64_t> leading(order.size() - static_cast<size_t>(o.array->rank()));
    std::iota(leading.begin(), leading.end(), 0);
    View wide = leading.empty() ? o.array->view() : o.array->view().expand(leading);
    arrays.push_back(o.array->withView(wide.transpose(order)));
    turned.push_back(Operand(arrays.back()));
  }
  GRAPHC_ASSIGN(Array made, apply(turned));
  return turnedBack(std::move(made), order);
}

} // namespace graphc::ops
