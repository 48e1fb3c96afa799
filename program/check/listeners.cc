#include <algorithm>

#include "program/check/checker.h"
#include "program/log_format.h"

namespace edge::program {
namespace {

bool check_names(Checker& check, const NameTable& table, std::uint32_t limit, const char* field) {
  const auto is_entry = [&table](std::uint32_t entry) { return entry < table.entries.count; };
  if (!check.array(table.entries, field) || !check_slots(check, table.slots, field, is_entry)) return false;
  bool sound = index_or_none(table.fallback, limit);
  for (const NameEntry& entry : check.view().array(table.entries))
    sound &= check.text(entry.name) && index_or_none(entry.exact, limit) && index_or_none(entry.wildcard, limit);
  return check.require(sound, field);
}

bool check_host_entries(Checker& check, ArrayRef<HostEntry> ref) {
  if (!check.array(ref, "listeners.host_entries")) return false;
  bool sound = true;
  std::uint32_t index = 0;
  for (const HostEntry& entry : check.view().array(ref)) {
    // Ascending, so that falling through ends.
    sound &= check.text(entry.pattern) && (entry.next == kNone || (entry.next > index && entry.next < ref.count));
    ++index;
  }
  return check.require(sound, "listeners.host_entries");
}

bool is_protocol(Protocol protocol) { return protocol >= Protocol::kHttp && protocol <= Protocol::kUdp; }

bool one_of(ContentCoding coding) { return coding == ContentCoding::kGzip || coding == ContentCoding::kBrotli; }

bool check_compression(Checker& check, const CompressionRecord& record) {
  static constexpr const char* kField = "gateways.compression";
  if (!check.array(record.algorithms, kField)) return false;
  const bool sound = std::ranges::all_of(check.view().array(record.algorithms), one_of) && record.level <= 11 &&
                     record.compressed_for <= CompressedFor::kWithoutCredentials;
  return check.require(sound, kField) && check.texts(record.exclude_types, kField) &&
         check.texts(record.include_types, kField);
}

bool check_gateway(Checker& check, const GatewayRecord& gateway, std::size_t index) {
  const auto compression = [&](const CompressionRecord& record) { return check_compression(check, record); };
  const auto cache = [](const CacheRecord&) { return true; };
  const auto tracing = [&](const TracingRecord& record) {
    return check.require(record.sampling_percent <= 100 && record.believed <= TraceSenders::kNever, "gateways.tracing");
  };
  const auto access_log = [&](const AccessLogRecord& record) {
    return check.require(check.text(record.format), "gateways.access_log") &&
           check.require(!read_log_format(check.view().string(record.format)).fault, "gateways.access_log") &&
           check.texts(record.exclude_paths, "gateways.access_log");
  };
  const auto limits = [](const ClientLimitsRecord&) { return true; };
  constexpr std::uint32_t kBoth = kRejectEscapedSlashes | kUnescapeSlashes;
  const bool paths =
      gateway.path_flags <= kAllPathFlags && gateway.flags <= kAllGatewayFlags && (gateway.path_flags & kBoth) != kBoth;
  return check.require(check.text(gateway.name_space) && check.text(gateway.name) && paths, "gateways", index) &&
         check_cidrs(check, gateway.trusted_proxies, "gateways.trusted_proxies") &&
         check.optional(gateway.compression, "gateways.compression", compression) &&
         check.optional(gateway.cache, "gateways.cache", cache) &&
         check.optional(gateway.tracing, "gateways.tracing", tracing) &&
         check.optional(gateway.access_log, "gateways.access_log", access_log) &&
         check.optional(gateway.limits, "gateways.limits", limits);
}

bool check_redirect(Checker& check, const SchemeRedirectRecord& record) {
  const bool sound = check.text(record.scheme) && record.status >= 300 && record.status <= 399 && record.port >= 1 &&
                     record.port <= 65535;
  return check.require(sound, "listeners.scheme_redirect") &&
         check.texts(record.exclusions, "listeners.scheme_redirect");
}

bool check_tls(Checker& check, const ListenerTlsRecord& record) {
  const bool sound = (record.mode == TlsMode::kTerminate || record.mode == TlsMode::kPassthrough) &&
                     (record.min_version == TlsVersion::k12 || record.min_version == TlsVersion::k13) &&
                     record.client_certificate <= kUnverifiedClientCertificate && record.needs_crl <= 1;
  return check.require(sound, "listeners.tls") && check.secrets(record.certificates, "listeners.tls") &&
         check.secrets(record.client_authorities, "listeners.tls");
}

bool check_listener(Checker& check, const ListenerRecord& listener, std::uint32_t gateways, std::size_t index) {
  const auto redirect = [&](const SchemeRedirectRecord& record) { return check_redirect(check, record); };
  const auto tls = [&](const ListenerTlsRecord& record) { return check_tls(check, record); };
  const bool sound = check.text(listener.name) && listener.gateway < gateways && is_protocol(listener.protocol);
  return check.require(sound, "listeners", index) && check_host_entries(check, listener.host_entries) &&
         check_names(check, listener.hosts, listener.host_entries.count, "listeners.hosts") &&
         check.optional(listener.scheme_redirect, "listeners.scheme_redirect", redirect) &&
         check.optional(listener.tls, "listeners.tls", tls);
}

}  // namespace

void check_listeners(Checker& check) {
  const SectionView& view = check.view();
  if (!check.require(view.bytes().size() >= sizeof(ListenersHeader), "header") || !check.require(check.id() == 0, "id"))
    return;
  const auto& header = view.header<ListenersHeader>();
  if (!check.array(header.gateways, "gateways") || !check.array(header.binds, "binds") ||
      !check.array(header.listeners, "listeners"))
    return;

  std::size_t index = 0;
  for (const GatewayRecord& gateway : view.array(header.gateways)) {
    if (!check_gateway(check, gateway, index++)) return;
  }
  index = 0;
  for (const BindRecord& bind : view.array(header.binds)) {
    if (!check.require(is_protocol(bind.protocol) && bind.any_address <= 1, "binds", index++) ||
        !check_names(check, bind.listeners, header.listeners.count, "binds.listeners"))
      return;
  }
  index = 0;
  for (const ListenerRecord& listener : view.array(header.listeners)) {
    if (!check_listener(check, listener, header.gateways.count, index++)) return;
  }
}

}  // namespace edge::program
