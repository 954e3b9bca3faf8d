//===- CpuFeatures.cpp - What this CPU can execute --------------------------------------------===//
#include "runtime/drivers/cpu/CpuFeatures.h"

#include "runtime/base/Setting.h"
#include "runtime/base/Strings.h"
#include "runtime/base/Trace.h"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace graphc::rt::cpu {
namespace {

Setting cpuFeatures{
    "GRAPHC_CPU_FEATURES",
    "CPU extensions that compiled code may use, e.g. \"avx2,fma\"; \"none\" for the baseline",
    "all that the CPU has"};

enum Register { Ecx1, Ebx7, Ecx7, Edx7, EcxExt };
enum SavedState { Always, Avx, Avx512 };

struct Feature {
  const char *name;
  Register reg;
  int bit;
  SavedState state;
  const char *implies; ///< features of this table that come with it, transitively closed
};

// One row an extension; order is the order of the feature string. Bits: Intel SDM volume 2A, CPUID
// leaves 1, 7 and 0x80000001.
constexpr Feature kFeatures[] = {
    {"sse3", Ecx1, 0, Always, ""},
    {"ssse3", Ecx1, 9, Always, "sse3"},
    {"sse4.1", Ecx1, 19, Always, "sse3,ssse3"},
    {"sse4.2", Ecx1, 20, Always, "sse3,ssse3,sse4.1"},
    {"sse4a", EcxExt, 6, Always, "sse3"}, // of AMD's processors, which it tells apart
    {"popcnt", Ecx1, 23, Always, ""},
    {"movbe", Ecx1, 22, Always, ""},
    {"lzcnt", EcxExt, 5, Always, ""},
    {"bmi", Ebx7, 3, Always, ""},
    {"bmi2", Ebx7, 8, Always, ""},
    {"avx", Ecx1, 28, Avx, "sse3,ssse3,sse4.1,sse4.2"},
    {"f16c", Ecx1, 29, Avx, "sse3,ssse3,sse4.1,sse4.2,avx"},
    {"fma", Ecx1, 12, Avx, "sse3,ssse3,sse4.1,sse4.2,avx"},
    {"avx2", Ebx7, 5, Avx, "sse3,ssse3,sse4.1,sse4.2,avx"},
    {"avx512f", Ebx7, 16, Avx512, "sse3,ssse3,sse4.1,sse4.2,avx,f16c,fma,avx2"},
    {"avx512cd", Ebx7, 28, Avx512, "sse3,ssse3,sse4.1,sse4.2,avx,f16c,fma,avx2,avx512f"},
    {"avx512dq", Ebx7, 17, Avx512, "sse3,ssse3,sse4.1,sse4.2,avx,f16c,fma,avx2,avx512f"},
    {"avx512ifma", Ebx7, 21, Avx512, "sse3,ssse3,sse4.1,sse4.2,avx,f16c,fma,avx2,avx512f"},
    {"avx512bw", Ebx7, 30, Avx512, "sse3,ssse3,sse4.1,sse4.2,avx,f16c,fma,avx2,avx512f"},
    {"avx512vl", Ebx7, 31, Avx512, "sse3,ssse3,sse4.1,sse4.2,avx,f16c,fma,avx2,avx512f"},
    {"avx512vbmi", Ecx7, 1, Avx512, "sse3,ssse3,sse4.1,sse4.2,avx,f16c,fma,avx2,avx512f,avx512bw"},
    {"avx512vbmi2", Ecx7, 6, Avx512, "sse3,ssse3,sse4.1,sse4.2,avx,f16c,fma,avx2,avx512f,avx512bw"},
    {"avx512vnni", Ecx7, 11, Avx512, "sse3,ssse3,sse4.1,sse4.2,avx,f16c,fma,avx2,avx512f"},
    {"avx512bitalg", Ecx7, 12, Avx512,
     "sse3,ssse3,sse4.1,sse4.2,avx,f16c,fma,avx2,avx512f,avx512bw"},
    {"avx512vpopcntdq", Ecx7, 14, Avx512, "sse3,ssse3,sse4.1,sse4.2,avx,f16c,fma,avx2,avx512f"},
    // Of AMD's from Zen 5 on, which it tells apart.
    {"avx512vp2intersect", Edx7, 8, Avx512, "sse3,ssse3,sse4.1,sse4.2,avx,f16c,fma,avx2,avx512f"},
    // Of Intel's from Sapphire Rapids on, which it tells apart.
    {"avx512fp16", Edx7, 23, Avx512,
     "sse3,ssse3,sse4.1,sse4.2,avx,f16c,fma,avx2,avx512f,avx512dq,avx512bw,avx512vl"},
};

std::string detect() {
  std::string list;
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  uint32_t registers[5] = {};
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx))
    registers[Ecx1] = ecx;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) {
    registers[Ebx7] = ebx;
    registers[Ecx7] = ecx;
    registers[Edx7] = edx;
  }
  if (__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx))
    registers[EcxExt] = ecx;
  // An extension is usable only when the system saves its registers: XCR0 bits 1-2 for AVX, 5-7 as
  // well for AVX-512.
  uint32_t xcr0 = 0, high = 0;
  if (registers[Ecx1] & bit_OSXSAVE)
    asm volatile("xgetbv" : "=a"(xcr0), "=d"(high) : "c"(0));
  bool saved[3] = {true, (xcr0 & 0x06) == 0x06, (xcr0 & 0xe6) == 0xe6};
  for (const Feature &f : kFeatures)
    if ((registers[f.reg] >> f.bit & 1) && saved[f.state])
      list += (list.empty() ? "" : ",") + std::string(f.name);
#endif
  return list;
}

} // namespace

const std::string &detectedFeatures() {
  static const std::string *features = new std::string(detect());
  return *features;
}

std::string allowedFeatures() {
  auto wanted = cpuFeatures.get();
  if (!wanted)
    return detectedFeatures();
  std::string closure;
  for (std::string_view name : strings::split(*wanted, ',')) {
    if (name == "none")
      continue;
    if (!strings::listContains(detectedFeatures(), name)) {
      emitEvent(
          EventLevel::Warning, "device",
          strings::format("GRAPHC_CPU_FEATURES names '{}', which this CPU does not have", name));
      continue;
    }
    closure += "," + std::string(name);
    for (const Feature &f : kFeatures)
      if (name == f.name)
        closure += "," + std::string(f.implies);
  }
  std::string list;
  for (std::string_view name : strings::split(detectedFeatures(), ','))
    if (strings::listContains(closure, name))
      list += (list.empty() ? "" : ",") + std::string(name);
  return list;
}

std::string firstMissingFeature(std::string_view required) {
  for (std::string_view name : strings::split(required, ','))
    if (!strings::listContains(detectedFeatures(), name))
      return std::string(name);
  return "";
}

std::string modelName() {
#if defined(__x86_64__)
  char brand[49] = {};
  unsigned words[4];
  // Under a hypervisor each question takes some microseconds.
  if (__get_cpuid_max(0x80000000, nullptr) < 0x80000004)
    return "x86-64";
  for (unsigned leaf = 0; leaf < 3; ++leaf) {
    __cpuid(0x80000002 + leaf, words[0], words[1], words[2], words[3]);
    std::memcpy(brand + 16 * leaf, words, 16);
  }
  return std::string(strings::trim(brand));
#else
  return "cpu";
#endif
}

} // namespace graphc::rt::cpu
