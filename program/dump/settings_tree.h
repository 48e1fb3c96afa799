// Settings of a program as plain values, spelled as the specification spells them: what both forms of a dump print, and
// what a difference between two programs is told with.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "program/read.h"

namespace edge::program {

using TreeValue = std::variant<std::string, std::uint64_t, bool, std::vector<std::string>>;

/// A block of settings; texts and lists that are empty, and what is false, are left out.
struct TreeSettings {
  std::string name;  ///< e.g. `healthCheck`
  std::vector<std::pair<std::string, TreeValue>> fields;
};

struct TreeGateway {
  std::string name;  ///< `namespace/name`
  std::vector<TreeSettings> settings;
};

struct TreeBackendSettings {
  std::string name;                    ///< `namespace/name`
  TreeSettings limits;                 ///< what every backend has
  std::vector<TreeSettings> settings;  ///< what some have
};

struct TreePolicy {
  std::string name;  ///< `namespace/name`
  std::string type;
  TreeSettings settings;  ///< without fields: they could not be read
};

std::string type_name(PolicyType type);
std::vector<TreeSettings> settings_of(const SectionView& section, const ListenerRecord& listener);
/// In the order of their names.
std::vector<TreeGateway> gateways_of(const ProgramView& program);
std::vector<TreeBackendSettings> backends_of(const ProgramView& program);
std::vector<TreePolicy> policies_of(const ProgramView& program);

/// `namespace/name key`.
std::string secret_text(const SectionView& section, const SecretRecord& secret);
/// A value on one line: lists with commas between.
std::string value_text(const TreeValue& value);

/// Names of RetryOn bits as the specification writes them.
std::vector<std::string> retry_names(std::uint32_t retry_on);

}  // namespace edge::program
