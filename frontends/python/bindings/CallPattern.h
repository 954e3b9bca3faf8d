//===- CallPattern.h - What the arguments of a jitted call look like --------------------------===//
//
// A recorded function is found again without Python code: arguments are walked beside a pattern
// that the call left that was recorded. What may run a user's code (`__eq__`, `__hash__`) is never
// compared, so a pattern stays what it is while it is walked.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_CALLPATTERN_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_CALLPATTERN_H

#include "frontends/python/bindings/Bindings.h"

#include <array>
#include <utility>
#include <vector>

namespace graphc::py {

/// One call: its arguments, and the distinct arrays among them in the order of a walk.
class CallArguments {
public:
  static constexpr size_t kMostArrays = 32, kMostNumbers = 16;

  /// `kwargs` may be null, both are borrowed. `asarray` makes arrays of NumPy's, on the device
  /// `own`, or where that is null on the current one.
  CallArguments(PyObject *args, PyObject *kwargs, const pb::object &asarray, rt::Device *own)
      : args(args), kwargs(kwargs), asarray(asarray), own(own) {}
  CallArguments(const CallArguments &) = delete;
  CallArguments &operator=(const CallArguments &) = delete;
  ~CallArguments() { begin(); }

  std::span<Array *const> arrays() const { return {given.data(), count}; }
  /// The Python object of one of the arrays.
  pb::object arrayObject(size_t i) const { return pb::reinterpret_borrow<pb::object>(objects[i]); }
  pb::list arrayObjects() const;
  /// The Python numbers that the pattern leaves open, by their places in it; borrowed.
  std::span<PyObject *const> numbers() const { return {open.data(), openCount}; }
  /// Whether some were made of NumPy's.
  bool hasForeign() const { return !made.empty(); }
  /// Whether some of these lie in NumPy's memory.
  bool hasLent() const { return isLent; }

private:
  friend class CallPattern;

  void begin() {
    while (count > 0)
      Py_DECREF(objects[--count]);
    for (size_t i = 0; i < std::exchange(openCount, 0); ++i)
      Py_CLEAR(open[i]);
  }
  /// Finds or adds the array of an object; false where it is none, or where there are too many.
  bool add(PyObject *object);
  pb::object ofNumpy(PyObject *object);

  PyObject *args, *kwargs;
  const pb::object &asarray;
  rt::Device *own;
  bool isLent = false;
  size_t count = 0;
  std::array<Array *, kMostArrays> given;
  std::array<PyObject *, kMostArrays> sources; ///< what the arrays were given as
  /// Owned: another thread may change a list that they came in.
  std::array<PyObject *, kMostArrays> objects;
  std::array<PyObject *, kMostNumbers> open; ///< owned as well
  size_t openCount = 0;
  std::vector<std::pair<PyObject *, pb::object>> made; ///< of NumPy's arrays, by object
};

/// Whether an object is this one, or an equal number or string of the same type.
bool isSameValue(PyObject *object, PyObject *value);

class CallPattern {
public:
  /// Of a call whose arguments at some positions and of some names are values, not arrays; numbers
  /// that are open have a Number in their place. Nothing where it holds what is not compared here.
  static std::optional<CallPattern> of(PyObject *args, PyObject *kwargs, const pb::set &positions,
                                       const pb::set &names);

  /// Whether a call looks so; its arrays are then known.
  bool matches(CallArguments &call) const;
  bool operator==(const CallPattern &other) const;
  size_t arrayCount() const { return arrays.size(); }
  size_t numberCount() const { return numbers; }

private:
  enum class Kind : uint8_t { Array, Tuple, List, Dict, Key, Value, Number };
  struct Token {
    Kind kind;
    uint32_t count = 0; ///< of parts; of an array or open number its place among them
    pb::object value;   ///< of an open number its type
  };

  bool build(PyObject *object, bool isValue);
  bool buildParts(PyObject *sequence, Kind kind, bool isValue);
  bool buildDict(PyObject *dict, const pb::set *names);
  bool buildLeaf(PyObject *object, bool isValue);
  bool walk(PyObject *object, size_t &at, CallArguments &call) const;
  bool walkDict(PyObject *dict, size_t &at, CallArguments &call) const;

  std::vector<Token> tokens;
  std::vector<PyObject *> arrays; ///< of the call it was made of; only their identities are used
  size_t numbers = 0;
  bool hasKeywords = false;
};

/// An outer value that a recording depends on: a global or a cell, and what it held.
class Guard {
public:
  /// A dict and a name in it, or a cell and None. What is not there counts as None.
  Guard(pb::object where, pb::object name);
  bool holds() const;

private:
  PyObject *now() const; ///< borrowed
  pb::object where, name, value;
};

} // namespace graphc::py

#endif // GRAPHC_FRONTENDS_PYTHON_BINDINGS_CALLPATTERN_H
