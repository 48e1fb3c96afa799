#include <algorithm>
#include <utility>

#include "compiler/model/decode_kinds.h"
#include "compiler/model/formats.h"
#include "compiler/model/forms.h"

namespace edge::compiler::model {
namespace {

std::string listener_field(std::size_t index, std::string_view field) {
  return "spec.listeners[" + std::to_string(index) + "]." + std::string(field);
}

/// One certificate without its key serves nobody, and of files and Secrets there is no telling which was meant.
void check_files(const Tls& tls, const Fields& fields, std::size_t listener, Report& report) {
  if (!tls.certificate_file && !tls.key_file) return;
  const char* const present = tls.certificate_file ? "certFile" : "keyFile";
  const std::string field = listener_field(listener, "tls." + std::string(present));
  if (!tls.certificate_file || !tls.key_file) {
    const std::string other = tls.certificate_file ? "keyFile" : "certFile";
    report.fault(DiagnosticCode::kMissingField, fields.node(present).key_span(), field,
                 "`" + std::string(present) + "` needs `" + other + "` beside it",
                 "name the file of the " + std::string(tls.certificate_file ? "private key" : "certificate"));
  }
  for (const char* const name : {"secretRef", "certificateRefs"}) {
    if (!fields.node(name)) continue;
    report.fault(DiagnosticCode::kExclusiveFields, fields.node(present).key_span(), field,
                 "the certificate comes from files or from Secrets, not from both",
                 "keep either `certFile` and `keyFile`, or `" + std::string(name) + "`");
  }
}

/// Of certificates that are there and certificates to be ordered there is no telling which was meant.
void check_acme(const Tls& tls, const Fields& fields, std::size_t listener, Report& report) {
  if (!tls.acme) return;
  const std::string field = listener_field(listener, "tls.acme");
  for (const char* const name : {"secretRef", "certificateRefs", "certFile"}) {
    if (!fields.node(name)) continue;
    report.fault(DiagnosticCode::kExclusiveFields, fields.node("acme").key_span(), field,
                 "certificates are ordered from a CA, or are there in Secrets or files, not both",
                 "keep either `acme` or `" + std::string(name) + "`");
  }
  const Fields acme = fields.object("acme");
  if (!tls.acme->issuer) {
    for (const auto& challenge : tls.acme->spec.challenges) {
      if (challenge.value != "DNS01") continue;
      report.fault(DiagnosticCode::kExclusiveFields, challenge.span, field + ".challenges",
                   "DNS01 needs a CertificateIssuer, which says how TXT records are written",
                   "name a CertificateIssuer in `issuer`, with `spec.dns`");
    }
    return;
  }
  for (const char* const name : {"email", "directoryURL", "keyType", "challenges"}) {
    if (!acme.node(name)) continue;
    report.fault(DiagnosticCode::kExclusiveFields, acme.node(name).key_span(), field + "." + name,
                 "a CertificateIssuer is named, or the CA is described here, not both",
                 "keep either `issuer` or `" + std::string(name) + "`");
  }
}

std::optional<OnDemandNames> decode_on_demand(const Fields& fields, const std::string& field, Report& report) {
  if (!fields) return std::nullopt;
  OnDemandNames out{.span = fields.span(),
                    .allow = fields.hostnames("allow"),
                    .ask_url = fields.text("askURL"),
                    .max_names = fields.integer("maxNames"),
                    .keep_unused = fields.duration("keepUnused")};
  // A list that is at fault is not an empty one.
  const bool listed = fields.node("allow") && fields.node("allow").size() != 0;
  if (!listed && !fields.node("askURL")) {
    report.fault(DiagnosticCode::kMissingField, fields.span(), field,
                 "without an allow-list or an ask-URL any client could have certificates ordered for any name",
                 "list the names in `allow`, or name in `askURL` who decides");
  }
  // Agents tell of a use every ten minutes at most: names in use would be given up between.
  constexpr auto kShortest = std::chrono::hours(1);
  if (out.keep_unused && out.keep_unused->value < kShortest) {
    report.fault(DiagnosticCode::kOutOfRange, out.keep_unused->span, field + ".keepUnused",
                 "names would be given up while clients use them", "use `1h` or more");
  }
  return out;
}

std::optional<Tls> decode_tls(const Fields& tls, std::size_t listener, Report& report) {
  if (!tls) return std::nullopt;
  Tls out{.span = tls.span(),
          .certificate_file = tls.text("certFile"),
          .key_file = tls.text("keyFile"),
          .mode = tls.text("mode"),
          .min_version = tls.text("minVersion")};
  check_files(out, tls, listener, report);
  if (const Fields acme = tls.object("acme")) {
    out.acme = ListenerAcme{.span = acme.span(), .issuer = acme.text("issuer"), .spec = decode_issuer_spec(acme)};
    out.acme->on_demand =
        decode_on_demand(acme.object("onDemand"), listener_field(listener, "tls.acme.onDemand"), report);
    check_acme(out, tls, listener, report);
  }
  tls.entries("certificateRefs", [&](const Fields& entry) { out.certificates.push_back(entry.reference()); });
  const Fields validation = tls.object("clientValidation");
  validation.entries("caCertificateRefs",
                     [&](const Fields& entry) { out.client_authorities.push_back(entry.reference()); });
  if (const auto optional = validation.boolean("optional")) out.client_certificate_optional = optional->value;
  if (const auto required = validation.boolean("requireCRL")) out.requires_crl = required->value;
  const Fields secret = tls.object("secretRef");
  if (!secret) return out;
  if (out.certificates.empty()) {
    out.certificates.push_back(secret.reference());
    out.short_form = true;
  } else if (out.certificates.size() > 1 || !same(out.certificates[0], secret.reference())) {
    two_forms(tls.node("secretRef").key_span(), listener_field(listener, "tls.secretRef"),
              tls.node("certificateRefs").key_span(), listener_field(listener, "tls.certificateRefs"), report);
  }
  return out;
}

std::optional<RedirectScheme> decode_redirect(const Fields& redirect) {
  if (!redirect) return std::nullopt;
  return RedirectScheme{.span = redirect.span(),
                        .enabled = redirect.boolean("enabled"),
                        .scheme = redirect.text("scheme"),
                        .port = redirect.integer("port"),
                        .status = redirect.integer("statusCode"),
                        .exclusions = redirect.strings("exclusions")};
}

Listener decode_listener(const Fields& entry, std::size_t index, Report& report) {
  Listener listener{.span = entry.span(),
                    .name = entry.needed_text("name"),
                    .port = entry.needed_integer("port"),
                    .protocol = entry.needed_text("protocol"),
                    .hostnames = entry.hostnames("hostnames"),
                    .tls = decode_tls(entry.object("tls"), index, report),
                    .ssl_redirect = entry.boolean("sslRedirect"),
                    .max_request_body = entry.integer("maxRequestBodySize"),
                    .proxy_protocol = entry.boolean("proxyProtocol"),
                    .redirect_scheme = decode_redirect(entry.object("redirectScheme"))};
  listener.position = static_cast<std::uint32_t>(index);
  const bool nameless = listener.protocol.value == "TCP" || listener.protocol.value == "UDP";
  const bool plain = listener.protocol.value == "HTTP" || nameless;
  if (plain && listener.tls) {
    report.fault(DiagnosticCode::kExclusiveFields, listener.tls->span, listener_field(index, "tls"),
                 "a listener of protocol " + listener.protocol.value + " has no TLS settings",
                 "set protocol to HTTPS or TLS, or leave `tls` out");
  }
  if (nameless && !listener.hostnames.empty()) {
    report.fault(
        DiagnosticCode::kExclusiveFields, listener.hostnames[0].span, listener_field(index, "hostnames"),
        listener.protocol.value == "TCP" ? "connections of protocol TCP name no host" : "datagrams name no host",
        listener.protocol.value == "TCP" ? "set protocol to TLS, or leave `hostnames` out" : "leave `hostnames` out");
  }
  if (listener.protocol.value == "UDP" && listener.proxy_protocol && listener.proxy_protocol->value) {
    report.fault(DiagnosticCode::kExclusiveFields, listener.proxy_protocol->span,
                 listener_field(index, "proxyProtocol"), "PROXY headers of datagrams are not read",
                 "leave `proxyProtocol` out; backends are told of clients by `proxyProtocol` of a ProxyBackend");
  }
  if (listener.protocol.value == "HTTPS" && listener.tls && listener.tls->mode &&
      listener.tls->mode->value == "Passthrough") {
    report.fault(DiagnosticCode::kExclusiveFields, listener.tls->mode->span, listener_field(index, "tls.mode"),
                 "what passes through is not read as HTTP", "set protocol to TLS, or the mode to Terminate");
  }
  return listener;
}

/// One level stands for all algorithms of the list, and gzip knows fewer than brotli.
void check_level(const Compression& compression, Report& report) {
  const auto& level = compression.level;
  if (!level || (level->value >= 1 && level->value <= 9)) return;
  const auto& algorithms = compression.algorithms;
  const bool gzip = algorithms.empty() ||
                    std::ranges::any_of(algorithms, [](const auto& algorithm) { return algorithm.value == "gzip"; });
  if (!gzip) return;
  report.fault(DiagnosticCode::kOutOfRange, level->span, "spec.compression.level",
               "gzip knows levels 1 to 9, not " + std::to_string(level->value),
               "set one of these, or `algorithms: [br]`");
}

std::optional<Compression> decode_compression(const Fields& fields, Report& report) {
  if (!fields) return std::nullopt;
  Compression compression{.span = fields.span(),
                          .enabled = fields.boolean("enabled"),
                          .min_size = fields.size("minSize"),
                          .level = fields.integer("level"),
                          .algorithms = fields.strings("algorithms"),
                          .exclude_types = fields.strings("excludeTypes"),
                          .credentials = fields.text("credentials")};
  check_level(compression, report);
  return compression;
}

std::optional<Cache> decode_cache(const Fields& fields) {
  if (!fields) return std::nullopt;
  return Cache{.span = fields.span(),
               .enabled = fields.boolean("enabled"),
               .max_size = fields.size("maxSize"),
               .default_ttl = fields.duration("defaultTTL"),
               .max_ttl = fields.duration("maxTTL"),
               .max_entry_size = fields.size("maxEntrySize")};
}

std::optional<Tracing> decode_tracing(const Fields& fields) {
  if (!fields) return std::nullopt;
  return Tracing{.span = fields.span(),
                 .enabled = fields.boolean("enabled"),
                 .sampling_rate = fields.integer("samplingRate"),
                 .trust_incoming = fields.text("trustIncoming")};
}

std::optional<AccessLog> decode_access_log(const Fields& fields) {
  if (!fields) return std::nullopt;
  return AccessLog{.span = fields.span(),
                   .enabled = fields.boolean("enabled"),
                   .format = fields.text("format"),
                   .exclude_paths = fields.strings("excludePaths")};
}

std::optional<ClientLimits> decode_limits(const Fields& fields) {
  if (!fields) return std::nullopt;
  return ClientLimits{.span = fields.span(),
                      .min_body_rate = fields.size("minRequestBodyRate"),
                      .body_grace = fields.duration("requestBodyGracePeriod"),
                      .max_connections_per_source = fields.integer("maxConnectionsPerSource"),
                      .max_streams_per_source = fields.integer("maxStreamsPerSource")};
}

std::optional<Paths> decode_paths(const Fields& fields) {
  if (!fields) return std::nullopt;
  return Paths{.span = fields.span(),
               .merge_slashes = fields.boolean("mergeSlashes"),
               .escaped_slashes = fields.text("escapedSlashes"),
               .path_parameters = fields.text("pathParameters")};
}

bool same(const RedirectScheme& a, const RedirectScheme& b) {
  const auto equal = [](const auto& x, const auto& y) { return x ? y && x->value == y->value : !y; };
  const auto equal_text = [](const auto& x, const auto& y) { return x.value == y.value; };
  return equal(a.enabled, b.enabled) && equal(a.scheme, b.scheme) && equal(a.port, b.port) &&
         equal(a.status, b.status) && std::ranges::equal(a.exclusions, b.exclusions, equal_text);
}

/// The gateway's redirectScheme becomes that of every listener that can redirect: one place to look for whoever reads
/// the model. A listener that has its own must not differ.
void spread_redirect(ProxyGateway& gateway, yaml::Node whole, Report& report) {
  if (!gateway.redirect_scheme) return;
  for (std::size_t i = 0; i < gateway.listeners.size(); ++i) {
    Listener& listener = gateway.listeners[i];
    if (!listener.redirect_scheme) {
      if (listener.protocol.value == "HTTP") listener.redirect_scheme = gateway.redirect_scheme;
    } else if (!same(*listener.redirect_scheme, *gateway.redirect_scheme)) {
      two_forms(whole.key_span(), "spec.redirectScheme", listener.redirect_scheme->span,
                listener_field(i, "redirectScheme"), report);
    }
  }
}

void check_listener_names(const std::vector<Listener>& listeners, Report& report) {
  for (std::size_t i = 0; i < listeners.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (listeners[i].name.value != listeners[j].name.value) continue;
      report.add({.code = DiagnosticCode::kConflict,
                  .field = listener_field(i, "name"),
                  .span = listeners[i].name.span,
                  .message = "two listeners have the name `" + listeners[i].name.value + "`",
                  .labels = {{listeners[j].name.span, "first used here"}}});
      break;
    }
  }
}

/// Every block is of the family that is asked for.
void check_pool(const ProxyVip& vip, Report& report) {
  if (!vip.address_family) return;
  for (std::size_t i = 0; i < vip.pool.size(); ++i) {
    const Located<Cidr>& block = vip.pool[i];
    if ((block.value.address.is_v4() ? "ipv4" : "ipv6") == vip.address_family->value) continue;
    report.fault(DiagnosticCode::kExclusiveFields, block.span, "spec.pool[" + std::to_string(i) + "]",
                 "the block `" + to_string(block.value) + "` is not of the family " + vip.address_family->value,
                 "leave out `addressFamily`, or the block");
  }
}

/// As the controller wrote them; what is none is passed over, since nobody writes a status by hand.
std::vector<PoolAllocation> allocations(yaml::Node status) {
  constexpr std::size_t kMost = 1000;
  std::vector<PoolAllocation> all;
  const yaml::Node list = status && status.is_map() ? status.find("allocations") : yaml::Node();
  if (!list || !list.is_list()) return all;
  for (const yaml::Node entry : list) {
    if (!entry.is_map() || all.size() == kMost) continue;
    const auto text = [&](std::string_view key) {
      const yaml::Node value = entry.find(key);
      return value && value.is_scalar() ? std::string(value.text()) : std::string();
    };
    const auto address = parse_ip(text("address"));
    PoolAllocation one{.kind = text("kind"), .name_space = text("namespace"), .name = text("name")};
    if (!address || one.kind.empty() || one.name.empty()) continue;
    one.address = *address;
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

ProxyVip decode_vip(const Fields& root, Metadata metadata, Report& report) {
  const Fields spec = root.object("spec");
  ProxyVip vip{.metadata = std::move(metadata),
               .mode = spec.text("mode"),
               .address_family = spec.text("addressFamily"),
               .ports = spec.integers("ports"),
               .interface = spec.text("interface"),
               .min_healthy_nodes = spec.object("healthPolicy").integer("minHealthyNodes"),
               .node_selector = spec.string_map("nodeSelector"),
               .bgp = decode_bgp(spec.object("bgp"), report)};
  if (vip.mode && vip.mode->value == "BGP" && !vip.bgp) {
    report.fault(DiagnosticCode::kMissingField, vip.mode->span, "spec.bgp", "the mode BGP takes `bgp`",
                 "name `localAS` and `peers` under `bgp`, or leave `mode` out");
  }
  vip.pool = spec.cidrs("pool");
  if (const yaml::Node pool = spec.node("pool")) {
    if (const yaml::Node address = spec.node("address")) {
      report.fault(DiagnosticCode::kExclusiveFields, pool.key_span(), "spec.pool",
                   "a ProxyVIP is one address or a pool of them, not both", "leave out `address` or `pool`");
    } else if (vip.pool.empty()) {
      report.fault(DiagnosticCode::kMissingField, pool.key_span(), "spec.pool", "the pool has no block of addresses");
    }
    check_pool(vip, report);
    vip.allocations = allocations(root.node("status"));
    return vip;
  }
  if (!spec.node("address")) {
    report.fault(DiagnosticCode::kMissingField, spec.span(), "spec.address", "the field `address` is required",
                 "write the address with its prefix length, or blocks of addresses as `pool`");
    return vip;
  }
  const Located<std::string> text = spec.needed_text("address");
  const std::string_view host = std::string_view(text.value).substr(0, text.value.find('/'));
  const auto address = parse_ip(host);
  const auto block = parse_cidr(text.value);
  if (!address || !block) return vip;
  vip.address = {*address, text.span};
  vip.prefix_length = block->prefix_length;
  const std::string_view family = address->is_v4() ? "ipv4" : "ipv6";
  if (vip.address_family && vip.address_family->value != family) {
    report.fault(DiagnosticCode::kExclusiveFields, vip.address_family->span, "spec.addressFamily",
                 "the address `" + text.value + "` is not of the family " + vip.address_family->value,
                 "write `" + std::string(family) + "`, or leave the field out");
  }
  return vip;
}

/// Its TLS is given: who may call is told by certificates of the hub's authority.
void decode_clusters(const Fields& clusters, ProxyGateway& gateway, Report& report) {
  gateway.clusters.emplace(ProxyGateway::OtherClusters{.span = clusters.span()});
  for (const Located<std::string>& text : clusters.strings("advertise")) {
    if (!has_format(text.value, schemas::Format::kEndpointAddress)) continue;
    const std::size_t colon = text.value.rfind(':');
    std::string_view host = std::string_view(text.value).substr(0, colon);
    if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
    if (colon == std::string::npos || !parse_ip(host)) {
      report.fault(DiagnosticCode::kInvalidValue, text.span, "spec.clusters.advertise",
                   "other clusters are told an IP address with a port, not " + in_quotes(text.value),
                   "write it as `198.51.100.7:15443`");
      continue;
    }
    gateway.clusters->advertise.push_back(text);
  }
  for (const Listener& listener : gateway.listeners) {
    if (listener.protocol.value == "HTTPS" && !listener.tls && listener.hostnames.empty()) continue;
    report.fault(DiagnosticCode::kExclusiveFields, listener.span, listener_field(listener.position, "protocol"),
                 "a listener for other clusters is of protocol HTTPS, and its names and certificates are given",
                 "set protocol to HTTPS and leave `tls` and `hostnames` out; listeners for clients are another "
                 "gateway's");
  }
}

ProxyGateway decode_gateway(const Fields& root, Metadata metadata, Report& report) {
  const Fields spec = root.object("spec");
  ProxyGateway gateway{.metadata = std::move(metadata),
                       .vip_ref = spec.text("vipRef"),
                       .load_balancer_class = spec.text("loadBalancerClass"),
                       .agent_groups = spec.strings("agentGroups"),
                       .compression = decode_compression(spec.object("compression"), report),
                       .cache = decode_cache(spec.object("cache")),
                       .tracing = decode_tracing(spec.object("tracing")),
                       .access_log = decode_access_log(spec.object("accessLog")),
                       .limits = decode_limits(spec.object("limits")),
                       .paths = decode_paths(spec.object("paths")),
                       .canary_header = spec.text("canaryHeader"),
                       .reason_header = spec.text("reasonHeader"),
                       .redirect_scheme = decode_redirect(spec.object("redirectScheme")),
                       .trusted_proxies = spec.cidrs("trustedProxies")};
  spec.entries("listeners", [&](const Fields& entry) {
    gateway.listeners.push_back(decode_listener(entry, gateway.listeners.size(), report));
  });
  if (const Fields clusters = spec.object("clusters")) decode_clusters(clusters, gateway, report);
  check_listener_names(gateway.listeners, report);
  spread_redirect(gateway, spec.node("redirectScheme"), report);
  return gateway;
}

}  // namespace edge::compiler::model
