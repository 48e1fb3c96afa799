// The classes of hosts that a program distinguishes on one bind: for each pattern of a listener or route, the names
// whose most specific pattern it is. Rule D2.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hostname.h"
#include "program/read.h"

namespace edge::compiler::analyze {

/// Maps a host name to the value of the most specific pattern that covers it.
class PatternMap {
 public:
  /// `pattern` as HostPattern::text writes it; empty: every host.
  void add(std::string_view pattern, std::uint32_t value);
  /// program::kNone when nothing covers `name`.
  std::uint32_t find(std::string_view name) const;

 private:
  std::map<std::string, std::uint32_t, std::less<>> exact_;
  std::map<std::string, std::uint32_t, std::less<>> wildcard_;  ///< by the name without `*.`
  std::uint32_t any_ = program::kNone;
};

/// The sections that requests of one host may match on a bind.
struct HostChain {
  std::uint32_t listener = program::kNone;     ///< index of its ListenerRecord; kNone: no listener takes the host
  std::vector<const program::Section*> hosts;  ///< in the order in which matching falls through them
};

class HostClasses {
 public:
  /// `program` must outlive this object; `bind` is an index into its binds.
  HostClasses(const program::ProgramView& program, std::uint32_t bind);

  /// Returns every pattern once, the most specific first.
  const std::vector<HostPattern>& patterns() const { return patterns_; }
  HostChain chain(std::string_view host) const;

 private:
  const program::ProgramView& program_;
  PatternMap claims_;                            ///< to listeners
  std::map<std::uint32_t, PatternMap> entries_;  ///< by listener: to its host entries
  std::vector<HostPattern> patterns_;
};

/// Returns a name whose most specific pattern in `classes` is `pattern`, with value `index`. nullopt when none was
/// found.
std::optional<std::string> name_of_class(const HostPattern& pattern, std::uint32_t index, const PatternMap& classes);

}  // namespace edge::compiler::analyze
