//===- MaskLoopsAvx2.h - Loops over masks in vectors of 256 bits ------------------------------===//
#ifndef GRAPHC_RUNTIME_LIBRARY_MASKLOOPSAVX2_H
#define GRAPHC_RUNTIME_LIBRARY_MASKLOOPSAVX2_H

#include "runtime/library/MaskLoops.h"

namespace graphc::rt::library {

#if defined(__x86_64__)
/// The given loops with those in their place that AVX2 has: of elements of up to 8 bytes.
MaskLoops inAvx2(MaskLoops loops);
#endif

} // namespace graphc::rt::library

#endif // GRAPHC_RUNTIME_LIBRARY_MASKLOOPSAVX2_H
