// Arrays over the memory of others: DLPack.
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/Dlpack.h"

#include "frontends/record/Trace.h"
#include "runtime/base/Strings.h"

#include <cstring>

namespace graphc::py {
namespace {

using strings::format;

/// What a capsule held, and what keeps it alive.
struct Received {
  dlpack::Tensor tensor;
  std::shared_ptr<void> owner;
  bool isReadOnly = false; ///< what exporters from before version 1 cannot say
};

template <typename Managed>
Received receive(const pb::object &capsule, const char *name, const char *used) {
  auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (!managed)
    throw pb::error_already_set();
  // Refused capsules keep their name, so that their destructor frees what they hold.
  if constexpr (std::is_same_v<Managed, dlpack::ManagedVersioned>)
    if (managed->version.major != dlpack::kMajor)
      throw pb::buffer_error(format("from_dlpack: a record of DLPack {}.{}, version {} is needed",
                                    managed->version.major, managed->version.minor,
                                    dlpack::kMajor));
  if (PyCapsule_SetName(capsule.ptr(), used) != 0)
    throw pb::error_already_set();
  auto free = [](Managed *m) {
    if (!m->deleter || !Py_IsInitialized())
      return;
    pb::gil_scoped_acquire gil;
    m->deleter(m);
  };
  Received got{managed->tensor, std::shared_ptr<Managed>(managed, free)};
  if constexpr (std::is_same_v<Managed, dlpack::ManagedVersioned>)
    got.isReadOnly = (managed->flags & dlpack::kReadOnly) != 0;
  return got;
}

/// Asks for a capsule of version 1; exporters from before it do not know the argument.
Received receive(const pb::object &object) {
  pb::object ask = object.attr("__dlpack__"), capsule;
  try {
    capsule = ask(pb::arg("max_version") = pb::make_tuple(dlpack::kMajor, dlpack::kMinor));
  } catch (pb::error_already_set &e) {
    if (!e.matches(PyExc_TypeError))
      throw;
    capsule = ask();
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned"))
    return receive<dlpack::ManagedVersioned>(capsule, "dltensor_versioned",
                                             "used_dltensor_versioned");
  return receive<dlpack::Managed>(capsule, "dltensor", "used_dltensor");
}

DType dtypeOf(dlpack::DataType type) {
  for (int i = 0; i < kDTypeCount && type.lanes == 1; ++i) {
    auto t = static_cast<DType>(i);
    dlpack::DataType known = dlpackType(t);
    if (known.code == type.code && known.bits == type.bits)
      return t;
  }
  throw pb::buffer_error(format("from_dlpack: no dtype for code {}, {} bits, {} lanes", type.code,
                                type.bits, type.lanes));
}

/// Elements of any strides in row-major order.
std::shared_ptr<void> dense(const char *data, const Shape &shape, const int64_t *strides,
                            int64_t item, int64_t bytes) {
  std::shared_ptr<char[]> copy(new char[static_cast<size_t>(std::max<int64_t>(bytes, 1))]);
  std::vector<int64_t> index(static_cast<size_t>(shape.rank()), 0);
  for (char *to = copy.get(), *end = to + bytes; to != end; to += item) {
    std::memcpy(to, data, static_cast<size_t>(item));
    for (int64_t axis = shape.rank(); axis-- > 0;) {
      data += strides[axis] * item;
      auto &at = index[static_cast<size_t>(axis)];
      if (++at < shape[axis])
        break;
      data -= strides[axis] * item * shape[axis];
      at = 0;
    }
  }
  return {copy, copy.get()};
}

bool isDense(const Shape &shape, const int64_t *strides) {
  Shape wanted = denseStrides(shape);
  for (int64_t axis = 0; axis < shape.rank(); ++axis)
    if (shape[axis] != 1 && strides[axis] != wanted[axis])
      return false;
  return true;
}

} // namespace

Array fromDlpack(const pb::object &object, const pb::object &copy) {
  bool mustCopy = !copy.is_none() && copy.cast<bool>();
  if (Array *a = asArray(object))
    return mustCopy ? unwrap(ops::copy(*a)) : *a;
  if (!pb::hasattr(object, "__dlpack__") || !pb::hasattr(object, "__dlpack_device__"))
    throw pb::type_error("from_dlpack: an object with __dlpack__ and __dlpack_device__ is needed");
  auto where = object.attr("__dlpack_device__")().cast<pb::tuple>();
  if (where[0].cast<int>() != dlpack::kCpu)
    throw pb::buffer_error("from_dlpack: this array is not in host memory");
  Received got = receive(object);
  const dlpack::Tensor &t = got.tensor;
  DType dtype = dtypeOf(t.dtype);
  std::vector<int64_t> sizes(t.shape, t.shape + std::max(t.ndim, 0));
  for (int64_t size : sizes)
    if (size < 0)
      throw pb::buffer_error("from_dlpack: a size is negative");
  Shape shape{std::span<const int64_t>(sizes)};
  auto bytes = byteCount(shape, dtype);
  if (!bytes || (*bytes > 0 && !t.data) || t.device.type != dlpack::kCpu)
    throw pb::buffer_error("from_dlpack: the exporter describes no host memory");
  auto *data = static_cast<char *>(t.data) + t.byteOffset;
  bool aligned = reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(itemSize(dtype)) == 0;
  bool isWhole = !t.strides || isDense(shape, t.strides);
  std::shared_ptr<void> owner = got.owner;
  if (!isWhole || !aligned || *bytes == 0 || mustCopy) {
    if (!copy.is_none() && !mustCopy && *bytes > 0)
      throw pb::buffer_error("from_dlpack: this array is not dense in memory: it needs a copy");
    Shape strides = denseStrides(shape);
    owner = dense(data, shape, t.strides ? t.strides : strides.begin(), itemSize(dtype), *bytes);
    data = static_cast<char *>(owner.get());
  }
  bool isCopy = owner != got.owner;
  Array made = unwrap(ops::wrapHost(data, {dtype, shape}, std::move(owner),
                                    toDevice(pb::str("cpu")), !isCopy && !got.isReadOnly));
  if (got.isReadOnly && !mustCopy)
    made.lock();
  return made;
}

} // namespace graphc::py
