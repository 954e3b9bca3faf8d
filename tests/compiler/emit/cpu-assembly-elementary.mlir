// Every elementary function is vector code of our own: no call leaves a kernel, and with AVX-512 a power of two is one
// operation.
// REQUIRES: compiler, graphc
// RUN: graphc compile %s --emit=asm --cpu-features=avx,avx2,fma > %t.avx2
// RUN: FileCheck %s --implicit-check-not=@PLT --implicit-check-not=@GOTPCREL < %t.avx2
// RUN: graphc compile %s --emit=asm --cpu-features=avx,avx2,fma,avx512f,avx512vl,avx512bw,avx512dq > %t.avx512
// RUN: FileCheck %s --implicit-check-not=@PLT --implicit-check-not=@GOTPCREL < %t.avx512
// RUN: FileCheck %s --check-prefix=SCALE < %t.avx512

// CHECK: all_0
// SCALE: vscalefps
func.func @all(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = graph.exp %x : tensor<?xf32>
  %1 = graph.exp2 %0 : tensor<?xf32>
  %2 = graph.expm1 %1 : tensor<?xf32>
  %3 = graph.log %2 : tensor<?xf32>
  %4 = graph.log1p %3 : tensor<?xf32>
  %5 = graph.log2 %4 : tensor<?xf32>
  %6 = graph.log10 %5 : tensor<?xf32>
  %7 = graph.sin %6 : tensor<?xf32>
  %8 = graph.cos %7 : tensor<?xf32>
  %9 = graph.tan %8 : tensor<?xf32>
  %10 = graph.asin %9 : tensor<?xf32>
  %11 = graph.acos %10 : tensor<?xf32>
  %12 = graph.atan %11 : tensor<?xf32>
  %13 = graph.sinh %12 : tensor<?xf32>
  %14 = graph.cosh %13 : tensor<?xf32>
  %15 = graph.tanh %14 : tensor<?xf32>
  %16 = graph.asinh %15 : tensor<?xf32>
  %17 = graph.acosh %16 : tensor<?xf32>
  %18 = graph.atanh %17 : tensor<?xf32>
  %19 = graph.cbrt %18 : tensor<?xf32>
  %20 = graph.sqrt %19 : tensor<?xf32>
  %21 = graph.rsqrt %20 : tensor<?xf32>
  %22 = graph.erf %21 : tensor<?xf32>
  %23 = graph.erfc %22 : tensor<?xf32>
  %24 = graph.lgamma %23 : tensor<?xf32>
  %25 = graph.reciprocal %24 : tensor<?xf32>
  %26 = graph.atan2 %25, %y : tensor<?xf32>
  %27 = graph.hypot %26, %y : tensor<?xf32>
  %28 = graph.logaddexp %27, %y : tensor<?xf32>
  %29 = graph.pow %28, %y : tensor<?xf32>
  %30 = graph.copysign %29, %y : tensor<?xf32>
  %31 = graph.nextafter %30, %y : tensor<?xf32>
  return %31 : tensor<?xf32>
}
