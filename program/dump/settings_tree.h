// Settings of a program as plain values, with the names of the specification: for both forms of a dump, and for
// differences between programs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "program/read.h"

namespace edge::program {

using TreeValue = std::variant<std::string, std::uint64_t, bool, std::vector<std::string>>;

/// A block of settings; empty texts and lists, and false, are omitted.
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
  TreeSettings limits;                 ///< settings of every backend
  std::vector<TreeSettings> settings;  ///< optional settings
};

struct TreePolicy {
  std::string name;  ///< `namespace/name`
  std::string type;
  TreeSettings settings;  ///< without fields: they are unreadable
};

/// As in `spec.rateLimit.key`: `source-ip`, `header:x-user`.
std::string rate_key_text(const SectionView& policies, const RateKeyRecord& part);
std::vector<TreeSettings> settings_of(const SectionView& section, const ListenerRecord& listener);
/// Ordered by name.
std::vector<TreeGateway> gateways_of(const ProgramView& program);
std::vector<TreeBackendSettings> backends_of(const ProgramView& program);
std::vector<TreePolicy> policies_of(const ProgramView& program);

/// `namespace/name key`.
std::string secret_text(const SectionView& section, const SecretRecord& secret);
/// Returns a body as a dump shows it: one that is long, or is no printable ASCII, by its size and the beginning of its
/// SHA-256.
std::string body_text(std::string_view body);
/// Returns a value on one line: lists separated by commas.
std::string value_text(const TreeValue& value);

/// Returns the names of RetryOn bits as in the specification.
std::vector<std::string> retry_names(std::uint32_t retry_on);

}  // namespace edge::program
