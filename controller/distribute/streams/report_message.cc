#include "controller/distribute/streams/report_message.h"

#include <algorithm>

#include "base/hostname.h"
#include "base/ip.h"
#include "controller/distribute/protocol.h"
#include "schemas/agent.pb.h"

namespace edge::controller {
namespace {

constexpr int kMaxVips = 1000;

}  // namespace

std::vector<WantedName> read_wanted(const google::protobuf::RepeatedPtrField<agent::v1::WantedName>& from) {
  std::vector<WantedName> wanted;
  for (int i = 0; i < std::min(from.size(), static_cast<int>(kMostWantedNames)); ++i) {
    const auto& one = from.Get(i);
    // A name, not an address and not a wildcard, in the form that names are compared in.
    const auto pattern = HostPattern::parse(one.host());
    if (!pattern || pattern->wildcard() || pattern->text() != one.host() || parse_ip(one.host())) continue;
    wanted.push_back({one.namespace_(), one.secret(), one.host(), one.served()});
  }
  return wanted;
}

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
  report.wanted = read_wanted(from.wanted());
  return report;
}

}  // namespace edge::controller
