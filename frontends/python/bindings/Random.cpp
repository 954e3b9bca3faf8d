// Random numbers.
#include "frontends/python/bindings/Bindings.h"

namespace graphc::py {

void defineRandom(pb::module_ &m) {
  m.def("random", [](const std::string &name, const pb::args &operands) {
    auto kind = op::opKindFromName(name);
    if (!kind)
      throw pb::value_error("random: no operation is called '" + name + "'");
    return unwrap(ops::random(*kind, toArrays(operands)));
  });
  m.def(
      "random_word",
      [](uint64_t bits, const pb::object &device) {
        return unwrap(ops::randomWord(bits, toDevice(device)));
      },
      pb::arg("bits"), pb::arg("device") = pb::none());
}

} // namespace graphc::py
