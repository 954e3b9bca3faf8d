//===- Setting.h - GRAPHC_* environment settings ----------------------------------------------===//
//
// A setting is declared once, as a namespace-scope object beside the code that reads it:
//   static Setting numThreads{"GRAPHC_NUM_THREADS", "threads of the cpu device", "one per usable
//   core"};
// Constructing it registers it; nothing else lists settings.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_BASE_SETTING_H
#define GRAPHC_RUNTIME_BASE_SETTING_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace graphc {

/// Reads are thread-safe. The environment is ignored in set-uid processes (secure_getenv).
class Setting {
public:
  /// All three texts must outlive the process (string literals). `fallback` describes what holds
  /// when unset.
  Setting(const char *name, const char *help, const char *fallback);
  Setting(const Setting &) = delete;
  Setting &operator=(const Setting &) = delete;

  /// The override, else the environment's value; nothing when unset or empty.
  std::optional<std::string> get() const;
  /// As get(), as an integer in [min, max]; InvalidArgument names the setting and the accepted
  /// range.
  Result<std::optional<int64_t>> integer(int64_t min, int64_t max) const;
  /// As get(); 0, 1, true and false are accepted.
  Result<std::optional<bool>> boolean() const;
  /// True when override() decides the value.
  bool isOverridden() const;
  /// Replaces the environment's value for this process; nothing goes back to the environment.
  void override(std::optional<std::string> value);

  const char *name() const { return settingName; }
  const char *help() const { return settingHelp; }
  const char *fallback() const { return settingFallback; }

private:
  const char *settingName;
  const char *settingHelp;
  const char *settingFallback;
};

/// All settings linked into this binary, by name. Valid for the life of the process.
std::vector<Setting *> allSettings();
/// The setting of that name, or null.
Setting *findSetting(std::string_view name);

/// A GRAPHC_* variable of the environment that no setting reads.
struct UnknownSetting {
  std::string name;
  std::string
      nearest; ///< the known name with the smallest edit distance, empty when nothing is close
};
std::vector<UnknownSetting> unknownSettings();

} // namespace graphc

#endif // GRAPHC_RUNTIME_BASE_SETTING_H
