// What an agent reports: everything at first, then what changed.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agent/vip/addresses.h"
#include "runtime/session/server.h"
#include "runtime/upstream/health/backend_status.h"

namespace edge::agent {

namespace v1 {
class BackendReport;
class Report;
class UnboundListener;
class Vip;
}  // namespace v1

class ReportWriter {
 public:
  /// A message has about as many endpoints at most; what is over follows in the next.
  static constexpr std::size_t kMaxEndpoints = 10'000;

  /// Fills `report` with what changed since the last call. \returns whether there is more to be said at once.
  bool write(std::span<const runtime::BackendStatus> backends, v1::Report& report);

 private:
  using Name = std::pair<std::string, std::string>;
  /// What was said of each, as a digest: a change is seen by it.
  std::map<Name, std::uint64_t> said_;
};

/// As many as a message may have of them.
inline constexpr std::size_t kMaxUnbound = 1000;
void write_vip(const vip::AddressState& from, v1::Vip& into);
void write_unbound(const runtime::UnboundListener& from, v1::UnboundListener& into);

}  // namespace edge::agent
