// REQUIRES: compiler, graphc
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/status.py 1 graphc compile %s -o %t/out.gco 2>&1 | FileCheck %s
// RUN: not ls %t/out.gco
// RUN: %python -c "open(r'%t/bytecode.mlir', 'wb').write(b'ML\xefR and so on')"
// RUN: %python %S/Inputs/status.py 1 graphc compile %t/bytecode.mlir -o %t/out.gco 2>&1 | FileCheck %s --check-prefix=BYTECODE
// BYTECODE: bytecode.mlir: error: this is not MLIR text (bytecode is not accepted)
// RUN: %python %S/Inputs/status.py 1 graphc compile %S/targets.mlir -o %t/out.gco --cpu-features=+avx2 2>&1 | FileCheck %s --check-prefix=FEATURE
// FEATURE: error: [cpu] unknown CPU feature '+avx2'
// RUN: %python %S/Inputs/status.py 1 graphc compile %S/Inputs/fma.mlir -o %t/out.gco --cpu-features=none 2>&1 | FileCheck %s --check-prefix=FMA
// FMA: error: [cpu] the program needs fused multiply-add, which the CPU features lack

func.func @main(%x: tensor<?xf64>) -> tensor<?xf64> {
  // CHECK: errors.mlir:[[@LINE+1]]:8: error: {{.*}}graph.nope
  %0 = graph.nope %x
  return %0 : tensor<?xf64>
}
