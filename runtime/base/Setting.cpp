//===- Setting.cpp - GRAPHC_* environment settings --------------------------------------------===//
#include "runtime/base/Setting.h"

#include "runtime/base/Fork.h"
#include "runtime/base/Strings.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <mutex>
#include <unistd.h>

namespace graphc {
namespace {

struct Registry {
  ForkSafeMutex mutex;
  std::map<std::string, Setting *, std::less<>> settings;
  std::map<std::string, std::string, std::less<>> overrides;
};

// Leaked on purpose: settings may be read while static objects are being destroyed.
Registry &registry() {
  static Registry *r = new Registry;
  return *r;
}

} // namespace

Setting::Setting(const char *name, const char *help, const char *fallback)
    : settingName(name), settingHelp(help), settingFallback(fallback) {
  Registry &r = registry();
  std::lock_guard lock(r.mutex);
  r.settings.emplace(name, this);
}

std::optional<std::string> Setting::get() const {
  Registry &r = registry();
  {
    std::lock_guard lock(r.mutex);
    if (auto it = r.overrides.find(settingName); it != r.overrides.end())
      return it->second;
  }
  const char *value = secure_getenv(settingName);
  if (!value || !*value)
    return std::nullopt;
  return std::string(value);
}

Result<std::optional<int64_t>> Setting::integer(int64_t min, int64_t max) const {
  auto text = get();
  if (!text)
    return std::optional<int64_t>();
  int64_t value = 0;
  auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || value < min || value > max)
    return Status(ErrorCode::InvalidArgument,
                  strings::format("[setting] {} must be an integer from {} to {}, not '{}'",
                                  settingName, min, max, *text));
  return std::optional<int64_t>(value);
}

Result<std::optional<bool>> Setting::boolean() const {
  auto text = get();
  if (!text)
    return std::optional<bool>();
  if (*text == "1" || *text == "true")
    return std::optional<bool>(true);
  if (*text == "0" || *text == "false")
    return std::optional<bool>(false);
  return Status(
      ErrorCode::InvalidArgument,
      strings::format("[setting] {} must be 0, 1, true or false, not '{}'", settingName, *text));
}

bool Setting::isOverridden() const {
  Registry &r = registry();
  std::lock_guard lock(r.mutex);
  return r.overrides.contains(settingName);
}

void Setting::override(std::optional<std::string> value) {
  Registry &r = registry();
  std::lock_guard lock(r.mutex);
  if (value)
    r.overrides.insert_or_assign(settingName, std::move(*value));
  else
    r.overrides.erase(settingName);
}

std::vector<Setting *> allSettings() {
  Registry &r = registry();
  std::lock_guard lock(r.mutex);
  std::vector<Setting *> all;
  for (auto &[name, setting] : r.settings)
    all.push_back(setting);
  return all;
}

Setting *findSetting(std::string_view name) {
  Registry &r = registry();
  std::lock_guard lock(r.mutex);
  auto it = r.settings.find(name);
  return it == r.settings.end() ? nullptr : it->second;
}

std::vector<UnknownSetting> unknownSettings() {
  constexpr std::string_view kPrefix = "GRAPHC_";
  std::vector<UnknownSetting> unknown;
  std::vector<Setting *> known = allSettings();
  for (char **entry = environ; entry && *entry; ++entry) {
    std::string_view text = *entry;
    std::string_view name = text.substr(0, text.find('='));
    if (!name.starts_with(kPrefix) || findSetting(name))
      continue;
    UnknownSetting found{std::string(name), ""};
    size_t best = std::max<size_t>(3, (name.size() - kPrefix.size()) / 2);
    for (Setting *candidate : known)
      if (size_t d = strings::editDistance(name, candidate->name()); d < best) {
        best = d;
        found.nearest = candidate->name();
      }
    unknown.push_back(std::move(found));
  }
  std::sort(unknown.begin(), unknown.end(),
            [](const auto &a, const auto &b) { return a.name < b.name; });
  return unknown;
}

} // namespace graphc
