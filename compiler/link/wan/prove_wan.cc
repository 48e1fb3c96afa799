#include "compiler/link/wan/prove_wan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "compiler/link/wan/packet_space.h"
#include "compiler/link/wan/steering.h"

namespace edge::compiler::link {
namespace {

std::string in_quotes(const std::string& text) { return "`" + text + "`"; }

/// What is found of one rule of a policy at the sites where it holds.
struct Reach {
  bool reached = false;
  bool any_traffic = false;          ///< some site has traffic of this kind
  std::set<std::uint32_t> takers{};  ///< policies that take its packets
  std::optional<WanPacket> packet{};
};

class Prover {
 public:
  Prover(const LinkedWan& wan, Diagnostics& diagnostics)
      : wan_(wan), table_(make_steering(wan)), diagnostics_(diagnostics) {}

  void run() {
    for (std::uint32_t policy = 0; policy < wan_.policies.size(); ++policy) tell_class(policy);
    const auto has_networks = [](const LinkedSite& site) { return !site.prefixes.empty(); };
    // With one site there is no traffic between sites, yet.
    if (std::ranges::count_if(wan_.sites, has_networks) < 2) return;
    for (std::uint32_t site = 0; site < wan_.sites.size(); ++site) look_at(site);
    for (std::uint32_t policy = 0; policy < wan_.policies.size(); ++policy) tell_reach(policy);
    for (std::uint32_t site = 0; site < wan_.sites.size(); ++site) tell_prefixes(site);
  }

 private:
  void look_at(std::uint32_t site) {
    const std::vector<SteeringRule>& rules = table_.rules[site];
    if (rules.empty()) return;
    const PacketSpace space(wan_, site, rules);
    std::vector<Region> regions;
    std::map<std::uint32_t, std::size_t> entries;  // of each policy, so far
    for (const SteeringRule& rule : rules) {
      regions.push_back(space.region(rule.traffic));
      Reach& reach = reach_[{rule.policy, entries[rule.policy]++}];
      const Region& region = regions.back();
      const std::span<const Region> before(regions.data(), regions.size() - 1);
      if (!region.empty()) {
        reach.any_traffic = true;
        if (!reach.reached) look_at(rules, region, before, space, reach);
        compare(rules, region, before, rule.policy, space);
      }
    }
  }

  void look_at(const std::vector<SteeringRule>& rules, const Region& region, std::span<const Region> before,
               const PacketSpace& space, Reach& reach) {
    const Search search = space.find_outside(region, before, steps_left_);
    // What could not be decided is not reported.
    if (search.packet || !search.decided) {
      reach.reached = true;
      return;
    }
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (!intersect(before[i], region).empty()) reach.takers.insert(rules[i].policy);
    }
    if (!reach.packet) reach.packet = space.packet(region);
  }

  /// Reports pairs of policies that differ in what they do with the same packets.
  void compare(const std::vector<SteeringRule>& rules, const Region& region, std::span<const Region> before,
               std::uint32_t policy, const PacketSpace& space) {
    const LinkedWanPolicy& later = wan_.policies[policy];
    for (std::size_t i = 0; i < before.size() && steps_left_ > 0; ++i, --steps_left_) {
      const std::uint32_t other = rules[i].policy;
      const LinkedWanPolicy& earlier = wan_.policies[other];
      if (other == policy) continue;
      const bool leaks = later.drops && !earlier.drops;
      const bool ties = later.priority == earlier.priority && !same_path(later, earlier);
      if (!leaks && !ties) continue;
      const Region both = intersect(before[i], region);
      if (both.empty() || !told_.emplace(other, policy).second) continue;
      leaks ? tell_leak(later, earlier, space.packet(both)) : tell_tie(later, earlier, space.packet(both));
    }
  }

  static bool same_path(const LinkedWanPolicy& one, const LinkedWanPolicy& other) {
    return one.links == other.links && one.strategy == other.strategy && one.drops == other.drops &&
           one.set_dscp == other.set_dscp && one.traffic_class == other.traffic_class;
  }

  void tell_leak(const LinkedWanPolicy& later, const LinkedWanPolicy& earlier, const WanPacket& packet) {
    add(later, {.code = DiagnosticCode::kLeakingDrop,
                .field = "spec.path.fallback",
                .message = "packets of the policy are not dropped where " + in_quotes(earlier.id.text()) +
                           " holds before it, which sends them by any link",
                .labels = {{earlier.id.span, "holds first"}},
                .notes = {"for example " + to_string(packet)},
                .fix = "give the policy the higher priority, or `fallback: Drop` to the other one"});
  }

  void tell_tie(const LinkedWanPolicy& later, const LinkedWanPolicy& earlier, const WanPacket& packet) {
    const std::string priority = std::to_string(later.priority);
    add(later, {.code = DiagnosticCode::kTiedWanPolicies,
                .field = "spec.priority",
                .message = "the policy and " + in_quotes(earlier.id.text()) + " have the priority " + priority +
                           " and match the same packets: the age decides, and then the name",
                .labels = {{earlier.id.span, "holds first"}},
                .notes = {"for example " + to_string(packet)},
                .fix = "give one of them a higher priority"});
  }

  void tell_reach(std::uint32_t index) {
    const LinkedWanPolicy& policy = wan_.policies[index];
    const std::size_t entries = std::max<std::size_t>(policy.matches.size(), 1);
    for (std::size_t i = 0; i < entries; ++i) {
      const auto found = reach_.find({index, i});
      if (found == reach_.end() || found->second.reached) continue;
      const Reach& reach = found->second;
      Diagnostic finding{.code = DiagnosticCode::kUnreachedWanPolicy,
                         .field = policy.matches.empty() ? "" : "spec.matches[" + std::to_string(i) + "]"};
      if (!reach.any_traffic) {
        finding.message = "no packet that leaves a site of the policy for another site is of this kind";
        finding.fix = "compare its networks with `prefixes` of the sites";
      } else {
        finding.message = "no packet is left for it";
        for (const std::uint32_t taker : reach.takers) {
          finding.labels.push_back({wan_.policies[taker].id.span, "takes packets first"});
          if (taker != index) finding.notes.push_back(in_quotes(wan_.policies[taker].id.text()) + " holds first");
        }
        if (reach.packet) finding.notes.push_back("for example " + to_string(*reach.packet));
        finding.fix = "leave it out, or give the policy a higher priority";
      }
      add(policy, std::move(finding));
    }
  }

  /// A class of traffic that orders nothing, as no link that the policy may use is shaped.
  void tell_class(std::uint32_t index) {
    const LinkedWanPolicy& policy = wan_.policies[index];
    if (!policy.class_span) return;
    bool any = false;
    for (const std::uint32_t site : policy.sites) {
      for (const std::uint32_t link : allowed_links(wan_, table_, site, index)) {
        if (wan_.links[link].up_mbps != 0) return;
        any = true;
      }
    }
    if (!any) return;
    diagnostics_.add({.code = DiagnosticCode::kClassWithoutBandwidth,
                      .severity = Severity::kWarning,
                      .resource = policy.id.text(),
                      .field = "spec.qos.class",
                      .span = *policy.class_span,
                      .message = "no link that the policy may use is shaped: none has `bandwidth.upMbps`",
                      .fix = "give the links their `bandwidth.upMbps`, or leave `class` out"});
  }

  /// A site that no other can reach, though it has networks.
  void tell_prefixes(std::uint32_t index) {
    const LinkedSite& site = wan_.sites[index];
    if (site.prefixes.empty() || reachable(index)) return;
    std::optional<IpAddress> source;
    for (std::uint32_t other = 0; other < wan_.sites.size() && !source; ++other) {
      if (other != index && !wan_.sites[other].prefixes.empty()) source = wan_.sites[other].prefixes.front().address;
    }
    if (!source) return;
    diagnostics_.add({.code = DiagnosticCode::kPrefixWithoutTunnel,
                      .severity = Severity::kWarning,
                      .resource = site.id.text(),
                      .field = "spec.prefixes[0]",
                      .span = site.prefix_spans.front(),
                      .message = "no tunnel leads to the site: it has no " +
                                 std::string(site.overlay ? "WANLink that is enabled" : "`overlay`"),
                      .notes = {"for example " +
                                to_string(WanPacket{.source = *source, .destination = site.prefixes.front().address})},
                      .fix = site.overlay ? "add a WANLink with its name in `siteRef`" : "give it `overlay.address`"});
  }

  bool reachable(std::uint32_t site) const {
    return wan_.sites[site].overlay.has_value() &&
           std::ranges::any_of(table_.links[site], [&](std::uint32_t link) { return wan_.links[link].enabled; });
  }

  void add(const LinkedWanPolicy& policy, Diagnostic finding) {
    finding.severity = Severity::kWarning;
    finding.resource = policy.id.text();
    finding.span = policy.id.span;
    diagnostics_.add(std::move(finding));
  }

  const LinkedWan& wan_;
  SteeringTable table_;
  Diagnostics& diagnostics_;
  std::size_t steps_left_ = kMostSteps;
  std::map<std::pair<std::uint32_t, std::size_t>, Reach> reach_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> told_;
};

}  // namespace

void prove_wan(const LinkedWan& wan, Diagnostics& diagnostics) { Prover(wan, diagnostics).run(); }

}  // namespace edge::compiler::link
