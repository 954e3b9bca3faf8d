//===- Loader.h - Finding and loading the compiler --------------------------------------------===//
//
// MLIR-free. The compiler is a shared library that is opened when something has to be compiled, so
// that a process that finds all its programs in a cache never maps LLVM. It is searched for in this
// order:
//   1. the file named by GRAPHC_COMPILER_LIB, and nothing else when that is set;
//   2. beside the binary that contains this code (program, Python extension or shared library): its
//   folder, lib/ in it, and
//      ../lib and ../<CMake's library folder> from it, as installed;
//   3. lib/ of the build tree that the binary lies in.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_API_LOADER_H
#define GRAPHC_COMPILER_API_LOADER_H

#include "compiler/api/Compiler.h"
#include "runtime/base/Status.h"

#include <string>
#include <string_view>

namespace graphc {

/// The compiler, opened on first use and never closed. An Unsupported error says where it was
/// searched for; a failure is not remembered, so that a later call may find it. Thread-safe.
Result<const CompilerApi *> loadCompiler();

/// Whether loadCompiler() has succeeded in this process.
bool compilerIsLoaded();

/// What identifies the compiler's code without loading it: the linker's build id of the library
/// file, or its size and time of change. Part of every cache key; empty when there is no compiler.
/// Decided once.
std::string_view compilerBuildId();

/// The path that loadCompiler() would open, or an Unsupported error that lists the places.
Result<std::string> findCompiler();

} // namespace graphc

#endif // GRAPHC_COMPILER_API_LOADER_H
