// Traces, traced functions, and the fast path of jit.
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/CallPattern.h"
#include "frontends/python/bindings/Gil.h"
#include "frontends/python/bindings/NumberSteps.h"

#include "frontends/record/Function.h"
#include "frontends/record/Numerics.h"
#include "frontends/record/OpenSize.h"
#include "frontends/record/Session.h"
#include "frontends/record/Trace.h"

#include <algorithm>
#include <atomic>
#include <chrono>

namespace graphc::py {
namespace {

struct TraceHandle {
  std::unique_ptr<Trace> trace;
};
struct TracedFunction {
  std::shared_ptr<Function> function;
  /// Calls beside other threads of Python that took long, one after the other.
  std::shared_ptr<std::atomic<int>> longCalls = std::make_shared<std::atomic<int>>(0);
};

std::vector<Array *> borrowArrays(const pb::object &arrays) {
  std::vector<Array *> out;
  for (pb::handle item : arrays) {
    Array *a = asArray(item);
    if (!a)
      throw pb::type_error("a sequence of Arrays is needed");
    out.push_back(a);
  }
  return out;
}

pb::tuple beginTrace(const pb::object &arrays) {
  std::vector<Array> given;
  for (Array *a : borrowArrays(arrays))
    given.push_back(*a);
  auto handle = std::make_unique<TraceHandle>();
  handle->trace = unwrap(Trace::begin(given));
  pb::list placeholders;
  for (const Array &a : handle->trace->placeholders())
    placeholders.append(a);
  return pb::make_tuple(std::move(handle), placeholders);
}

TracedFunction endTrace(TraceHandle &handle, const pb::object &outputs, size_t programNodes) {
  if (!handle.trace || Trace::active() != handle.trace.get())
    raise(Status(ErrorCode::Trace, "[jit] this trace has ended"));
  std::vector<Array> results;
  for (Array *a : borrowArrays(outputs))
    results.push_back(*a);
  Result<std::unique_ptr<Function>> function = [&] {
    WithoutGil release;
    return handle.trace->finish(results, programNodes);
  }();
  handle.trace.reset();
  return {unwrap(std::move(function))};
}

/// Whether nobody waits for the GIL meanwhile that could not wait for the call: giving it up and
/// taking it again is a tenth of a call of few elements.
bool isShort(const Function &function, std::span<Array *const> arrays) {
  constexpr int64_t kFewBytes = 64 << 10;
  int64_t bytes = 0;
  for (const Array *x : arrays)
    bytes += x->size() * itemSize(x->dtype());
  return bytes <= kFewBytes && function.programCount() == 1;
}

/// Whether this is the only thread of Python: another one could only be started by it, after the
/// call. States of others may go.
bool isOnlyThread() {
  PyThreadState *head = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
  return head == PyThreadState_Get() && !PyThreadState_Next(head);
}

bool areReady(std::span<const NodeRef> values) {
  return std::ranges::all_of(values,
                             [](const NodeRef &n) { return n->state() == NodeState::Ready; });
}

/// A call where other threads of Python may meet the arguments. With the GIL none does, so that
/// they are updated in place; calls that turned out to take long go without it and copy what they
/// change. Nothing is waited for with the GIL that another thread may need it for.
Status callBesideOthers(const TracedFunction &f, std::span<Array *const> arrays,
                        std::span<const uint64_t> variables, std::vector<Array> &outputs) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kLong{1};
  constexpr int kManyLong = 3; // one may have waited for a core
  std::vector<NodeRef> values = f.function->values(arrays);
  bool mayHold = f.longCalls->load(std::memory_order_relaxed) < kManyLong &&
                 (isShort(*f.function, arrays) || f.function->mayOverwrite());
  if (mayHold && areReady(values)) {
    values.clear();
    Clock::time_point start = Clock::now();
    Status status = f.function->call(arrays, variables, outputs, /*isAlone=*/true);
    bool isLong = Clock::now() - start > kLong;
    f.longCalls->store(isLong ? f.longCalls->load(std::memory_order_relaxed) + 1 : 0,
                       std::memory_order_relaxed);
    return status;
  }
  WithoutGil release;
  return f.function->call(arrays, variables, outputs, /*isAlone=*/false, values);
}

/// Arrays are borrowed from Python objects that the caller holds.
std::vector<Array> callFunction(const TracedFunction &f, std::span<Array *const> arrays,
                                std::span<const uint64_t> variables) {
  std::vector<Array> outputs;
  Status status;
  if (isOnlyThread()) {
    std::optional<WithoutGil> release;
    if (!isShort(*f.function, arrays))
      release.emplace();
    status = f.function->call(arrays, variables, outputs, /*isAlone=*/true);
  } else {
    status = callBesideOthers(f, arrays, variables, outputs);
  }
  check(std::move(status));
  return outputs;
}

pb::list toList(std::vector<Array> arrays) {
  pb::list out(arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i)
    PyList_SET_ITEM(out.ptr(), static_cast<Py_ssize_t>(i), wrap(std::move(arrays[i])));
  return out;
}

std::string stageText(const TracedFunction &f, const std::string &stage) {
  Result<std::string> text = [&] {
    WithoutGil release;
    return f.function->printStage(stage);
  }();
  return unwrap(std::move(text));
}

/// The functions bound to one jitted Python function, most recently used first.
class Jit {
public:
  Jit(pb::object slow, pb::object asarray) : slow(std::move(slow)), asarray(std::move(asarray)) {}

  /// `kwargs` may be null.
  pb::object call(PyObject *args, PyObject *kwargs) {
    if (!bound.empty() && !Trace::active()) {
      CallArguments given(args, kwargs, asarray, own);
      // The list may change meanwhile: an array of open size is looked at.
      for (size_t i = 0; i < bound.size(); ++i) {
        std::shared_ptr<const Bound> candidate = bound[i];
        pb::object result;
        if (matches(*candidate, given))
          result = candidate->plain.is_none() ? run(*candidate, given)
                                              : runPlain(*candidate, given, args, kwargs);
        if (!result)
          continue;
        if (i > 0 && i < bound.size() && bound[i] == candidate)
          std::rotate(bound.begin(), bound.begin() + static_cast<std::ptrdiff_t>(i),
                      bound.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        return result;
      }
    }
    pb::object named = kwargs ? pb::reinterpret_borrow<pb::object>(kwargs) : pb::object(pb::dict());
    return slow(pb::reinterpret_borrow<pb::object>(args), named);
  }

  /// The function is called from now on for arguments that look like these. `arrays`: what it takes
  /// of them. `statics`: positions and names of arguments that are values. `guards`: where outer
  /// values are that it depends on. `unflatten` makes the result: the number of the argument that
  /// it is; None for the only output, or a list of all; a callable of that list; a tuple of a
  /// callable of that list and the arrays. `views`: it writes to arguments or returns parts of
  /// them, which have to be contiguous. `device`: the function's own; None: the current one, which
  /// then matters. `plain`: run in place of `function`; None: it is called. `evaluate`: NumberSteps
  /// from the open numbers (CallPattern) to those of the function's variables and then those that
  /// `unflatten` takes after the arrays; None: variables are open numbers.
  void bind(const TracedFunction &function, pb::object unflatten, bool views, const pb::tuple &args,
            const pb::dict &kwargs, const pb::list &arrays,
            const std::pair<pb::set, pb::set> &statics, const pb::list &guards,
            const pb::object &device, const pb::object &plain, const pb::object &evaluate) {
    auto pattern = CallPattern::of(args.ptr(), kwargs.ptr(), statics.first, statics.second);
    if (!pattern || pattern->arrayCount() != arrays.size() || arrays.empty())
      return;
    own = toDevice(device);
    bool returnsArguments =
        PyLong_CheckExact(unflatten.ptr()) || PyTuple_CheckExact(unflatten.ptr());
    // Which device new arrays go to is part of what was traced, and the thread's modes are.
    Bound made{function,
               std::move(unflatten),
               own ? nullptr : unwrap(currentDevice()),
               recordingModes(),
               views,
               views || returnsArguments,
               !function.function->updatedArguments().empty(),
               std::move(*pattern),
               {},
               plain,
               evaluate,
               evaluate.is_none() ? nullptr : pb::cast<const NumberSteps *>(evaluate),
               {}};
    for (const Function::Variable &v : made.traced.function->variables())
      made.variables.push_back(v.number - 1);
    for (pb::handle item : guards) {
      auto [where, name] = pb::cast<std::pair<pb::object, pb::object>>(item);
      made.guards.emplace_back(std::move(where), std::move(name));
    }
    auto isKnown = [&](const std::shared_ptr<const Bound> &b) {
      return b->traced.function == made.traced.function && b->device == made.device &&
             b->modes == made.modes && b->pattern == made.pattern && holds(*b);
    };
    if (std::ranges::any_of(bound, isKnown)) // it is the arrays that differ: they were converted
      return;
    bound.insert(bound.begin(), std::make_shared<const Bound>(std::move(made)));
    if (bound.size() > kMaxBound)
      bound.pop_back();
  }
  void clear() { bound.clear(); }
  size_t size() const { return bound.size(); }

private:
  struct Bound {
    TracedFunction traced;
    pb::object unflatten;
    rt::Device *device; ///< null: any
    uint64_t modes;
    bool views, keeps, updates; ///< keeps: arguments live on in results
    CallPattern pattern;
    std::vector<Guard> guards;
    pb::object plain; ///< or None
    pb::object evaluate;
    const NumberSteps *steps;        ///< of `evaluate`, or null
    std::vector<uint32_t> variables; ///< which open number each of the function's is
  };
  static constexpr size_t kMaxBound = 64;

  static bool holds(const Bound &b) { return std::ranges::all_of(b.guards, &Guard::holds); }

  static bool matches(const Bound &b, CallArguments &call) {
    if (b.modes != recordingModes() || !b.pattern.matches(call) || !holds(b))
      return false;
    if (b.updates && call.hasForeign()) // NumPy's get what was written to ours
      return false;
    if (b.keeps && call.hasLent())
      return false;
    if (b.device) {
      auto device = currentDevice();
      if (!device || *device != b.device)
        return false;
    }
    std::span<const Array *const> given(const_cast<const Array *const *>(call.arrays().data()),
                                        call.arrays().size());
    return b.traced.function->accepts(given) && b.traced.function->isSafeFor(given) &&
           (!b.views ||
            std::ranges::all_of(given, [](const Array *x) { return x->view().isContiguous(); }));
  }

  /// Null where arguments have to become arrays first.
  pb::object runPlain(const Bound &b, const CallArguments &call, PyObject *args,
                      PyObject *kwargs) const {
    if (call.hasForeign() || own)
      return {};
    auto result = pb::reinterpret_steal<pb::object>(PyObject_Call(b.plain.ptr(), args, kwargs));
    if (!result)
      throw pb::error_already_set();
    return result;
  }

  /// Null where the numbers of the call need another recording.
  static pb::object run(const Bound &b, const CallArguments &call) {
    std::optional<std::vector<pb::object>> computed;
    if (b.steps && !(computed = b.steps->evaluate(call.numbers())))
      return {};
    std::vector<op::Scalar> scalars;
    for (size_t i = 0; i < b.variables.size(); ++i)
      scalars.push_back(toScalar(computed ? pb::handle((*computed)[i])
                                          : pb::handle(call.numbers()[b.variables[i]])));
    auto variables = b.traced.function->variableBits(scalars);
    if (!variables)
      return {};
    std::vector<Array> outputs = callFunction(b.traced, call.arrays(), *variables);
    const pb::object &unflatten = b.unflatten;
    if (PyLong_CheckExact(unflatten.ptr()))
      return call.arrayObject(PyLong_AsSize_t(unflatten.ptr()));
    if (PyTuple_CheckExact(unflatten.ptr())) {
      pb::list given = call.arrayObjects();
      for (size_t i = b.variables.size(); computed && i < computed->size(); ++i)
        given.append((*computed)[i]);
      return pb::reinterpret_borrow<pb::object>(PyTuple_GET_ITEM(unflatten.ptr(), 0))(
          toList(std::move(outputs)), given);
    }
    if (unflatten.is_none() && outputs.size() == 1)
      return wrapped(std::move(outputs[0]));
    pb::list list = toList(std::move(outputs));
    if (unflatten.is_none() || unflatten.ptr() == reinterpret_cast<PyObject *>(&PyList_Type))
      return list;
    return unflatten(list);
  }

  pb::object slow, asarray;
  rt::Device *own = nullptr; ///< where the function runs, null: on the current device
  std::vector<std::shared_ptr<const Bound>> bound;
};

/// The type's call slot: pybind11's dispatcher costs as much as the rest of a warm call.
PyObject *callJit(PyObject *self, PyObject *args, PyObject *kwargs) {
  return guarded([&] {
    auto *instance = reinterpret_cast<pb::detail::instance *>(self);
    auto *jit = instance->get_value_and_holder().value_ptr<Jit>();
    if (!jit)
      throw pb::type_error("Jit.__init__ was not called");
    return jit->call(args, kwargs).release().ptr();
  });
}

} // namespace

void defineJit(pb::module_ &m) {
  pb::class_<TraceHandle>(m, "Trace");
  defineNumbers(m);
  pb::class_<TracedFunction>(m, "Function")
      .def(
          "call",
          [](const TracedFunction &f, const pb::object &arrays, const pb::list &numbers) {
            std::vector<op::Scalar> scalars;
            for (pb::handle number : numbers)
              scalars.push_back(toScalar(number));
            auto variables = f.function->variableBits(scalars);
            if (!variables)
              raise(Status(ErrorCode::Trace, "[jit] a number does not fit its dtype"));
            return toList(callFunction(f, borrowArrays(arrays), *variables));
          },
          pb::arg("arrays"), pb::arg("numbers") = pb::list())
      .def_property_readonly("variables",
                             [](const TracedFunction &f) {
                               pb::list out;
                               for (const Function::Variable &v : f.function->variables())
                                 out.append(v.number - 1);
                               return out;
                             })
      .def("is_safe_for",
           [](const TracedFunction &f, const pb::object &arrays) {
             std::vector<Array *> list = borrowArrays(arrays);
             return f.function->isSafeFor(
                 {const_cast<const Array *const *>(list.data()), list.size()});
           })
      .def("print_stage", stageText)
      .def("explain", [](const TracedFunction &f) { return stageText(f, "explain"); })
      .def("cost",
           [](const TracedFunction &f) {
             FunctionCost cost = unwrap(f.function->cost());
             return pb::make_tuple(cost.argumentBytes, cost.outputBytes, cost.peakBytes,
                                   cost.launches, cost.copies);
           })
      .def("export_text", [](const TracedFunction &f) { return stageText(f, "graph"); })
      .def_property_readonly("program_count",
                             [](const TracedFunction &f) { return f.function->programCount(); })
      .def_property_readonly(
          "updates_arguments",
          [](const TracedFunction &f) { return !f.function->updatedArguments().empty(); })
      .def_property_readonly("updates",
                             [](const TracedFunction &f) {
                               pb::list out;
                               for (uint32_t i : f.function->updatedArguments())
                                 out.append(i);
                               return out;
                             })
      .def_property_readonly(
          "runs_better_unrecorded",
          [](const TracedFunction &f) { return f.function->runsBetterUnrecorded(); })
      .def_property_readonly("captures",
                             [](const TracedFunction &f) { return f.function->captureCount(); });
  m.def("begin_trace", beginTrace);
  m.def("end_trace", endTrace, pb::arg("trace"), pb::arg("outputs"),
        pb::arg("program_nodes") = kSegmentNodes);
  m.def("abort_trace", [](TraceHandle &handle) { handle.trace.reset(); });
  m.def("is_tracing", [] { return Trace::active() != nullptr; });
  // What a call makes that is outside of the trace that is under way.
  m.def("outside_trace", [](const pb::function &call) {
    Trace::Pause pause;
    return call();
  });
  m.def("is_traced", [](const pb::object &object) {
    const Array &x = *asAnyArray(object);
    uint64_t id = x.isOpen() ? x.open()->recipe()->traceId() : x.storage()->traceId();
    return Trace::active() && id == Trace::active()->id();
  });
  pb::class_<Jit>(m, "Jit", pb::custom_type_setup([](PyHeapTypeObject *type) {
                    type->ht_type.tp_call = callJit;
                  }))
      .def(pb::init<pb::object, pb::object>())
      .def("bind", &Jit::bind)
      .def("clear", &Jit::clear)
      .def_property_readonly("size", &Jit::size);
}

} // namespace graphc::py
