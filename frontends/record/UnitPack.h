//===- UnitPack.h - Programs of one operation that come with the compiler ---------------------===//
//
// Operations that host loops do not compute (exp, sin, pow) are programs of one operation on
// vectors (SmallUnits.cpp). Compiling one takes as long as a short script, so they are compiled
// when graphc is built, for two sets of CPU features, with the same bits as any other.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_UNITPACK_H
#define GRAPHC_FRONTENDS_RECORD_UNITPACK_H

#include "runtime/exec/Executor.h"

#include <memory>
#include <span>
#include <string>

namespace graphc {

/// The program of a graph's canonical bytes, where it came with the compiler for features that the
/// device has; else null, as for every other device than the cpu, and with GRAPHC_CACHE=off.
std::shared_ptr<rt::LoadedProgram> packedProgram(std::span<const uint8_t> graph,
                                                 rt::Device &device);

/// Compiles all of them into a file. Errors of the compiler; Io.
Status writeUnitPack(const std::string &path);

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_UNITPACK_H
