//===- UnitPack.cpp - Programs of one operation that come with the compiler -------------------===//
#include "frontends/record/UnitPack.h"

#include "compiler/api/Loader.h"
#include "frontends/record/SmallUnits.h"
#include "runtime/base/Strings.h"
#include "runtime/cache/DiskCache.h"
#include "runtime/cache/ProgramPack.h"
#include "runtime/drivers/Drivers.h"

#include <algorithm>

namespace graphc {
namespace {

constexpr std::string_view kFileName = "graphc_units.pack";

/// Best first. What any two machines with these features have alike decides the code.
constexpr std::string_view kFeatureSets[] = {
    "sse3,ssse3,sse4.1,sse4.2,avx,f16c,fma,avx2,avx512f,avx512cd,avx512dq,avx512bw,avx512vl",
    "sse3,ssse3,sse4.1,sse4.2,avx,fma,avx2",
};

Digest keyOf(std::span<const uint8_t> graph, std::string_view features) {
  DigestStream stream;
  stream.update(features.data(), features.size());
  stream.update(graph.data(), graph.size());
  return stream.finish();
}

/// Null where this device has no such set.
const std::string_view *featureSetOf(const rt::Device &device) {
  const rt::DeviceInfo &info = device.info();
  if (info.target != program::Target::Cpu)
    return nullptr;
  auto hasAll = [&](std::string_view set) {
    return std::ranges::all_of(strings::split(set, ','), [&](std::string_view name) {
      return strings::listContains(info.features, name);
    });
  };
  auto found = std::ranges::find_if(kFeatureSets, hasAll);
  return found == std::end(kFeatureSets) ? nullptr : found;
}

const rt::ProgramPack &pack() {
  static const rt::ProgramPack *opened = [] {
    auto *made = new rt::ProgramPack; // in use until the process ends
    auto compiler = findCompiler();
    if (compiler && rt::DiskCache::instance().mode() != rt::CacheMode::Off)
      made->open(compiler->substr(0, compiler->rfind('/') + 1) + std::string(kFileName),
                 compilerBuildId());
    return made;
  }();
  return *opened;
}

} // namespace

std::shared_ptr<rt::LoadedProgram> packedProgram(std::span<const uint8_t> graph,
                                                 rt::Device &device) {
  const std::string_view *features = featureSetOf(device);
  auto blob = features ? pack().find(keyOf(graph, *features)) : std::nullopt;
  if (!blob)
    return nullptr;
  auto loaded = rt::load(std::move(*blob), device);
  return loaded ? std::shared_ptr<rt::LoadedProgram>(loaded.take()) : nullptr;
}

Status writeUnitPack(const std::string &path) {
  GRAPHC_ASSIGN(rt::Device * device, rt::findDevice("cpu"));
  rt::ProgramPack former; // by the same compiler, where only the recorder was built anew
  former.open(path, compilerBuildId());
  rt::ProgramPack::Values values;
  auto add = [&](const op::GraphDesc &graph) -> Status {
    std::vector<uint8_t> bytes;
    op::appendCanonicalBytes(graph, bytes);
    for (std::string_view features : kFeatureSets) {
      const Digest key = keyOf(bytes, features);
      auto blob = former.find(key);
      if (!blob) {
        GRAPHC_ASSIGN(const CompilerApi *compiler, loadCompiler());
        TargetDesc target{program::Target::Cpu, std::string(features)};
        GRAPHC_ASSIGN(blob,
                      std::move(compiler->compile({&graph, 1}, target, CompileOptions{}).front()));
      }
      values.insert_or_assign(key, std::move(*blob));
    }
    return Status::ok();
  };
  GRAPHC_TRY(small::forEachUnit(*device, add));
  return rt::ProgramPack::write(path, compilerBuildId(), values);
}

} // namespace graphc
