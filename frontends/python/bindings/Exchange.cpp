// Values leave graphc: NumPy arrays, Python numbers, the buffer protocol, DLPack.
#include "frontends/python/bindings/Asking.h"
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/Dlpack.h"
#include "frontends/python/bindings/Gil.h"
#include "frontends/python/bindings/Lists.h"

#include "frontends/record/Devices.h"
#include "frontends/record/GatheredRows.h"
#include "frontends/record/Known.h"
#include "frontends/record/Lend.h"
#include "frontends/record/Looks.h"
#include "frontends/record/Session.h"
#include "frontends/record/Small.h"
#include "frontends/record/Trace.h"
#include "runtime/base/Strings.h"

#include <pybind11/numpy.h>

#include <array>
#include <atomic>

namespace graphc::py {
namespace {

using strings::format;

/// Memory a consumer looks at: dense node or a strided window of one.
struct Window {
  NodeRef node;
  char *data = nullptr;
  std::vector<int64_t> strides; ///< elements
  int64_t offset = 0;           ///< of the first element in the node's memory
};

/// Waits until the memory of a value on the host is what the value is.
Status finishMemory(const Node &node) {
  WithoutGil release;
  return finishValue(node, node.bytes());
}

/// The array's elements in host memory without copying, when it is possible; else their node alone.
Window hostWindow(Array &x, std::string_view reason) {
  if (!Trace::active() && x.view().hasLayout()) {
    NodeRef base = x.storage()->current();
    // A small window of a large pending value is computed alone below.
    if (base->state() != NodeState::Ready && showsMost(x)) {
      Array whole = Array::ofStorage(x.storage());
      Array *arrays[] = {&whole};
      base = evaluateNow(arrays, reason)[0];
    }
    void *data = base->state() == NodeState::Ready ? rt::hostAddress(*base->buffer()) : nullptr;
    bool isCopied = base->state() == NodeState::Ready && showsMost(x) && !x.view().isRecast();
    if (data || isCopied) {
      Window w{
          base, nullptr, {x.view().strides().begin(), x.view().strides().end()}, x.view().offset()};
      if (data)
        w.data = static_cast<char *>(data) + w.offset * itemSize(x.dtype());
      return w;
    }
  }
  Array *arrays[] = {&x};
  Shape dense = denseStrides(x.shape());
  Window w{evaluateNow(arrays, reason)[0], nullptr, {dense.begin(), dense.end()}};
  w.data = static_cast<char *>(rt::hostAddress(*w.node->buffer()));
  return w;
}

void deleteWindowNode(PyObject *capsule) {
  delete static_cast<NodeRef *>(PyCapsule_GetPointer(capsule, "graphc.node"));
}

/// NumPy's array of memory that `owner` keeps; strides count elements.
pb::array numpyOver(const Array &x, void *data, std::span<const int64_t> strides, bool isWritable,
                    const pb::object &owner) {
  std::vector<pb::ssize_t> shape(x.shape().begin(), x.shape().end()), steps;
  for (int64_t s : strides)
    steps.push_back(static_cast<pb::ssize_t>(s * itemSize(x.dtype())));
  pb::array out(pb::reinterpret_borrow<pb::dtype>(numpyDType(x.dtype())), shape, steps, data,
                owner);
  if (!isWritable)
    pb::detail::array_proxy(out.ptr())->flags &= ~pb::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return out;
}

pb::object windowArray(const Array &x, const Window &w) {
  auto owner = pb::reinterpret_steal<pb::object>(
      PyCapsule_New(new NodeRef(w.node), "graphc.node", deleteWindowNode));
  // A newer version of the array lives elsewhere: nobody may write this one.
  return numpyOver(x, w.data, w.strides, false, owner);
}

void deleteCopy(PyObject *capsule) {
  delete static_cast<rt::BufferRef *>(PyCapsule_GetPointer(capsule, "graphc.copy"));
}

/// What a borrower keeps: the memory, and whose it is.
struct Borrowed {
  Loan loan;
  std::shared_ptr<Storage> storage;
};
constexpr const char *kLoanName = "graphc.loan";

void endLoan(PyObject *capsule) {
  delete static_cast<Borrowed *>(PyCapsule_GetPointer(capsule, kLoanName));
}

/// The memory of an array as NumPy's: each side sees what the other writes. Where the host does not
/// reach it, a read-only copy.
pb::object lent(Array &x) {
  if (Trace::active())
    raise(Status(ErrorCode::Trace, "memory cannot be shared with NumPy while a function is "
                                   "recorded: its values are not known yet"));
  if (x.isValue() || !x.view().hasLayout() || !onHost(x.device())) {
    pb::object copy = toNumpy(x, "exchange");
    copy.attr("flags").attr("writeable") = false;
    return copy;
  }
  auto borrowed = std::make_unique<Borrowed>(unwrap(lend(x)), x.storage());
  void *data =
      static_cast<char *>(borrowed->loan.memory->host()) + x.view().offset() * itemSize(x.dtype());
  auto owner = pb::reinterpret_steal<pb::object>(PyCapsule_New(borrowed.get(), kLoanName, endLoan));
  if (!owner)
    throw pb::error_already_set();
  static_cast<void>(borrowed.release()); // the capsule's
  return numpyOver(x, data, x.view().strides(), !x.view().isReadOnly(), owner);
}

} // namespace

pb::object borrowed(const pb::object &object) {
  const PyTypeObject *numpys = pb::detail::npy_api::get().PyArray_Type_;
  PyObject *at = object.ptr();
  while (at)
    if (PyObject_TypeCheck(at, const_cast<PyTypeObject *>(numpys)))
      at = pb::detail::array_proxy(at)->base;
    else if (PyMemoryView_Check(at))
      at = PyMemoryView_GET_BUFFER(at)->obj;
    else
      break;
  if (!at || at == object.ptr() || !PyCapsule_IsValid(at, kLoanName) || Trace::active())
    return pb::none();
  const auto &[loan, storage] = *static_cast<Borrowed *>(PyCapsule_GetPointer(at, kLoanName));
  const auto *shown = pb::detail::array_proxy(object.ptr());
  const auto rank = static_cast<size_t>(shown->nd);
  const int64_t size = itemSize(storage->dtype());
  const int64_t offset = shown->data - static_cast<char *>(loan.memory->host());
  if (knownDType(shown->descr) != storage->dtype() || offset % size != 0)
    return pb::none();
  Shape shape(std::span<const int64_t>(shown->dimensions, rank)), strides;
  strides.resize(rank);
  for (size_t i = 0; i < rank; ++i) {
    if (shown->strides[i] % size != 0)
      return pb::none();
    strides[i] = shown->strides[i] / size;
  }
  Array whole = Array::ofStorage(storage);
  std::optional<View> view = whole.view().strided(shape, strides, offset / size);
  if (!view)
    return pb::none();
  if (whole.size() == whole.withView(*view).size() && strides == denseStrides(shape))
    view = whole.view().reshape(shape);
  if (!(shown->flags & pb::detail::npy_api::NPY_ARRAY_WRITEABLE_))
    view->lock();
  return wrapped(whole.withView(std::move(*view)));
}

namespace {

/// In memory of the cpu's pool: new memory of that size would take longer than the way.
Result<rt::BufferRef> download(const NodeRef &n) {
  GRAPHC_ASSIGN(rt::Device * cpu, rt::findDevice("cpu"));
  GRAPHC_ASSIGN(rt::BufferRef memory, cpu->allocate(std::max<int64_t>(n->bytes(), 1)));
  if (n->bytes() > 0)
    GRAPHC_TRY(readValue(memory->host(), *n, n->bytes()));
  return memory;
}

/// NumPy asks for a buffer first, takes any error of that for a no, and asks for `__array__`. An
/// error that comes once, of a handler of floating-point errors, is kept for then.
struct Refusal {
  const Array *array = nullptr;
  PyObject *error = nullptr; ///< owned
};
thread_local Refusal refusal;

void refuse(const Array *array, PyObject *error) {
  refusal.array = array;
  Py_XSETREF(refusal.error, Py_XNewRef(error));
}

pb::object arrayProtocol(Array &x, const pb::object &dtype, const pb::object &copy) {
  if (refusal.array == &x && refusal.error) {
    PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(refusal.error)), refusal.error);
    refuse(nullptr, nullptr);
    throw pb::error_already_set();
  }
  pb::object out = toNumpy(x, "numpy");
  bool mustCopy = !copy.is_none() && copy.cast<bool>();
  bool mayCopy = copy.is_none() || mustCopy;
  if (!dtype.is_none() && !dtypeObject(x.dtype()).equal(dtype)) {
    if (!mayCopy)
      throw pb::value_error(
          "Unable to avoid copy while creating an array as requested: the dtype differs");
    return out.attr("astype")(dtype);
  }
  return mustCopy ? out.attr("copy")() : out;
}

/// What is given to code that may write to it.
pb::object writable(Array &x) {
  return x.isValue() ? toNumpy(x, "exchange").attr("copy")() : lent(x);
}

void readElement(Array &x, std::string_view reason, void *to);

/// A dtype in the letters of the buffer protocol; null for those that it does not know.
const char *bufferFormat(DType t) {
  switch (t) {
  case DType::Bool:
    return "?";
  case DType::Int8:
    return "b";
  case DType::UInt8:
    return "B";
  case DType::Int16:
    return "h";
  case DType::UInt16:
    return "H";
  case DType::Int32:
    return "i";
  case DType::UInt32:
    return "I";
  case DType::Int64:
    return "l";
  case DType::UInt64:
    return "L";
  case DType::Float16:
    return "e";
  case DType::Float32:
    return "f";
  case DType::Float64:
    return "d";
  default:
    return nullptr;
  }
}

/// A single result as a buffer that may not be written to; the view owns its bytes.
void showValue(Array &x, PyObject *self, Py_buffer *view, int flags) {
  auto word = std::make_unique<std::array<uint64_t, 2>>();
  readElement(x, "exchange", word->data());
  const Py_ssize_t bytes = itemSize(x.dtype());
  *view = {.buf = word->data(),
           .obj = Py_NewRef(self),
           .len = bytes,
           .itemsize = bytes,
           .readonly = 1,
           .ndim = 0,
           .format = flags & PyBUF_FORMAT ? const_cast<char *>(bufferFormat(x.dtype())) : nullptr,
           .shape = nullptr,
           .strides = nullptr,
           .suboffsets = nullptr,
           .internal = word.get()};
  static_cast<void>(word.release()); // the view's
}

void releaseBuffer(PyObject *, Py_buffer *view) {
  delete static_cast<std::array<uint64_t, 2> *>(view->internal);
}

int getBuffer(PyObject *self, Py_buffer *view, int flags) {
  refuse(nullptr, nullptr);
  try {
    Array &x = *asArray(self);
    const Asker by = Asker::now();
    const bool isInstalled = by.isInstalled();
    const bool copies =
        by.takesCopies() ||
        (isInstalled ? by.callsFortran()
                     : !x.isValue() && x.dtype() != DType::BFloat16 &&
                           by.namesNumber(x.dtype(), dtypeObject(x.dtype()).attr("type").ptr()));
    bool writes = (flags & PyBUF_WRITABLE) != 0 || by.isMasked() || (!copies && isInstalled) ||
                  (!x.isValue() && by.makesViews());
    if (!writes && !copies && x.isValue() && bufferFormat(x.dtype())) {
      showValue(x, self, view, flags);
      return 0;
    }
    pb::object values = writes ? writable(x) : toNumpy(x, "exchange");
    if (!writes && copies)
      values = values.attr("copy")();
    // NumPy's view keeps the values alive, also when this array gets a newer version meanwhile.
    return PyObject_GetBuffer(values.ptr(), view, flags);
  } catch (pb::error_already_set &e) {
    refuse(asAnyArray(self), e.value().ptr());
    e.restore();
  } catch (const std::exception &e) {
    PyErr_SetString(PyExc_BufferError, e.what());
  }
  view->obj = nullptr;
  return -1;
}

struct DlpackOwner {
  NodeRef node;
  std::vector<int64_t> shape, strides;
};

dlpack::Tensor dlpackTensor(const Array &x, const Window &w, DlpackOwner &owner) {
  owner.node = w.node;
  owner.shape.assign(x.shape().begin(), x.shape().end());
  owner.strides = w.strides;
  dlpack::Tensor t = {};
  t.data = w.data;
  t.device = {dlpack::kCpu, 0};
  t.ndim = static_cast<int32_t>(owner.shape.size());
  t.dtype = dlpackType(x.dtype());
  t.shape = owner.shape.data();
  t.strides = owner.strides.data();
  return t;
}

template <typename Managed>
void deleteManaged(Managed *managed) {
  delete static_cast<DlpackOwner *>(managed->context);
  delete managed;
}

template <typename Managed>
pb::object capsule(const Array &x, const Window &w, const char *name, uint64_t flags) {
  auto owner = std::make_unique<DlpackOwner>();
  auto managed = std::make_unique<Managed>();
  managed->tensor = dlpackTensor(x, w, *owner);
  managed->deleter = deleteManaged<Managed>;
  if constexpr (std::is_same_v<Managed, dlpack::ManagedVersioned>) {
    managed->version = {dlpack::kMajor, dlpack::kMinor};
    managed->flags = flags;
  }
  managed->context = owner.release();
  // A consumer renames the capsule and calls the deleter itself.
  PyObject *made = PyCapsule_New(managed.get(), name, [](PyObject *c) {
    for (const char *known : {"dltensor", "dltensor_versioned"})
      if (PyCapsule_IsValid(c, known)) {
        auto *m = static_cast<Managed *>(PyCapsule_GetPointer(c, known));
        m->deleter(m);
      }
  });
  if (!made) {
    deleteManaged(managed.release());
    throw pb::error_already_set();
  }
  managed.release();
  return pb::reinterpret_steal<pb::object>(made);
}

pb::object toDlpack(Array &x, const pb::object &stream, const pb::object &maxVersion,
                    const pb::object &device, const pb::object &copy) {
  if (!device.is_none() && device.cast<pb::tuple>()[0].cast<int>() != dlpack::kCpu)
    throw pb::buffer_error("graphc exports host memory: dl_device must be (1, 0)");
  if (!stream.is_none())
    throw std::runtime_error("__dlpack__: host memory has no stream, stream must be None");
  const bool mustCopy = !copy.is_none() && pb::bool_(copy);
  std::optional<Window> w;
  if (!mustCopy)
    w = hostWindow(x, "exchange");
  if (w && !w->data)
    w.reset();
  Array source = x;
  // A copy is the consumer's own.
  uint64_t flags = w ? dlpack::kReadOnly : dlpack::kCopied;
  if (!w) {
    if (!copy.is_none() && !mustCopy)
      throw pb::buffer_error("this array is not in host memory: exporting it needs a copy");
    rt::Device *cpu = toDevice(pb::str("cpu"));
    pb::object values = toNumpy(x, "exchange");
    source = copyIn(values, std::nullopt, cpu);
    w = hostWindow(source, "exchange");
    if (!w)
      throw pb::buffer_error("no host memory for an export");
  }
  bool versioned =
      !maxVersion.is_none() && maxVersion.cast<pb::tuple>()[0].cast<uint32_t>() >= dlpack::kMajor;
  // A record without flags says nothing of memory that nobody may write to.
  if (!versioned && flags == dlpack::kReadOnly && x.view().isReadOnly())
    throw pb::buffer_error("__dlpack__: the array is read-only, which only DLPack 1.0 can say: ask "
                           "for max_version=(1, 0) or a copy");
  check(finishMemory(*w->node));
  return versioned ? capsule<dlpack::ManagedVersioned>(source, *w, "dltensor_versioned", flags)
                   : capsule<dlpack::Managed>(source, *w, "dltensor", flags);
}

} // namespace

dlpack::DataType dlpackType(DType d) {
  uint8_t code = d == DType::Bool       ? dlpack::kBool
                 : d == DType::BFloat16 ? dlpack::kBfloat
                 : isFloat(d)           ? dlpack::kFloat
                 : isComplex(d)         ? dlpack::kComplex
                 : isUnsigned(d)        ? dlpack::kUInt
                                        : dlpack::kInt;
  return {code, static_cast<uint8_t>(8 * itemSize(d)), 1};
}

std::vector<NodeRef> evaluateNow(std::span<Array *const> arrays, std::string_view reason) {
  for (Array *x : arrays)
    check(separateView(*x));
  Result<std::vector<NodeRef>> nodes = [&] {
    WithoutGil release;
    return evaluateArrays(arrays, reason);
  }();
  return unwrap(std::move(nodes));
}

void storeNow(std::span<Array *const> arrays, std::string_view reason) {
  for (Array *x : arrays)
    check(separateView(*x));
  Status status;
  {
    WithoutGil release;
    status = evaluateStorages(arrays, reason);
  }
  check(std::move(status));
}

pb::object toNumpy(Array &x, std::string_view reason) {
  Window w = hostWindow(x, reason);
  if (w.data) {
    check(finishMemory(*w.node));
    return windowArray(x, w);
  }
  Result<rt::BufferRef> memory = [&] {
    WithoutGil release;
    return download(w.node);
  }();
  auto data = std::make_unique<rt::BufferRef>(unwrap(std::move(memory)));
  char *first = static_cast<char *>((*data)->host()) + w.offset * itemSize(x.dtype());
  auto owner =
      pb::reinterpret_steal<pb::object>(PyCapsule_New(data.get(), "graphc.copy", deleteCopy));
  if (!owner)
    throw pb::error_already_set();
  static_cast<void>(data.release()); // the capsule's
  return numpyOver(x, first, w.strides, !x.view().isReadOnly(), owner);
}

namespace {

/// The bytes of the only element of an array.
void readElement(Array &x, std::string_view reason, void *to) {
  const NodeRef value = unwrap(x.value());
  if (auto bits = knownBits(*value)) {
    std::memcpy(to, &*bits, static_cast<size_t>(itemSize(x.dtype())));
    return;
  }
  if (readAtOnce(to, *value, itemSize(x.dtype())))
    return;
  small::noteLook(value);
  Array *arrays[] = {&x};
  NodeRef node = evaluateNow(arrays, reason)[0];
  Status status;
  {
    WithoutGil release;
    status = readValue(to, *node, itemSize(node->dtype()));
  }
  check(std::move(status));
}

} // namespace

pb::object toItem(Array &x, std::string_view reason) {
  if (x.size() != 1)
    raise(Status(
        ErrorCode::InvalidArgument,
        format("[item] can only convert an array of size 1 to a Python scalar, not one of shape {}",
               op::compactShape(x.shape()))));
  std::array<uint64_t, 2> word{};
  readElement(x, reason, word.data());
  return scalarObject(word.data(), x.dtype());
}

pb::object toTruth(Array &x) {
  if (x.size() == 0)
    raise(Status(ErrorCode::InvalidArgument,
                 "[bool] The truth value of an empty array is ambiguous. Use `array.size > 0` to "
                 "check that an array is not empty."));
  if (x.size() != 1)
    raise(Status(ErrorCode::InvalidArgument,
                 format("[bool] The truth value of an array with more than one element is "
                        "ambiguous. Use a.any() or a.all(): shape {}",
                        op::compactShape(x.shape()))));
  return pb::bool_(toItem(x, "bool"));
}

void setupBuffer(PyHeapTypeObject *type) {
  type->ht_type.tp_as_buffer = &type->as_buffer;
  type->as_buffer.bf_getbuffer = getBuffer;
  type->as_buffer.bf_releasebuffer = releaseBuffer;
}

/// The element that integers name, one an axis or a flat one, when it needs no program.
static std::optional<KnownValue> knownElement(const Array &x, const pb::tuple &index) {
  std::vector<int64_t> at;
  for (pb::handle item : index) {
    if (!PyLong_CheckExact(item.ptr()))
      return std::nullopt;
    at.push_back(PyLong_AsSsize_t(item.ptr()));
    if (at.back() == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      return std::nullopt;
    }
  }
  if (at.size() == 1 && x.rank() != 1) {
    int64_t flat = at[0] < 0 ? at[0] + x.size() : at[0];
    if (flat < 0 || flat >= x.size())
      return std::nullopt;
    at.assign(static_cast<size_t>(x.rank()), 0);
    for (size_t axis = at.size(); axis-- > 0; flat /= x.shape()[axis])
      at[axis] = flat % x.shape()[axis];
  }
  if (static_cast<int64_t>(at.size()) != x.rank())
    return std::nullopt;
  for (size_t axis = 0; axis < at.size(); ++axis) {
    at[axis] += at[axis] < 0 ? x.shape()[axis] : 0;
    if (at[axis] < 0 || at[axis] >= x.shape()[axis])
      return std::nullopt;
  }
  return ops::readElement(x, at);
}

static pb::object toList(Array &x) {
  if (x.size() > kFewListed || x.known() || x.dtype() == DType::BFloat16)
    return toNumpy(x, "item").attr("tolist")();
  Window w = hostWindow(x, "item");
  if (!w.data)
    return toNumpy(x, "item").attr("tolist")();
  check(finishMemory(*w.node));
  return pb::reinterpret_steal<pb::object>(listOf(w.data, x.shape(), w.strides, x.dtype()));
}

static void runAside(const std::function<void()> &run) {
  if (!PyGILState_Check())
    return run();
  WithoutGil release;
  run();
}

void defineExchange(pb::class_<Array> &cls) {
  setAside(runAside);
  cls.def("__array__", arrayProtocol, pb::arg("dtype") = pb::none(), pb::arg("copy") = pb::none());
  cls.def(
      "__dlpack__",
      [](Array &x, const pb::object &stream, const pb::object &maxVersion, const pb::object &device,
         const pb::object &copy) { return toDlpack(x, stream, maxVersion, device, copy); },
      pb::kw_only(), pb::arg("stream") = pb::none(), pb::arg("max_version") = pb::none(),
      pb::arg("dl_device") = pb::none(), pb::arg("copy") = pb::none());
  cls.def("__dlpack_device__", [](const Array &) { return pb::make_tuple(dlpack::kCpu, 0); });
  cls.def(
      "_item",
      [](Array &x, const pb::args &given) {
        bool isTuple = given.size() == 1 && PyTuple_Check(given[0].ptr());
        auto index =
            pb::reinterpret_borrow<pb::tuple>(isTuple ? pb::handle(given[0]) : pb::handle(given));
        if (index.empty())
          return toItem(x, "item");
        for (pb::handle place : index)
          if (!pb::reinterpret_steal<pb::object>(PyNumber_Index(place.ptr())))
            throw pb::error_already_set();
        if (auto known = knownElement(x, index))
          return scalarObject(&known->bits, known->dtype);
        std::vector<IndexItem> items =
            toIndex(index.size() == 1 ? pb::object(index[0]) : pb::object(index));
        if (index.size() == 1 && x.rank() != 1) { // a flat index, as in NumPy
          Array flat = unwrap(ops::reshape(x, Shape{-1}));
          Array element = unwrap(ops::index(flat, items));
          return toItem(element, "item");
        }
        Array element = unwrap(ops::index(x, items));
        return toItem(element, "item");
      },
      "The element as a Python number.");
  cls.def("_tolist", toList);
  cls.def(
      "_values", [](Array &x) { return toNumpy(x, "foreign"); },
      "What NumPy's asarray makes of it, without a look at who asks.");
  cls.def("_lent", lent);
  cls.def_static("_borrowed", borrowed,
                 "A view of our array whose memory a NumPy array borrowed, or None.");
  cls.def("_has_views", [](const Array &x) {
    return x.hasStorage() && (x.storage().use_count() > 1 || x.storage()->isLent());
  });
  cls.def("__complex__", [](Array &x) {
    if (x.rank() > 0)
      throw pb::type_error(
          format("only 0-dimensional arrays can be converted to Python scalars, not one "
                 "of shape {}",
                 op::compactShape(x.shape())));
    pb::object item = toItem(x, "float");
    if (isComplex(x.dtype()))
      return item;
    return pb::reinterpret_steal<pb::object>(
        PyComplex_FromDoubles(pb::float_(item).cast<double>(), 0));
  });
}

} // namespace graphc::py
