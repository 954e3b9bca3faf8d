//===- Interpreter.h - Values of recorded graphs, without a compiler --------------------------===//
//
// The plain meaning of the few operations that tests of views and segments record, in float64, one
// element at a time.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_TESTS_FRONTENDS_RECORD_INTERPRETER_H
#define GRAPHC_TESTS_FRONTENDS_RECORD_INTERPRETER_H

#include "frontends/record/Array.h"
#include "frontends/record/Snapshot.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace graphc::test {

using Values = std::vector<double>;

/// Values of the outputs of one segment, given those of its inputs; `error` names an operation it
/// does not know.
std::vector<Values> interpret(const Segment &segment, const std::vector<Values> &inputs,
                              std::string &error);

/// The value of a node: snapshot, all segments in order, interpreted. Nothing is evaluated or
/// published.
Values valueOf(const NodeRef &node, std::string &error);

} // namespace graphc::test

#endif // GRAPHC_TESTS_FRONTENDS_RECORD_INTERPRETER_H
