#include "compiler/link/dump/dump_settings.h"

#include <variant>

#include "base/units.h"

namespace edge::compiler::link {
namespace {

using Lines = std::vector<std::string>;

std::string joined(const std::vector<std::string>& texts) {
  if (texts.empty()) return "none";
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : " ") + quote(text);
  return out;
}

std::string secret_text(const SecretKey& secret) {
  return secret.name_space + "/" + secret.name + " " + quote(secret.key);
}

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string rate_keys_text(const std::vector<RateKeyPart>& keys) {
  constexpr std::string_view kWords[] = {"source-ip", "header", "cookie", "query", "jwt", "host", "path", "identity"};
  std::string text;
  for (const RateKeyPart& part : keys) {
    if (!text.empty()) text += " and ";
    text += kWords[static_cast<std::size_t>(part.key)];
    if (!part.name.empty()) text += " " + quote(part.name);
  }
  return text;
}

std::string sources_text(const AddressSources& sources) {
  std::string out;
  for (const Cidr& block : sources.networks) out += " " + to_string(block);
  for (const SecretKey& list : sources.lists) out += " list " + secret_text(list);
  for (const std::string& file : sources.files) out += " file " + quote(file);
  for (const std::string& country : sources.countries) out += " " + country;
  for (const std::uint32_t system : sources.systems) out += " AS" + number(system);
  return out.empty() ? " none" : out;
}

struct PolicyLines {
  Lines operator()(std::monostate) const { return {"settings at fault"}; }

  Lines operator()(const IpAccessSettings& settings) const {
    return {"allow" + sources_text(settings.allow) + " deny" + sources_text(settings.deny)};
  }

  Lines operator()(const RateLimitSettings& settings) const {
    Lines lines;
    for (const RateLimitRule& limit : settings.limits) {
      lines.push_back("requests " + number(limit.requests) + " per " + duration_text(limit.period) + " burst " +
                      number(limit.burst) + " by " + rate_keys_text(limit.keys));
    }
    if (settings.shared) lines.emplace_back("scope cluster");
    return lines;
  }

  Lines operator()(const ConcurrencySettings& settings) const {
    Lines lines;
    for (const ConcurrencyRule& limit : settings.limits) {
      lines.push_back("in progress " + number(limit.requests) + " by " + rate_keys_text(limit.keys));
    }
    lines.push_back("else " + number(settings.status));
    return lines;
  }

  Lines operator()(const BasicAuthSettings& settings) const {
    return {"realm " + quote(settings.realm) + (settings.strip_auth ? " strip" : ""),
            "users " + secret_text(settings.users)};
  }

  Lines operator()(const JwtSettings& settings) const {
    Lines lines;
    for (const JwtIssuer& issuer : settings.issuers) {
      lines.push_back("issuer " + quote(issuer.issuer) + " audience " + joined(issuer.audience));
      const std::string keys = !issuer.jwks_uri.empty() ? quote(issuer.jwks_uri)
                               : !issuer.jwks.empty()   ? "inline " + quote(issuer.jwks)
                                                        : (issuer.shared ? "shared " : "") + secret_text(issuer.secret);
      lines.push_back("keys " + keys + " algorithms " + joined(issuer.algorithms));
    }
    lines.push_back("header " + quote(settings.header) + " prefix " + quote(settings.prefix) + " skew " +
                    duration_text(settings.clock_skew));
    for (const ClaimHeader& each : settings.claim_headers) {
      lines.push_back("claim " + quote(each.claim) + " header " + quote(each.header) +
                      (each.before_routing ? " before routing" : ""));
    }
    return lines;
  }

  Lines operator()(const ApiKeySettings& settings) const {
    Lines lines = {"header " + quote(settings.header) + " cookie " + quote(settings.cookie) +
                   (settings.strip_key ? " strip" : "") + " identity " + quote(settings.identity_header)};
    for (const SecretKey& keys : settings.keys) lines.push_back("keys " + secret_text(keys));
    return lines;
  }

  Lines operator()(const RequestFilterSettings& settings) const {
    Lines lines = {(settings.shadow ? "counts" : "else ") + (settings.shadow ? "" : number(settings.status))};
    const auto limit = [&](const char* name, std::uint64_t value) {
      if (value != 0) lines.push_back(name + (" " + number(value)));
    };
    limit("headers", settings.max_headers);
    limit("header size", settings.max_header_size);
    limit("headers size", settings.max_headers_size);
    limit("body size", settings.max_body_size);
    if (settings.max_query_parameters != RequestFilterSettings::kNoLimit) {
      lines.push_back("query parameters " + number(settings.max_query_parameters));
    }
    if (!settings.methods.empty()) lines.push_back("methods " + joined(settings.methods));
    if (!settings.content_types.empty()) lines.push_back("content types " + joined(settings.content_types));
    const auto patterns = [&](const char* of, const std::vector<std::string>& list) {
      for (const std::string& pattern : list) lines.push_back(std::string("no ") + of + " " + quote(pattern));
    };
    patterns("path", settings.paths);
    patterns("query", settings.queries);
    for (const HeaderPattern& header : settings.headers) {
      lines.push_back("no header " + (header.name.empty() ? "" : header.name + " ") + quote(header.pattern));
    }
    patterns("body", settings.bodies);
    limit("inspects", settings.inspected_body_size);
    return lines;
  }

  static void names_lines(const char* side, const CertificateNames& names, Lines& lines) {
    const auto add = [&](const char* kind, const std::vector<std::string>& list) {
      for (const std::string& name : list) lines.push_back(std::string(side) + " " + kind + " " + quote(name));
    };
    add("dns", names.dns_names);
    add("uri", names.uris);
    add("uri below", names.uri_prefixes);
    add("email", names.emails);
    for (const Cidr& block : names.addresses) lines.push_back(std::string(side) + " ip " + to_string(block));
    add("common name", names.common_names);
    add("sha256", names.fingerprints);
  }
  Lines operator()(const ClientCertificateSettings& settings) const {
    Lines lines;
    if (settings.allows_all) lines.emplace_back("allow all certificates");
    names_lines("allow", settings.allow, lines);
    names_lines("deny", settings.deny, lines);
    if (!settings.identity_header.empty()) lines.push_back("identity " + quote(settings.identity_header));
    if (settings.forwards) lines.emplace_back("forwards certificate");
    return lines;
  }

  Lines operator()(const OidcSettings& settings) const {
    Lines lines = {"issuer " + quote(settings.issuer) + " client " + quote(settings.client_id),
                   "client-secret " + secret_text(settings.client_secret),
                   "session-secret " + secret_text(settings.session_secret),
                   "redirect " + quote(settings.redirect_url) + " scopes " + joined(settings.scopes)};
    if (!settings.forward_headers.empty()) lines.push_back("forward " + joined(settings.forward_headers));
    if (!settings.required_roles.empty() || !settings.required_groups.empty()) {
      lines.push_back(std::string("requires ") + (settings.require_all ? "all" : "any") + " roles " +
                      joined(settings.required_roles) + " groups " + joined(settings.required_groups));
    }
    return lines;
  }

  Lines operator()(const ForwardAuthSettings& settings) const {
    Lines lines = {"address " + quote(settings.address) + " timeout " + duration_text(settings.timeout) + " kept " +
                       duration_text(settings.cache_ttl),
                   "sends " + (settings.auth_headers.empty() ? "all" : joined(settings.auth_headers)) + " takes " +
                       joined(settings.response_headers)};
    if (!settings.sign_in_url.empty()) {
      lines.push_back("sign in " + quote(settings.sign_in_url) + " parameter " + settings.sign_in_parameter);
    }
    return lines;
  }

  Lines operator()(const CorsSettings& settings) const {
    const char* credentials = settings.credentials_for_everyone ? " credentials for everyone"
                              : settings.allow_credentials      ? " credentials"
                                                                : "";
    return {"origins " + joined(settings.allow_origins) + credentials,
            "methods " + joined(settings.allow_methods) + " headers " + joined(settings.allow_headers) + " exposes " +
                joined(settings.expose_headers) + " max-age " + duration_text(settings.max_age)};
  }

  static std::string page_text(const Page& page) {
    return page.body.empty() ? "usual text" : "page " + quote(page.content_type) + " " + quote(page.body);
  }

  Lines operator()(const MaintenanceSettings& settings) const {
    if (!settings.enabled) return {"off"};
    Lines lines = {page_text(settings.page)};
    if (settings.retry_after != 0) lines.push_back("retry-after " + number(settings.retry_after));
    for (const Cidr& block : settings.except_addresses) lines.push_back("except " + to_string(block));
    for (const HeaderValue& header : settings.except_headers) {
      lines.push_back("except " + header.name + " " + quote(header.value));
    }
    return lines;
  }

  Lines operator()(const FixedResponseSettings& settings) const {
    Lines lines = {"status " + number(settings.status) + " " + page_text(settings.page)};
    for (const HeaderValue& header : settings.headers) lines.push_back(header.name + " " + quote(header.value));
    return lines;
  }

  Lines operator()(const ErrorPagesSettings& settings) const {
    Lines lines;
    for (const ErrorPage& page : settings.pages) {
      lines.push_back(number(page.first) + (page.last == page.first ? "" : " to " + number(page.last)) + " " +
                      page_text(page.page));
    }
    return lines;
  }

  Lines operator()(const SecurityHeadersSettings& settings) const {
    Lines lines;
    if (settings.hsts) {
      lines.push_back("hsts max-age " + number(settings.hsts_max_age) +
                      (settings.hsts_include_sub_domains ? " sub-domains" : "") +
                      (settings.hsts_preload ? " preload" : ""));
    }
    if (!settings.x_frame_options.empty()) lines.push_back("frame-options " + quote(settings.x_frame_options));
    if (settings.no_sniff) lines.emplace_back("no-sniff");
    if (!settings.referrer_policy.empty()) lines.push_back("referrer-policy " + quote(settings.referrer_policy));
    return lines;
  }
};

std::string compression_line(const CompressionSettings& settings) {
  std::string text = "compression from " + number(settings.min_size) + " level " + number(settings.level);
  for (const ContentCoding coding : settings.algorithms) text += coding == ContentCoding::kGzip ? " gzip" : " br";
  text += " not " + joined(settings.exclude_types);
  if (!settings.include_types.empty()) text += " but " + joined(settings.include_types);
  if (settings.compressed_for == program::CompressedFor::kSameOrigin) text += " credentials SameOrigin";
  if (settings.compressed_for == program::CompressedFor::kWithoutCredentials) text += " credentials Never";
  return text;
}

std::string probe_line(const HealthCheckSettings& check) {
  constexpr std::string_view kProtocols[] = {"HTTP", "TCP", "GRPC"};
  std::string text = "probe " + std::string(kProtocols[static_cast<std::size_t>(check.protocol)]) + " every " +
                     duration_text(check.interval) + " timeout " + duration_text(check.timeout) + " after " +
                     duration_text(check.initial_delay) + " healthy " + number(check.healthy_threshold) +
                     " unhealthy " + number(check.unhealthy_threshold);
  if (!check.path.empty()) text += " path " + quote(check.path);
  if (!check.host.empty()) text += " host " + quote(check.host);
  for (const std::uint16_t status : check.expected_statuses) text += " status " + number(status);
  for (const ProbeHeader& header : check.headers) text += " header " + quote(header.name) + " " + quote(header.value);
  if (!check.grpc_service.empty()) text += " service " + quote(check.grpc_service);
  return text;
}

}  // namespace

std::string quote(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

Lines settings_lines(const LinkedPolicy& policy) { return std::visit(PolicyLines(), policy.settings); }

Lines settings_lines(const LinkedGateway& gateway) {
  Lines lines;
  if (gateway.compression) lines.push_back(compression_line(*gateway.compression));
  if (const auto& cache = gateway.cache) {
    lines.push_back("cache max " + number(cache->max_size) + " entry " + number(cache->max_entry_size) + " ttl " +
                    duration_text(cache->default_ttl) + " to " + duration_text(cache->max_ttl));
  }
  if (const auto& tracing = gateway.tracing) {
    std::string line = "tracing " + number(tracing->sampling_percent) + "%";
    if (tracing->believed == program::TraceSenders::kAlways) line += " trust-incoming Always";
    if (tracing->believed == program::TraceSenders::kNever) line += " trust-incoming Never";
    lines.push_back(std::move(line));
  }
  if (const auto& log = gateway.access_log) {
    lines.push_back("access-log " + quote(log->format) + " not " + joined(log->exclude_paths));
  }
  if (const auto& limits = gateway.limits) {
    lines.push_back("clients body rate " + number(limits->min_body_rate) + " after " +
                    duration_text(limits->body_grace) + " connections " + number(limits->max_connections_per_source) +
                    " streams " + number(limits->max_streams_per_source));
  }
  if (!gateway.paths.none()) {
    const char* const escaped[] = {"", " escaped slashes refused", " escaped slashes unescaped"};
    lines.push_back("paths:" + std::string(gateway.paths.merge_slashes ? " slashes merged" : "") +
                    escaped[static_cast<std::size_t>(gateway.paths.escaped_slashes)] +
                    (gateway.paths.reject_parameters ? " parameters refused" : ""));
  }
  if (!gateway.canary_by_header) lines.emplace_back("canary header disabled");
  if (gateway.hides_reasons) lines.emplace_back("reason header disabled");
  return lines;
}

Lines settings_lines(const LinkedListener& listener) {
  Lines lines;
  if (const auto& redirect = listener.redirect_scheme) {
    lines.push_back("redirects to " + redirect->scheme + " port " + number(redirect->port) + " status " +
                    number(redirect->status) + " not " + joined(redirect->exclusions));
  }
  if (const auto& tls = listener.tls) {
    std::string text = tls->mode == TlsMode::kTerminate ? "tls terminate" : "tls passthrough";
    text += tls->min_version == TlsVersion::k12 ? " from 1.2" : " from 1.3";
    lines.push_back(std::move(text));
    for (const CertificateName& name : tls->certificates) {
      lines.push_back("certificate " + name.name_space + "/" + name.name);
    }
    if (tls->acme) {
      std::string from = "ordered from";
      for (const AcmeAuthority& authority : tls->acme->authorities) from += " " + authority.directory;
      for (const ChallengeKind kind : tls->acme->challenges) {
        from += kind == ChallengeKind::kHttp01  ? " http-01"
                : kind == ChallengeKind::kDns01 ? " dns-01"
                                                : " tls-alpn-01";
      }
      lines.push_back(std::move(from));
    }
    if (tls->on_demand) {
      std::string names = "on demand up to " + std::to_string(tls->on_demand->max_names) + " names, unused ones kept " +
                          std::to_string(tls->on_demand->keep_unused.count()) + "s";
      for (const std::string& pattern : tls->on_demand->allow) names += " " + pattern;
      if (!tls->on_demand->ask_url.empty()) names += " asked at " + tls->on_demand->ask_url;
      lines.push_back(std::move(names));
    }
    if (tls->needs_client_certificate) {
      lines.emplace_back(tls->client_certificate_unverified ? "client certificate requested, need not verify"
                         : tls->client_certificate_optional ? "client certificate optional"
                                                            : "client certificate needed");
    }
    if (tls->requires_crl) lines.emplace_back("client certificate by authorities with a CRL");
    for (const SecretKey& authority : tls->client_authorities) {
      lines.push_back("client authority " + secret_text(authority));
    }
  }
  if (listener.proxy_protocol) lines.emplace_back("proxy-protocol from trusted proxies");
  return lines;
}

Lines settings_lines(const LinkedBackend& backend) {
  Lines lines;
  if (backend.health_check) lines.push_back(probe_line(*backend.health_check));
  if (const auto& check = backend.passive_check) {
    lines.push_back("ejects after " + number(check->consecutive_errors) + " errors or " +
                    number(check->consecutive_gateway_errors) + " gateway errors, each " +
                    duration_text(check->interval) + " for " + duration_text(check->base_ejection_time) + " at most " +
                    number(check->max_ejection_percent) + "%");
  }
  if (const auto& breaker = backend.circuit_breaker) {
    lines.push_back("circuit opens after " + number(breaker->consecutive_errors) + " errors, each " +
                    duration_text(breaker->interval) + " for " + duration_text(breaker->open_time) + " at most " +
                    number(breaker->max_ejection_percent) + "%" + (breaker->split_local_errors ? " split" : ""));
  }
  if (const auto& tls = backend.tls) {
    lines.push_back("tls to " + quote(tls->server_name) + (tls->system_authorities ? " system authorities" : "") +
                    (tls->refused ? " refused" : ""));
    for (const SecretKey& authority : tls->authorities) lines.push_back("authority " + secret_text(authority));
    for (const SubjectName& name : tls->alternative_names) {
      lines.push_back("subject " + std::string(name.uri ? "uri " : "hostname ") + quote(name.name));
    }
    if (const auto& own = tls->client_certificate) {
      lines.push_back("client certificate " + own->name_space + "/" + own->name);
    }
  }
  if (backend.takes_all_trailers) lines.emplace_back("trailers all");
  if (!backend.trailers.empty()) lines.push_back("trailers " + joined(backend.trailers));
  return lines;
}

}  // namespace edge::compiler::link
