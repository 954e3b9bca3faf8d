//===- Listings.cpp - graphc inspect, devices and cache ---------------------------------------===//
#include "compiler/api/Loader.h"
#include "runtime/base/Strings.h"
#include "runtime/cache/DiskCache.h"
#include "runtime/drivers/Drivers.h"
#include "runtime/exec/SelfTest.h"
#include "runtime/program/Archive.h"
#include "runtime/program/Inspect.h"
#include "tools/graphc/Commands.h"

#include <cstdio>
#include <ctime>
#include <memory>

namespace graphc::cli {
namespace {

using strings::format;
using strings::jsonQuote;

void print(const std::string &text) { std::fwrite(text.data(), 1, text.size(), stdout); }

int inspect(const std::string &path, bool json) {
  auto bytes = readFile(path);
  if (!bytes)
    return report(bytes.status(), path);
  auto members = program::readArchive(*bytes);
  if (!members)
    return report(members.status(), path);
  std::string text = json ? "[" : "";
  for (size_t i = 0; i < members->size(); ++i) {
    std::span<const uint8_t> blob = (*members)[i].blob;
    auto parsed = program::Program::parse({blob.begin(), blob.end()});
    if (!parsed)
      return report(parsed.status(), path);
    text += i == 0 ? "" : json ? "," : "\n";
    text += json ? program::inspectJson(*parsed) : program::inspectText(*parsed);
  }
  print(text + (json ? "]\n" : ""));
  return kOk;
}

/// What is remembered of the form of code that comes first; "" of devices that are not tested.
std::string selfTestText(const rt::Device &device) {
  std::string_view form = device.codeForm();
  if (form.empty())
    return "";
  auto verdict = rt::selfTestVerdict(device, form, compilerBuildId());
  return format("{} ({})",
                !verdict           ? "not run yet"
                : verdict->empty() ? "passed"
                                   : "failed: " + *verdict,
                form);
}

std::string deviceJson(const rt::DeviceListing &d) {
  std::string text = format("{{\"name\":{},\"description\":{},\"usable\":{}", jsonQuote(d.name),
                            jsonQuote(d.description), d.device != nullptr);
  if (!d.device)
    return text + format(",\"reason\":{}}}", jsonQuote(d.reason));
  const rt::DeviceInfo &i = d.device->info();
  return text +
         format(
             ",\"target\":\"{}\",\"features\":{},\"memory_bytes\":{},\"largest_buffer\":{},"
             "\"threads\":{},\"fp64\":{},\"cpu_class\":{},\"exact_divide\":{},\"self_test\":{}}}",
             targetName(i.target), jsonQuote(i.features), i.memoryBytes, i.largestBuffer, i.threads,
             i.fp64, i.cpuClass, i.exactDivide, jsonQuote(selfTestText(*d.device)));
}

std::string deviceText(const rt::DeviceListing &d) {
  if (!d.device)
    return format("{:<10} unusable: {}{}\n", d.name,
                  d.description.empty() || d.name.find(':') == d.name.npos ? ""
                                                                           : d.description + ": ",
                  d.reason);
  const rt::DeviceInfo &i = d.device->info();
  std::string text =
      format("{:<10} {}, {}", d.name, d.description, strings::bytesText(i.memoryBytes));
  if (!i.fp64)
    text += ", no float64";
  if (!i.exactDivide)
    text += ", float32 division and square root are not exact";
  if (std::string tested = selfTestText(*d.device); !tested.empty())
    text += ", self-test " + tested;
  return text + "\n";
}

int devices(bool json) {
  std::string text = json ? "[" : "";
  const char *separator = "";
  for (const rt::DeviceListing &d : rt::listDevices()) {
    text += json ? separator + deviceJson(d) : deviceText(d);
    separator = ",";
  }
  print(text + (json ? "]\n" : ""));
  return kOk;
}

std::string timeText(int64_t seconds) {
  std::time_t t = seconds;
  std::tm local = {};
  char text[32] = "?";
  if (localtime_r(&t, &local))
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
  return text;
}

int cacheInfo(bool json) {
  auto info = rt::DiskCache::instance().info();
  if (json)
    print(format("{{\"folder\":{},\"mode\":\"{}\",\"problem\":{},\"entries\":{},\"bytes\":{},"
                 "\"cap_bytes\":{}}}\n",
                 jsonQuote(info.folder), cacheModeName(info.mode), jsonQuote(info.problem),
                 info.entries, info.bytes, info.capBytes));
  else
    print(format("folder   {}\nmode     {}{}\nentries  {}\nsize     {} of {}\n", info.folder,
                 cacheModeName(info.mode),
                 info.problem.empty() ? "" : " (not in use: " + info.problem + ")", info.entries,
                 strings::bytesText(info.bytes), strings::bytesText(info.capBytes)));
  return kOk;
}

int cacheList(bool json) {
  std::string text = json ? "[" : "";
  const char *separator = "";
  for (const auto &e : rt::DiskCache::instance().list()) {
    text += json ? format("{}{{\"name\":\"{}\",\"label\":{},\"bytes\":{},\"last_used\":{}}}",
                          separator, e.name, jsonQuote(e.label), e.bytes, e.lastUsed)
                 : format("{}  {}  {:>10}  {}\n", e.name, timeText(e.lastUsed),
                          strings::bytesText(e.bytes), e.label);
    separator = ",";
  }
  print(text + (json ? "]\n" : ""));
  return kOk;
}

int cacheClear(bool json) {
  auto removed = rt::DiskCache::instance().clear();
  if (!removed)
    return report(removed.status(), "graphc");
  print(json ? format("{{\"removed\":{}}}\n", *removed) : format("{} entries removed\n", *removed));
  return kOk;
}

} // namespace

void addInspect(CLI::App &app, Action &action) {
  auto path = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  CLI::App *command = app.add_subcommand("inspect", "show what a program file contains");
  command->add_option("program", *path, "program file (.gco); - is stdin")->required();
  command->add_flag("--json", *json, "print JSON");
  command->callback([=, &action] { action = [=] { return inspect(*path, *json); }; });
}

void addDevices(CLI::App &app, Action &action) {
  auto json = std::make_shared<bool>(false);
  CLI::App *command = app.add_subcommand("devices", "list devices, unusable ones with the reason");
  command->add_flag("--json", *json, "print JSON");
  command->callback([=, &action] { action = [=] { return devices(*json); }; });
}

void addCache(CLI::App &app, Action &action) {
  CLI::App *command = app.add_subcommand("cache", "show or clear the disk cache");
  command->require_subcommand(1);
  struct Sub {
    const char *name;
    const char *help;
    int (*function)(bool);
  };
  for (Sub sub : {Sub{"info", "folder, mode and size", cacheInfo},
                  Sub{"list", "entries, most recently used first", cacheList},
                  Sub{"clear", "remove all entries", cacheClear}}) {
    auto json = std::make_shared<bool>(false);
    CLI::App *child = command->add_subcommand(sub.name, sub.help);
    child->add_flag("--json", *json, "print JSON");
    child->callback([=, &action] { action = [=] { return sub.function(*json); }; });
  }
}

} // namespace graphc::cli
