#include "controller/distribute/streams/report_message.h"

#include <algorithm>

#include "base/hostname.h"
#include "base/ip.h"
#include "controller/distribute/protocol.h"
#include "schemas/agent.pb.h"

namespace edge::controller {
namespace {

constexpr int kMaxVips = 1000;
constexpr int kMaxWanted = 256;

}  // namespace

AgentRegistry::Report read_report(const agent::v1::Report& from) {
  AgentRegistry::Report report;
  report.connections = from.connections();
  report.requests = from.requests();
  for (const auto& backend : from.backends()) report.backends.push_back(read_backend(backend));
  for (const auto& removed : from.removed_backends()) {
    report.removed.emplace_back(removed.namespace_(), removed.name());
  }
  for (int i = 0; i < std::min(from.vips_size(), kMaxVips); ++i) report.vips.push_back(read_vip(from.vips(i)));
  report.unbound = read_unbound_list(from.unbound());
  for (int i = 0; i < std::min(from.wanted_size(), kMaxWanted); ++i) {
    const auto& one = from.wanted(i);
    // A name, not an address and not a wildcard, in the form that names are compared in.
    const auto pattern = HostPattern::parse(one.host());
    if (!pattern || pattern->wildcard() || pattern->text() != one.host() || parse_ip(one.host())) continue;
    report.wanted.push_back({one.namespace_(), one.secret(), one.host(), one.served()});
  }
  return report;
}

}  // namespace edge::controller
