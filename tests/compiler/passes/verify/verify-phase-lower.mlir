// After the last phase no graph op is left, on scalars either.
// RUN: graphc-opt %s --graphc-verify-phase=phase=lower -split-input-file -verify-diagnostics

func.func @loops(%x: memref<?xf32>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = math.fma %a, %a, %a : f32
    memref.store %b, %x[%i] : memref<?xf32>
  }
  return
}

// -----

func.func @scalar_op(%x: f32) -> f32 {
  // expected-error @+1 {{'graph.exp' op does not belong after phase 'lower'}}
  %0 = graph.exp %x : f32
  return %0 : f32
}

// -----

func.func @inside_a_loop(%n: index, %x: vector<8xf32>) {
  %zero = arith.constant 0 : index
  scf.for %i = %zero to %n step %n {
    // expected-error @+1 {{'graph.neg' op does not belong after phase 'lower'}}
    %0 = graph.neg %x : vector<8xf32>
  }
  return
}
