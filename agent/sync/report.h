// Writes an agent's reports: everything at first, then changes.
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
  /// Approximate limit of endpoints in a message; the rest follows in the next.
  static constexpr std::size_t kMaxEndpoints = 10'000;

  /// Fills `report` with the changes since the last call. \returns whether more should be sent at once.
  bool write(std::span<const runtime::BackendStatus> backends, v1::Report& report);

 private:
  using Name = std::pair<std::string, std::string>;
  /// A digest of each backend's last report, to detect changes.
  std::map<Name, std::uint64_t> said_;
};

/// Limit of entries in a message.
inline constexpr std::size_t kMaxUnbound = 1000;
inline constexpr std::size_t kMaxWanted = 256;
void write_vip(const vip::AddressState& from, v1::Vip& into);
void write_unbound(const runtime::UnboundListener& from, v1::UnboundListener& into);

}  // namespace edge::agent
