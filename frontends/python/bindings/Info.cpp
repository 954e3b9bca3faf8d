// What this build is and what it has done.
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/Gil.h"

#include "frontends/record/Devices.h"
#include "frontends/record/Looks.h"
#include "frontends/record/Pieces.h"
#include "frontends/record/Session.h"
#include "runtime/base/Setting.h"
#include "runtime/base/Trace.h"

namespace graphc::py {
namespace {

std::string categoryName(op::Category c) {
  constexpr const char *kNames[] = {"",         "Elementwise", "Reduction", "Scan",
                                    "Movement", "Contraction", "Generator", "Update"};
  return kNames[static_cast<size_t>(c)];
}
std::string classNameOf(op::DTypeClass c) {
  constexpr const char *kNames[] = {"Any",           "Numeric", "Floating", "Integer",
                                    "IntegerOrBool", "Boolean", "Random"};
  return kNames[static_cast<size_t>(c)];
}
std::string ruleName(op::ResultRule r) {
  constexpr const char *kNames[] = {"SameAsOperands", "Bool", "Explicit"};
  return kNames[static_cast<size_t>(r)];
}

pb::list opTable() {
  pb::list rows;
  auto text = [](std::string_view s) { return std::string(s); };
  for (int i = 0; i < op::kOpKindCount; ++i) {
    const op::OpInfo &info = op::opInfo(static_cast<op::OpKind>(i));
    pb::dict row;
    pb::list names, dunders;
    for (std::string_view n : info.pyNames)
      names.append(text(n));
    for (std::string_view n : info.dunders)
      dunders.append(text(n));
    row["name"] = text(info.name);
    row["summary"] = text(info.summary);
    row["category"] = categoryName(info.category);
    row["arity"] = info.arity;
    row["operandDTypes"] = classNameOf(info.operandDTypes);
    row["resultRule"] = ruleName(info.resultRule);
    row["promoteToFloat"] = info.promoteToFloat;
    row["promoteBool"] = info.promoteBool;
    row["commutative"] = info.commutative;
    row["pyNames"] = names;
    row["dunders"] = dunders;
    row["ulpF32"] = text(info.ulpF32);
    row["ulpF64"] = text(info.ulpF64);
    row["numpyName"] = text(info.numpyName);
    rows.append(row);
  }
  return rows;
}

pb::dict counters() {
  pb::dict out;
  for (int i = 0; i < kCounterCount; ++i) {
    auto c = static_cast<Counter>(i);
    out[pb::str(std::string(counterName(c)))] = counterValue(c);
  }
  out["kernels_compiled"] = kernelsCompiled();
  out["programs_run"] = counterValue(Counter::Runs);
  out["cache_memory_hits"] = counterValue(Counter::MemoryHits);
  out["cache_disk_hits"] = counterValue(Counter::DiskHits);
  out["cache_misses"] = counterValue(Counter::DiskMisses);
  out["segments_run"] = segmentsRun();
  PieceCounts counted = pieceCounts();
  out["piece_passes"] = counted.passes;
  out["pieces"] = counted.pieces;
  out["nodes_recorded"] = recordedNodes();
  out["nodes_pending"] = pendingNodes();
  out["bytes_pending"] = pendingBytes();
  pb::dict reasons;
  for (const auto &[reason, count] : evaluationCounts())
    reasons[pb::str(reason)] = count;
  out["eval_reasons"] = reasons;
  return out;
}

pb::list devices() {
  std::vector<rt::DeviceListing> listings = [] {
    WithoutGil release;
    return rt::listDevices();
  }();
  pb::list out;
  for (const rt::DeviceListing &l : listings) {
    pb::dict row;
    row["name"] = l.name;
    row["description"] = l.description;
    row["usable"] = l.device != nullptr;
    row["reason"] = l.reason;
    row["driver"] = l.name.substr(0, l.name.find(':'));
    if (l.device) {
      const rt::DeviceInfo &info = l.device->info();
      row["memory"] = info.memoryBytes;
      row["fp64"] = info.fp64;
      row["units"] = info.threads;
      row["identity"] = info.identity;
    }
    out.append(row);
  }
  return out;
}

pb::object setDevice(const pb::object &name) {
  rt::Device *device = toDevice(name);
  rt::Device *previous = setCurrentDevice(device);
  return previous ? pb::object(pb::str(previous->info().name)) : pb::object(pb::none());
}

void synchronize(const pb::object &name) {
  rt::Device *named = toDevice(name);
  rt::Device &device = named ? *named : *unwrap(currentDevice());
  Status status;
  {
    WithoutGil release;
    status = finishDevice(device);
  }
  check(std::move(status));
}

void tellFloatErrors() {
  Status status;
  {
    WithoutGil release;
    status = lookEverywhere();
  }
  check(std::move(status));
}

pb::dict buildInfo() {
  pb::dict out;
  out["version"] = GRAPHC_VERSION;
  out["build_id"] = std::string(compilerBuildId());
  auto compiler = findCompiler();
  out["compiler_path"] = compiler ? *compiler : std::string();
  out["compiler_loaded"] = compilerIsLoaded();
  auto cpu = rt::findDevice("cpu");
  out["cpu_features"] = cpu ? (*cpu)->info().features : std::string();
  out["threads"] = cpu ? (*cpu)->info().threads : 0;
  out["pending_budget"] = pendingBudget();
  return out;
}

pb::list settings() {
  pb::list out;
  for (Setting *s : allSettings()) {
    auto value = s->get();
    const char *origin = s->isOverridden() ? "override" : value ? "environment" : "default";
    out.append(pb::make_tuple(s->name(), value ? *value : std::string(s->fallback()), origin));
  }
  return out;
}

} // namespace

void defineInfo(pb::module_ &m) {
  m.def("op_table", opTable);
  m.def("counters", counters);
  m.def("reset_counters", resetEvaluationCounts);
  m.def("devices", devices);
  m.def("set_device", setDevice);
  m.def("synchronize", synchronize, pb::arg("device") = pb::none());
  m.def("tell_float_errors", tellFloatErrors);
  m.def("build_info", buildInfo);
  m.def("settings", settings);
  m.def("compiler_loaded", compilerIsLoaded);
  m.def("set_package_folder", setPackageFolder);
  m.def("set_budget", setPendingBudget);
  m.def("budget", pendingBudget);
  m.def("explain", [](const pb::object &arrays) {
    std::vector<NodeRef> roots;
    for (const Array &a : toArrays(arrays))
      roots.push_back(unwrap(a.value()));
    Result<std::string> text = [&] {
      WithoutGil release;
      return printStage(roots, "explain");
    }();
    return unwrap(std::move(text));
  });
}

} // namespace graphc::py
