#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "base/hash.h"
#include "compiler/emit/settings.h"
#include "compiler/emit/tables.h"
#include "program/evaluate/lookup.h"
#include "program/format/records.h"
#include "program/section_builder.h"

namespace edge::compiler::emit {
namespace {

using program::BindRecord;
using program::HostEntry;
using program::kNone;
using program::ListenerRecord;
using program::NameEntry;
using program::NameTable;

/// Collects entries by host name pattern; the first entry of a pattern wins. The patterns must outlive the builder.
class NameTableBuilder {
 public:
  void add(const HostPattern& pattern, std::uint32_t value) {
    if (pattern.any()) {
      if (fallback_ == kNone) fallback_ = value;
    } else {
      (pattern.wildcard() ? wildcards_ : exact_).push_back({pattern.domain(), value});
    }
  }

  NameTable build(program::SectionBuilder& builder) {
    order(exact_);
    order(wildcards_);
    NameTable table{};
    table.fallback = fallback_;
    std::vector<NameEntry> entries;
    std::vector<std::uint64_t> hashes;
    entries.reserve(exact_.size() + wildcards_.size());
    hashes.reserve(exact_.size() + wildcards_.size());
    // Both ascend by name: what stands first is next, and a name that stands in both is one entry.
    for (auto exact = exact_.begin(), wildcard = wildcards_.begin();
         exact != exact_.end() || wildcard != wildcards_.end();) {
      const bool has_exact = wildcard == wildcards_.end() || (exact != exact_.end() && exact->name <= wildcard->name);
      const bool has_wildcard =
          exact == exact_.end() || (wildcard != wildcards_.end() && wildcard->name <= exact->name);
      const std::string_view name = has_exact ? exact->name : wildcard->name;
      const std::uint32_t exact_value = has_exact ? (exact++)->value : kNone;
      const std::uint32_t wildcard_value = has_wildcard ? (wildcard++)->value : kNone;
      entries.push_back({builder.string(name), exact_value, wildcard_value});
      hashes.push_back(program::name_hash(name));
      table.max_labels = std::max(table.max_labels, static_cast<std::uint32_t>(std::ranges::count(name, '.')) + 1);
    }
    table.slots = builder.array(program::build_slots(hashes).slots);
    table.entries = builder.array(entries);
    return table;
  }

 private:
  struct Claim {
    std::string_view name;
    std::uint32_t value;
  };

  /// By name, one claim each. Exact hosts come ordered, thousands at a time, so that is looked at first.
  static void order(std::vector<Claim>& claims) {
    if (!std::ranges::is_sorted(claims, {}, &Claim::name)) std::ranges::stable_sort(claims, {}, &Claim::name);
    const auto doubles = std::ranges::unique(claims, {}, &Claim::name);
    claims.erase(doubles.begin(), doubles.end());
  }

  std::vector<Claim> exact_;
  std::vector<Claim> wildcards_;
  std::uint32_t fallback_ = kNone;
};

// ---- Hosts of a listener --------------------------------------------------------------------------------------------

/// Sets each entry's `next`: of the patterns that cover it, the most specific (rule D2). Entries come most specific
/// first, so a covering pattern always stands later.
void chain(std::vector<HostEntry>& entries, const std::vector<const HostPattern*>& patterns) {
  std::map<std::string_view, std::uint32_t> wildcards;
  std::uint32_t any = kNone;
  for (std::uint32_t i = 0; i < patterns.size(); ++i) {
    if (patterns[i]->any()) any = i;
    if (patterns[i]->wildcard()) wildcards.emplace(patterns[i]->domain(), i);
  }
  for (std::uint32_t i = 0; i < patterns.size(); ++i) {
    entries[i].next = i == any ? kNone : any;
    // Each shorter domain in turn, from the nearest on. A wildcard does not cover its own domain.
    std::string_view domain = patterns[i]->domain();
    for (std::size_t dot = domain.find('.'); dot != std::string_view::npos; dot = domain.find('.')) {
      domain.remove_prefix(dot + 1);
      const auto found = wildcards.find(domain);
      if (found == wildcards.end()) continue;
      entries[i].next = found->second;
      break;
    }
  }
}

/// `patterns`: the most specific first.
ListenerRecord emit_listener(const LinkedConfig& config, std::uint32_t index,
                             const std::vector<const HostPattern*>& patterns, program::SectionBuilder& builder) {
  NameTableBuilder names;
  std::vector<HostEntry> entries;
  entries.reserve(patterns.size());
  for (const HostPattern* pattern : patterns) {
    names.add(*pattern, static_cast<std::uint32_t>(entries.size()));
    entries.push_back({ir::host_id(config, index, *pattern), builder.string(pattern->text()), kNone, 0});
  }
  chain(entries, patterns);

  const LinkedListener& listener = config.listeners[index];
  ListenerRecord record{};
  record.name = builder.string(listener.name);
  record.gateway = listener.gateway;
  record.protocol = listener.protocol;
  record.flags = listener.proxy_protocol ? program::kAcceptsProxyProtocol : 0;
  record.max_request_body = listener.max_request_body;
  record.hosts = names.build(builder);
  record.host_entries = builder.array(entries);
  store_settings(builder, listener, record);
  return record;
}

// ---- Binds ----------------------------------------------------------------------------------------------------------

struct BindKey {
  std::uint16_t port;
  program::Protocol protocol;
  bool any;
  IpAddress address;
  auto operator<=>(const BindKey&) const = default;
};

/// Listeners of HTTPS and of TLS share a socket: the client's first message tells them apart.
program::Protocol bind_protocol(const LinkedListener& listener) {
  return listener.protocol == program::Protocol::kTls ? program::Protocol::kHttps : listener.protocol;
}

struct Bind {
  NameTableBuilder names;
  bool only_tls = true;
};

void claim(const LinkedListener& listener, std::uint32_t index, Bind& bind) {
  bind.only_tls &= listener.protocol == program::Protocol::kTls;
  if (listener.hostnames.empty()) bind.names.add(HostPattern(), index);
  for (const Located<HostPattern>& hostname : listener.hostnames) bind.names.add(*hostname, index);
}

/// Which listeners each socket address serves. A listener on every address is served on each single one too that some
/// other gateway names: the kernel gives such a connection to the socket with the address alone.
std::map<BindKey, Bind> collect_binds(const LinkedConfig& config) {
  std::map<BindKey, Bind> binds;
  for (std::uint32_t i = 0; i < config.listeners.size(); ++i) {
    const LinkedListener& listener = config.listeners[i];
    const auto& addresses = config.gateways[listener.gateway].addresses;
    if (addresses.empty()) claim(listener, i, binds[{listener.port, bind_protocol(listener), true, {}}]);
    for (const IpAddress& address : addresses)
      claim(listener, i, binds[{listener.port, bind_protocol(listener), false, address}]);
  }
  for (auto& [key, bind] : binds) {
    if (key.any) continue;
    for (std::uint32_t i = 0; i < config.listeners.size(); ++i) {
      const LinkedListener& listener = config.listeners[i];
      if (listener.port == key.port && bind_protocol(listener) == key.protocol &&
          config.gateways[listener.gateway].addresses.empty())
        claim(listener, i, bind);
    }
  }
  return binds;
}

std::uint32_t path_flags(const PathRules& rules) {
  std::uint32_t flags = 0;
  if (rules.merge_slashes) flags |= program::kMergeSlashes;
  if (rules.escaped_slashes == EscapedSlashes::kReject) flags |= program::kRejectEscapedSlashes;
  if (rules.escaped_slashes == EscapedSlashes::kUnescape) flags |= program::kUnescapeSlashes;
  if (rules.reject_parameters) flags |= program::kRejectPathParameters;
  return flags;
}

std::vector<program::GatewayRecord> emit_gateways(const LinkedConfig& config, program::SectionBuilder& builder) {
  std::vector<program::GatewayRecord> records;
  for (const LinkedGateway& gateway : config.gateways) {
    const auto& [name_space, name] = std::tie(gateway.identity.name_space, gateway.identity.name);
    std::vector<program::CidrRecord> proxies;
    for (const Cidr& cidr : gateway.trusted_proxies) proxies.push_back(program::cidr_record(cidr));
    program::GatewayRecord& record = records.emplace_back();
    record.id = stable_id(gateway.identity.kind, name_space, name);
    record.name_space = builder.string(name_space);
    record.name = builder.string(name);
    record.trusted_proxies = builder.array(proxies);
    record.path_flags = path_flags(gateway.paths);
    if (gateway.hides_reasons) record.flags |= program::kHidesReasons;
    store_settings(builder, gateway, record);
  }
  return records;
}

}  // namespace

std::vector<std::byte> emit_listeners(const LinkedConfig& config,
                                      std::span<const ir::HostRoutes::value_type* const> hosts) {
  program::SectionBuilder builder(sizeof(program::ListenersHeader), 128 * hosts.size() + 4096);
  program::ListenersHeader header{};
  header.gateways = builder.array(emit_gateways(config, builder));

  std::vector<BindRecord> binds;
  for (auto& [key, bind] : collect_binds(config)) {
    BindRecord& record = binds.emplace_back();
    std::memcpy(record.address, key.address.bytes.data(), sizeof record.address);
    record.port = key.port;
    record.protocol = bind.only_tls ? program::Protocol::kTls : key.protocol;
    record.any_address = key.any;
    record.listeners = bind.names.build(builder);
  }
  header.binds = builder.array(binds);

  // As keys ascend: by listener, then by specificity.
  std::vector<std::vector<const HostPattern*>> patterns(config.listeners.size());
  for (const auto* host : hosts) patterns[host->first.listener].push_back(&host->first.pattern);
  std::vector<ListenerRecord> listeners;
  for (std::uint32_t i = 0; i < patterns.size(); ++i)
    listeners.push_back(emit_listener(config, i, patterns[i], builder));
  header.listeners = builder.array(listeners);
  return std::move(builder).finish(header);
}

}  // namespace edge::compiler::emit
