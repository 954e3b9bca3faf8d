//===- Dlpack.h - The DLPack ABI --------------------------------------------------------------===//
//
// Records of the DLPack standard (versions 0 and 1), as far as host memory needs them.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_DLPACK_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_DLPACK_H

#include "runtime/base/DType.h"

#include <cstdint>

namespace graphc::py::dlpack {

inline constexpr int32_t kCpu = 1;
inline constexpr uint8_t kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6;
inline constexpr uint64_t kReadOnly = 1, kCopied = 2;
/// What exports say and imports ask for; another major version has other records.
inline constexpr uint32_t kMajor = 1, kMinor = 1;

struct Device {
  int32_t type;
  int32_t id;
};
struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
struct Tensor {
  void *data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t *shape;
  int64_t *strides; ///< elements
  uint64_t byteOffset;
};
/// Capsule "dltensor".
struct Managed {
  Tensor tensor;
  void *context;
  void (*deleter)(Managed *self);
};
struct Version {
  uint32_t major;
  uint32_t minor;
};
/// Capsule "dltensor_versioned".
struct ManagedVersioned {
  Version version;
  void *context;
  void (*deleter)(ManagedVersioned *self);
  uint64_t flags;
  Tensor tensor;
};

} // namespace graphc::py::dlpack

namespace graphc::py {
dlpack::DataType dlpackType(DType dtype);
}

#endif // GRAPHC_FRONTENDS_PYTHON_BINDINGS_DLPACK_H
