// An update is in place when the old value is dead, not the caller's, and read by the kernel only where it is written.
// Kernels are found by position: equal ones of several functions are one.
// RUN: graphc-opt %s --graphc-pipeline=to=plan | FileCheck %s

// Nothing reads the old value later: the update writes into it.
// CHECK-LABEL: plan.program @in_place inputs [
// CHECK-NEXT: ^bb0(%[[X:.*]]: !plan.buffer<f32>, %[[V:.*]]: !plan.buffer<f32>):
// CHECK: %[[A:.*]] = plan.alloc
// CHECK: plan.launch @{{.*}}(%[[X]], %[[A]] :
// CHECK-NOT: plan.copy
// CHECK: plan.launch @{{.*}}(%[[V]], %[[A]], %[[A]] :
// CHECK-NOT: plan.copy
// CHECK: plan.return %[[A]] : !plan.buffer<f32>
func.func @in_place(%x: tensor<10xf32>, %v: tensor<3xf32>) -> tensor<10xf32> {
  %a = graph.exp %x : tensor<10xf32>
  %u = graph.update_slice %v into %a from [1] step [2] : tensor<3xf32> into tensor<10xf32> -> tensor<10xf32>
  return %u : tensor<10xf32>
}

// The kernel reads the old value only where it writes.
// CHECK-LABEL: plan.program @in_place_same_point inputs [
// CHECK: %[[A:.*]] = plan.alloc
// CHECK: plan.launch @{{.*}}(
// CHECK-NOT: plan.copy
// CHECK: plan.launch @{{.*}}(%[[A]], %[[A]] :
// CHECK: plan.return %[[A]] :
func.func @in_place_same_point(%x: tensor<10xf32>) -> tensor<10xf32> {
  %a = graph.exp %x : tensor<10xf32>
  %s = graph.slice %a from [1] step [1] : tensor<10xf32> -> tensor<8xf32>
  %b = graph.neg %s : tensor<8xf32>
  %u = graph.update_slice %b into %a from [1] step [1] : tensor<8xf32> into tensor<10xf32> -> tensor<10xf32>
  return %u : tensor<10xf32>
}

// It reads another row than it writes: 0 and 1, and starts that have different names, which a call has to keep.
// CHECK-LABEL: plan.program @in_place_apart inputs [
// CHECK: %[[S:.*]] = plan.size 0
// CHECK: %[[T:.*]] = plan.size 1
// CHECK: %[[A:.*]] = plan.alloc
// CHECK: plan.launch @{{.*}}(
// CHECK-NOT: plan.copy
// CHECK: plan.launch @{{.*}}(%[[A]], %[[A]] :
// CHECK: arith.subi %[[S]], %[[T]]
// CHECK: plan.check %{{.*}} equals %{{.*}}, "starts of slices that differ"
// CHECK: plan.launch @{{.*}}(%[[A]], %[[A]] :
// CHECK: plan.return %[[A]] :
func.func @in_place_apart(%x: tensor<?x8xf32>, %s: index {graph.start}, %t: index {graph.start}) -> tensor<?x8xf32> {
  %a = graph.exp %x : tensor<?x8xf32>
  %r = graph.slice %a from [1, 0] step [1, 1] : tensor<?x8xf32> -> tensor<1x8xf32>
  %u = graph.update_slice %r into %a from [0, 0] step [1, 1] : tensor<1x8xf32> into tensor<?x8xf32> -> tensor<?x8xf32>
  %q = graph.slice %u from [%s, 0] step [1, 1] : tensor<?x8xf32> -> tensor<1x8xf32>
  %w = graph.update_slice %q into %u from [%t, 0] step [1, 1] : tensor<1x8xf32> into tensor<?x8xf32> -> tensor<?x8xf32>
  return %w : tensor<?x8xf32>
}

// Starts that nobody says are different, and rows that may meet.
// CHECK-LABEL: plan.program @not_apart inputs [
// CHECK: plan.launch
// CHECK: plan.copy
// CHECK: plan.launch
// CHECK: plan.copy
// CHECK: plan.launch
func.func @not_apart(%x: tensor<?x8xf32>, %s: index, %t: index {graph.start}) -> tensor<?x8xf32> {
  %a = graph.exp %x : tensor<?x8xf32>
  %q = graph.slice %a from [%s, 0] step [1, 1] : tensor<?x8xf32> -> tensor<1x8xf32>
  %u = graph.update_slice %q into %a from [%t, 0] step [1, 1] : tensor<1x8xf32> into tensor<?x8xf32> -> tensor<?x8xf32>
  %r = graph.slice %u from [0, 2] step [1, 1] : tensor<?x8xf32> -> tensor<3x5xf32>
  %w = graph.update_slice %r into %u from [1, 1] step [1, 1] : tensor<3x5xf32> into tensor<?x8xf32> -> tensor<?x8xf32>
  return %w : tensor<?x8xf32>
}

// The caller's buffer is never written, and not read again once it is copied.
// CHECK-LABEL: plan.program @input inputs [
// CHECK-NEXT: ^bb0(%[[X:.*]]: !plan.buffer<f32>, %[[V:.*]]: !plan.buffer<f32>):
// CHECK: %[[U:.*]] = plan.alloc
// CHECK: plan.copy %[[X]] to %[[U]] : <f32>, <f32>
// CHECK: plan.launch @{{.*}}(%[[V]], %[[U]], %[[U]] :
// CHECK: plan.return %[[U]] :
func.func @input(%x: tensor<10xf32>, %v: tensor<3xf32>) -> tensor<10xf32> {
  %u = graph.update_slice %v into %x from [1] step [2] : tensor<3xf32> into tensor<10xf32> -> tensor<10xf32>
  return %u : tensor<10xf32>
}

// The old value is returned as well.
// CHECK-LABEL: plan.program @read_later inputs [
// CHECK: %[[A:.*]] = plan.alloc
// CHECK: plan.launch @{{.*}}(
// CHECK: %[[U:.*]] = plan.alloc
// CHECK: plan.copy %[[A]] to %[[U]]
// CHECK: plan.launch @{{.*}}(%{{.*}}, %[[A]], %[[U]] :
// CHECK: plan.return %[[A]], %[[U]] :
func.func @read_later(%x: tensor<10xf32>, %v: tensor<3xf32>) -> (tensor<10xf32>, tensor<10xf32>) {
  %a = graph.exp %x : tensor<10xf32>
  %u = graph.update_slice %v into %a from [1] step [2] : tensor<3xf32> into tensor<10xf32> -> tensor<10xf32>
  return %a, %u : tensor<10xf32>, tensor<10xf32>
}

// The old value's alias is read later.
// CHECK-LABEL: plan.program @alias_read_later inputs [
// CHECK: %[[A:.*]] = plan.alloc
// CHECK: %[[U:.*]] = plan.alloc
// CHECK: plan.copy %[[A]] to %[[U]]
// CHECK: plan.return %[[A]], %[[U]] :
func.func @alias_read_later(%x: tensor<4x3xf32>, %v: tensor<1x3xf32>) -> (tensor<12xf32>, tensor<4x3xf32>) {
  %a = graph.exp %x : tensor<4x3xf32>
  %r = graph.reshape %a : tensor<4x3xf32> -> tensor<12xf32>
  %u = graph.update_slice %v into %a from [1, 0] step [1, 1] : tensor<1x3xf32> into tensor<4x3xf32> -> tensor<4x3xf32>
  return %r, %u : tensor<12xf32>, tensor<4x3xf32>
}

// The kernel reads neighbours of what it writes.
// CHECK-LABEL: plan.program @overlap inputs [
// CHECK: %[[A:.*]] = plan.alloc
// CHECK: plan.launch @{{.*}}(
// CHECK: %[[U:.*]] = plan.alloc
// CHECK: plan.copy %[[A]] to %[[U]]
// CHECK: plan.launch @{{.*}}(%[[A]], %[[U]] :
// CHECK: plan.return %[[U]] :
func.func @overlap(%x: tensor<10xf32>) -> tensor<10xf32> {
  %a = graph.exp %x : tensor<10xf32>
  %s = graph.slice %a from [0] step [1] : tensor<10xf32> -> tensor<8xf32>
  %u = graph.update_slice %s into %a from [1] step [1] : tensor<8xf32> into tensor<10xf32> -> tensor<10xf32>
  return %u : tensor<10xf32>
}

// Steps that read neighbours of what they write: a value equals the one before its base wherever it is not written, so
// the third takes the first's buffer without a copy, and two hold any number of steps.
// CHECK-LABEL: plan.program @steps inputs [
// CHECK-NEXT: ^bb0(%[[X:.*]]: !plan.buffer<f32>):
// CHECK: %[[A:.*]] = plan.alloc
// CHECK: plan.copy %[[X]] to %[[A]]
// CHECK: plan.launch @[[K:.*]](%[[X]], %[[A]] :
// CHECK: %[[B:.*]] = plan.alloc
// CHECK: plan.copy %[[A]] to %[[B]]
// CHECK: plan.launch @[[K]](%[[A]], %[[B]] :
// CHECK-NOT: plan.alloc
// CHECK-NOT: plan.copy
// CHECK: plan.launch @[[K]](%[[B]], %[[A]] :
// CHECK: plan.launch @[[K]](%[[A]], %[[B]] :
// CHECK: plan.return %[[B]] :
func.func @steps(%x: tensor<10xf32>) -> tensor<10xf32> {
  %s0 = graph.slice %x from [0] step [1] : tensor<10xf32> -> tensor<8xf32>
  %u0 = graph.update_slice %s0 into %x from [1] step [1] : tensor<8xf32> into tensor<10xf32> -> tensor<10xf32>
  %s1 = graph.slice %u0 from [0] step [1] : tensor<10xf32> -> tensor<8xf32>
  %u1 = graph.update_slice %s1 into %u0 from [1] step [1] : tensor<8xf32> into tensor<10xf32> -> tensor<10xf32>
  %s2 = graph.slice %u1 from [0] step [1] : tensor<10xf32> -> tensor<8xf32>
  %u2 = graph.update_slice %s2 into %u1 from [1] step [1] : tensor<8xf32> into tensor<10xf32> -> tensor<10xf32>
  %s3 = graph.slice %u2 from [0] step [1] : tensor<10xf32> -> tensor<8xf32>
  %u3 = graph.update_slice %s3 into %u2 from [1] step [1] : tensor<8xf32> into tensor<10xf32> -> tensor<10xf32>
  return %u3 : tensor<10xf32>
}

// The second step writes another region, and the value before the fourth's base is returned: copies.
// CHECK-LABEL: plan.program @steps_apart inputs [
// CHECK-COUNT-3: plan.copy
// CHECK-NOT: plan.copy
// CHECK: plan.return
func.func @steps_apart(%x: tensor<10xf32>) -> (tensor<10xf32>, tensor<10xf32>) {
  %s0 = graph.slice %x from [0] step [1] : tensor<10xf32> -> tensor<8xf32>
  %u0 = graph.update_slice %s0 into %x from [1] step [1] : tensor<8xf32> into tensor<10xf32> -> tensor<10xf32>
  %s1 = graph.slice %u0 from [0] step [1] : tensor<10xf32> -> tensor<8xf32>
  %u1 = graph.update_slice %s1 into %u0 from [2] step [1] : tensor<8xf32> into tensor<10xf32> -> tensor<10xf32>
  %s2 = graph.slice %u1 from [0] step [1] : tensor<10xf32> -> tensor<8xf32>
  %u2 = graph.update_slice %s2 into %u1 from [2] step [1] : tensor<8xf32> into tensor<10xf32> -> tensor<10xf32>
  %s3 = graph.slice %u2 from [0] step [1] : tensor<10xf32> -> tensor<8xf32>
  %u3 = graph.update_slice %s3 into %u2 from [2] step [1] : tensor<8xf32> into tensor<10xf32> -> tensor<10xf32>
  return %u1, %u3 : tensor<10xf32>, tensor<10xf32>
}

// A chain of updates needs one buffer; the input is copied once.
// CHECK-LABEL: plan.program @update_chain inputs [
// CHECK: plan.alloc
// CHECK-NOT: plan.alloc
// CHECK: plan.copy
// CHECK-NOT: plan.copy
// CHECK: plan.launch @{{.*}}(%{{.*}}, %[[U:.*]], %[[U]] :
// CHECK-NOT: plan.copy
// CHECK: plan.return %[[U]] :
func.func @update_chain(%x: tensor<10xf32>, %v: tensor<3xf32>) -> tensor<10xf32> {
  %u = graph.update_slice %v into %x from [1] step [2] : tensor<3xf32> into tensor<10xf32> -> tensor<10xf32>
  %w = graph.update_slice %v into %u from [0] step [1] : tensor<3xf32> into tensor<10xf32> -> tensor<10xf32>
  return %w : tensor<10xf32>
}

// Joined tensors start from nothing: no copy.
// CHECK-LABEL: plan.program @joined inputs [
// CHECK: %[[T:.*]] = plan.alloc
// CHECK-NOT: plan.copy
// CHECK: plan.launch @{{.*}}(%{{.*}}, %[[T]] :
// CHECK-NOT: plan.copy
// CHECK: plan.launch @{{.*}}(%{{.*}}, %[[T]], %[[T]] :
// CHECK: plan.return %[[T]] :
func.func @joined(%x: tensor<2x3xf32>, %y: tensor<4x3xf32>) -> tensor<6x3xf32> {
  %0 = graph.concatenate %x, %y axis 0 : tensor<2x3xf32>, tensor<4x3xf32> -> tensor<6x3xf32>
  return %0 : tensor<6x3xf32>
}
