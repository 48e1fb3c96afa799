#include "program/dump/route_tree.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/ip.h"
#include "program/claim_field.h"
#include "program/dump/dump.h"
#include "program/dump/policy_type_text.h"
#include "program/evaluate/path_table.h"
#include "program/filter_table.h"
#include "program/filters.h"
#include "program/format/records.h"

namespace edge::program {
namespace {

std::string qualified(std::string_view name_space, std::string_view name) {
  return std::string(name_space) + "/" + std::string(name);
}

std::string shown(std::string_view pattern) { return pattern.empty() ? "*" : std::string(pattern); }

IpAddress address_of(const std::uint8_t (&bytes)[16]) {
  IpAddress address;
  std::memcpy(address.bytes.data(), bytes, sizeof bytes);
  return address;
}

TreeFilter filter_of(const SectionView& host, const FilterRecord& record) {
  const FilterOpRow& row = row_of(record.op);
  TreeFilter filter;
  filter.op = row.name;
  filter.name = host.string(record.name);
  filter.value = host.string(record.value);
  if (record.op == FilterOp::kRedirect) {
    filter.value = std::to_string(redirect_status(record));
    if (redirect_port(record) != 0) filter.value += " port " + std::to_string(redirect_port(record));
  }
  if (row.detail == Detail::kSeconds) filter.value = std::to_string(record.detail) + "s";
  if (row.detail == Detail::kMilliseconds) filter.value = std::to_string(record.detail) + "ms";
  if (row.detail == Detail::kStatus) filter.value = std::to_string(record.detail);
  if (row.detail == Detail::kPrefix) filter.name = std::to_string(record.detail) + " bytes";
  return filter;
}

/// Turns the host sections of one program into trees.
class TreeBuilder {
 public:
  explicit TreeBuilder(const ProgramView& program)
      : backends_(program.backends().view), policies_(program.policies().view) {}

  TreeHost host(const SectionView& view) const {
    const auto& header = view.header<HostHeader>();
    TreeHost tree;
    tree.pattern = shown(view.string(header.pattern));
    add_paths(view, tree);
    add(view, "prefix", "/", header.root_prefix, tree);
    add(view, "regex", {}, header.regex, tree);
    add(view, "any", {}, header.any_path, tree);
    return tree;
  }

  TreePolicyName policy(std::uint64_t id) const {
    const PolicyRecord& found = *find_policy(policies_, id);
    return {qualified(policies_.string(found.name_space), policies_.string(found.name)),
            std::string(policy_type_text(found.type))};
  }

  void add_without_route(std::uint32_t index, TreeListener& listener) const {
    const NoRouteRecord* const none = find_no_route(policies_, index);
    if (none == nullptr) return;
    listener.denied_without_route = none->denied != 0;
    for (const std::uint64_t id : policies_.array(none->policies)) {
      listener.policies_without_route.push_back(policy(id));
    }
  }

  void add_claims(std::uint32_t index, TreeListener& listener) const {
    const ListenerClaimsRecord* const claims = find_listener_claims(policies_, index);
    if (claims == nullptr) return;
    listener.token_policy = policy(claims->policy);
    for (const ClaimFieldRecord& field : policies_.array(claims->fields)) {
      const std::string_view claim = policies_.string(field.claim);
      listener.claims.push_back(
          field_text(field.has_item != 0 ? claim_item_field(claim, policies_.string(field.item)) : claim_field(claim)));
    }
  }

 private:
  /// Exact paths by name, patterns that come before prefixes, then prefixes, the longest first: no request sees a
  /// difference in the order of equals.
  void add_paths(const SectionView& view, TreeHost& tree) const {
    std::vector<Path> paths = paths_of(view);
    for (const Path& path : paths) add(view, "exact", path.text, path.exact, tree);
    add(view, "regex", {}, view.header<HostHeader>().early_regex, tree);
    std::ranges::stable_sort(paths, std::ranges::greater(),
                             [](const Path& path) { return std::ranges::count(path.text, '/'); });
    for (const Path& path : paths) add(view, "prefix", path.text, path.prefix, tree);
  }

  void add(const SectionView& view, const char* path_class, std::string_view path, Target32 target,
           TreeHost& tree) const {
    if (target == kNone) return;
    TreeTarget& position = tree.targets.emplace_back();
    position.path_class = path_class;
    position.path = path;
    if ((target & kActionBit) != 0) {
      position.candidates.push_back({{}, action(view, target & ~kActionBit)});
      return;
    }
    const auto& header = view.header<HostHeader>();
    const GroupRecord& group = view.array(header.groups)[target];
    for (const CandidateRecord& candidate : view.array(header.candidates).subspan(group.first, group.count)) {
      std::string condition = candidate.predicate == kNone ? std::string() : predicate_text(view, candidate.predicate);
      position.candidates.push_back({std::move(condition), action(view, candidate.action)});
    }
  }

  TreeAction action(const SectionView& view, std::uint32_t index) const {
    const auto& header = view.header<HostHeader>();
    const ActionRecord& record = view.array(header.actions)[index];
    const RouteRecord& route = view.array(header.routes)[record.route];
    const TreatmentRecord& treatment = view.array(header.treatments)[record.treatment];
    TreeAction tree;
    tree.route = qualified(name_space_of(view, route), view.string(route.name));
    tree.rule = record.rule;
    tree.match = record.match;
    tree.treatment = &treatment;
    tree.filters = filters(view, treatment);
    const Split split = split_of(view, record);
    for (std::uint32_t i = 0; i < split.backends.size(); ++i) {
      const BackendRefRecord& backend = split.backends[i];
      tree.backends.push_back({backend_name(backend.backend_id()), backend.weight, i == split.canary});
      const TreatmentRecord& there = treatment_record_of(view, record, split, i);
      if (&there != &treatment) tree.backends.back().filters = filters(view, there);
    }
    for (const std::uint64_t id : view.array(treatment.policies)) tree.policies.push_back(policy(id));
    for (const MirrorRecord& mirror : view.array(treatment.mirrors))
      tree.mirrors.push_back(
          {backend_name(mirror.backend_id), share_of(view, mirror), std::string(host_of_copies(view, mirror))});
    return tree;
  }

  static std::vector<TreeFilter> filters(const SectionView& view, const TreatmentRecord& treatment) {
    std::vector<TreeFilter> all;
    for (const FilterRecord& filter : view.array(treatment.filters)) all.push_back(filter_of(view, filter));
    return all;
  }

  std::string backend_name(std::uint64_t id) const {
    const BackendRecord* const found = find_backend(backends_, id);
    if (found == nullptr) return "unresolved";
    return qualified(backends_.string(found->name_space), backends_.string(found->name));
  }

  SectionView backends_;
  SectionView policies_;
};

TreeBind bind_of(const SectionView& view, const BindRecord& record) {
  TreeBind bind;
  bind.address = record.any_address != 0 ? "*" : to_string(address_of(record.address));
  bind.port = record.port;
  bind.protocol = protocol_name(record.protocol);
  std::vector<TreeBind::Claim> wildcards;
  for (const NameEntry& entry : view.array(record.listeners.entries)) {
    const std::string name(view.string(entry.name));
    if (entry.exact != kNone) bind.claims.push_back({name, entry.exact});
    if (entry.wildcard != kNone) wildcards.push_back({"*." + name, entry.wildcard});
  }
  std::stable_sort(wildcards.begin(), wildcards.end(),
                   [](const auto& a, const auto& b) { return a.pattern.size() > b.pattern.size(); });
  bind.claims.insert(bind.claims.end(), wildcards.begin(), wildcards.end());
  if (record.listeners.fallback != kNone) bind.claims.push_back({"*", record.listeners.fallback});
  return bind;
}

}  // namespace

const char* protocol_name(Protocol protocol) {
  switch (protocol) {
    case Protocol::kHttp:
      return "HTTP";
    case Protocol::kHttps:
      return "HTTPS";
    case Protocol::kTcp:
      return "TCP";
    case Protocol::kTls:
      return "TLS";
    case Protocol::kUdp:
      return "UDP";
  }
  return "?";
}

RouteTree route_tree(const ProgramView& program) {
  const SectionView& view = program.listeners().view;
  const auto& header = view.header<ListenersHeader>();
  const auto gateways = view.array(header.gateways);
  const TreeBuilder builder(program);

  RouteTree tree;
  for (const BindRecord& bind : view.array(header.binds)) tree.binds.push_back(bind_of(view, bind));
  for (const ListenerRecord& record : view.array(header.listeners)) {
    const GatewayRecord& gateway = gateways[record.gateway];
    TreeListener& listener = tree.listeners.emplace_back();
    listener.gateway = qualified(view.string(gateway.name_space), view.string(gateway.name));
    listener.name = view.string(record.name);
    listener.max_request_body = record.max_request_body;
    for (const CidrRecord& cidr : view.array(gateway.trusted_proxies))
      listener.trusted_proxies.push_back(to_string(Cidr{address_of(cidr.address), cidr.prefix_length}));
    listener.settings = settings_of(view, record);
    const auto entries = view.array(record.host_entries);
    for (const HostEntry& entry : entries) {
      TreeHost& host = listener.hosts.emplace_back(builder.host(program.find(SectionKind::kHost, entry.host_id)->view));
      if (entry.next != kNone) host.next = shown(view.string(entries[entry.next].pattern));
    }
    builder.add_without_route(static_cast<std::uint32_t>(tree.listeners.size() - 1), listener);
    builder.add_claims(static_cast<std::uint32_t>(tree.listeners.size() - 1), listener);
  }
  return tree;
}

}  // namespace edge::program
