//===- Inspect.h - Programs as text -----------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_PROGRAM_INSPECT_H
#define GRAPHC_RUNTIME_PROGRAM_INSPECT_H

#include "runtime/program/Reader.h"

#include <string>

namespace graphc::program {

/// A listing for people: signature, buffers, kernels, steps. Ends with a newline.
std::string inspectText(const Program &program);
/// The same facts as one JSON object.
std::string inspectJson(const Program &program);
/// A size as an expression over inputs and arguments: "x.0*4", "min(n0, 128)".
std::string sizeText(const Program &program, uint32_t size);

} // namespace graphc::program

#endif // GRAPHC_RUNTIME_PROGRAM_INSPECT_H
