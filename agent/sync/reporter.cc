#include "agent/sync/reporter.h"

#include <algorithm>
#include <span>
#include <utility>

#include "program/cpu.h"
#include "schemas/agent.pb.h"

namespace edge::agent {
namespace {

/// Nothing changed: a word all the same.
constexpr auto kReportAtLeast = std::chrono::seconds(10);
/// Between two looks for changes.
constexpr std::chrono::milliseconds kReportSoonest{250};
constexpr std::chrono::milliseconds kReportLatest{1000};

/// Into a message's list of them, as many as it may have.
template <typename Message>
void add_unbound(const std::vector<runtime::UnboundListener>& all, Message& into) {
  for (const runtime::UnboundListener& one : std::span(all).first(std::min(all.size(), kMaxUnbound))) {
    write_unbound(one, *into.add_unbound());
  }
}

}  // namespace

std::string bytes_of(const program::Hash& hash) { return {reinterpret_cast<const char*>(hash.data()), hash.size()}; }

void write_hello(const AgentWords& words, const std::vector<runtime::UnboundListener>& unbound, v1::Hello& into) {
  add_unbound(unbound, into);
  into.set_protocol(kNewestProtocol);
  into.set_oldest_protocol(kOldestProtocol);
  into.set_node(words.node);
  into.set_peer_address(words.peer_address);
  for (const auto& [key, value] : words.labels) (*into.mutable_labels())[key] = value;
  into.set_version(EDGE_VERSION);
  into.set_cpu(std::string(program::to_string(program::this_cpu())));
  into.set_instance(words.instance);
  if (words.running) into.set_program(bytes_of(words.program));
  into.set_format_version(program::kFormatVersion);
}

void write_applied(const program::Hash& program, const std::vector<runtime::UnboundListener>& unbound,
                   v1::Applied& into) {
  into.set_program(bytes_of(program));
  // With it, so that nobody believes for a moment that every listener is there.
  add_unbound(unbound, into);
}

std::chrono::milliseconds Reporter::pause() const {
  if (has_more_) return {};
  return std::clamp(std::chrono::duration_cast<std::chrono::milliseconds>(took_ * 100), kReportSoonest, kReportLatest);
}

bool Reporter::fill(v1::Report& report) {
  const auto began = std::chrono::steady_clock::now();
  const runtime::ServerStats stats = source_.stats();
  std::vector<runtime::UnboundListener> unbound = source_.unbound();
  has_more_ = backends_.write(source_.backends(), report);
  add_unbound(unbound, report);
  std::vector<vip::AddressState> vips = source_.vips();
  for (const vip::AddressState& vip : vips) write_vip(vip, *report.add_vips());
  if (source_.wanted) {
    for (runtime::WantedName& one : source_.wanted(kMaxWanted)) {
      v1::WantedName& into = *report.add_wanted();
      into.set_namespace_(std::move(one.name_space));
      into.set_secret(std::move(one.secret));
      into.set_host(std::move(one.host));
      into.set_served(one.served);
    }
  }
  report.set_connections(stats.connections_active);
  report.set_requests(stats.requests);
  const auto now = std::chrono::steady_clock::now();
  took_ = now - began;
  const bool changed = report.backends_size() > 0 || report.removed_backends_size() > 0 || report.wanted_size() > 0 ||
                       unbound != said_unbound_ || vips != said_vips_;
  said_vips_ = std::move(vips);
  said_unbound_ = std::move(unbound);
  if (!changed && now - last_ < kReportAtLeast) return false;
  last_ = now;
  return true;
}

}  // namespace edge::agent
