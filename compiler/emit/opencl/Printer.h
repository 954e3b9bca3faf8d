//===- Printer.h - Lowered functions as OpenCL C ----------------------------------------------===//
#ifndef GRAPHC_COMPILER_EMIT_OPENCL_PRINTER_H
#define GRAPHC_COMPILER_EMIT_OPENCL_PRINTER_H

#include "compiler/emit/Emitter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace graphc::emit {

/// Prints functions over scf, memref, arith and math on scalars as OpenCL C 1.2 kernels. Integer
/// arithmetic goes through unsigned types (signed overflow is undefined in C), floats are written
/// as bit patterns, bool is an int of 0 or 1.
class OpenCLPrinter {
public:
  /// Kernels go to `os`; what they share, and stands before them, to `shared`.
  OpenCLPrinter(llvm::raw_ostream &os, llvm::raw_ostream &shared) : os(os), shared(shared) {}
  /// A kernel of (buffers..., sizes..., range). Fails with a diagnostic at an op that has no
  /// spelling.
  llvm::LogicalResult printKernel(mlir::func::FuncOp func, const EmittedKernel &kernel);

private:
  llvm::LogicalResult block(mlir::Block &block);
  llvm::LogicalResult statement(mlir::Operation *op);
  llvm::LogicalResult loop(mlir::Operation *op);
  llvm::LogicalResult whileLoop(mlir::Operation *op);
  llvm::LogicalResult branch(mlir::Operation *op);
  void call(mlir::func::CallOp op);
  llvm::LogicalResult atomic(mlir::memref::AtomicRMWOp op);
  llvm::LogicalResult memory(mlir::Operation *op);
  /// Loads and stores of whole vectors, and their lanes; false for other ops.
  bool vectors(mlir::Operation *op);
  /// The C expression of an arith or math op; empty when there is none.
  std::string expression(mlir::Operation *op);
  std::string integer(mlir::Operation *op);
  std::string floating(mlir::Operation *op);
  std::string conversion(mlir::Operation *op);
  std::string constant(mlir::Operation *op);
  std::string compare(mlir::Operation *op);
  std::string wrapped(const char *symbol, mlir::Operation *op);

  void declare(mlir::Value value, llvm::StringRef initial);
  void printTables(mlir::func::FuncOp func);
  void assignYield(mlir::Operation *terminator, mlir::ValueRange targets);
  std::string name(mlir::Value value);
  llvm::raw_ostream &line();

  llvm::raw_ostream &os, &shared;
  llvm::DenseMap<mlir::Value, std::string> names;
  llvm::DenseMap<mlir::Attribute, std::string> tables; ///< printed so far
  bool tellsGroups = false; ///< fences tell other groups what the whole group has stored
  unsigned next = 0, depth = 1;
};

} // namespace graphc::emit

#endif // GRAPHC_COMPILER_EMIT_OPENCL_PRINTER_H
