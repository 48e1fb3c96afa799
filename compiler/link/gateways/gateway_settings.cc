#include <algorithm>
#include <string>
#include <utility>

#include "base/text/ascii.h"
#include "compiler/link/defaults.h"
#include "compiler/link/field_values.h"
#include "compiler/link/path_value.h"
#include "compiler/link/stages.h"
#include "program/log_format.h"

namespace edge::compiler::link {
namespace {

/// `enabled` is false by default in every block, so a block without it does nothing.
template <typename Block>
bool is_on(const std::optional<Block>& block) {
  return block && block->enabled && block->enabled->value;
}

program::CompressedFor compressed_for(const model::Maybe<std::string>& written) {
  if (!written) return kDefaults.compressed_for;
  if (written->value == "SameOrigin") return program::CompressedFor::kSameOrigin;
  if (written->value == "Never") return program::CompressedFor::kWithoutCredentials;
  return program::CompressedFor::kAll;
}

CompressionSettings compression_of(const model::Compression& block) {
  CompressionSettings settings{
      .min_size = value_or(block.min_size, kDefaults.compression_min_size),
      .level = static_cast<std::uint8_t>(value_or(block.level, std::int64_t{kDefaults.compression_level}))};
  for (const Located<std::string>& name : block.algorithms) {
    const ContentCoding coding = name.value == "br" ? ContentCoding::kBrotli : ContentCoding::kGzip;
    if (std::find(settings.algorithms.begin(), settings.algorithms.end(), coding) == settings.algorithms.end()) {
      settings.algorithms.push_back(coding);
    }
  }
  if (settings.algorithms.empty()) settings.algorithms = {ContentCoding::kGzip, ContentCoding::kBrotli};
  for (const Located<std::string>& type : block.exclude_types)
    settings.exclude_types.push_back(ascii_lower(type.value));
  if (settings.exclude_types.empty()) {
    settings.exclude_types.assign(kDefaults.uncompressed_types.begin(), kDefaults.uncompressed_types.end());
    settings.include_types.assign(kDefaults.compressed_types.begin(), kDefaults.compressed_types.end());
  }
  settings.compressed_for = compressed_for(block.credentials);
  return settings;
}

CacheSettings cache_of(const model::Cache& block) {
  return {.max_size = value_or(block.max_size, kDefaults.cache_max_size),
          .max_entry_size = value_or(block.max_entry_size, kDefaults.cache_max_entry_size),
          .default_ttl = value_or(block.default_ttl, std::chrono::nanoseconds{0}),
          .max_ttl = value_or(block.max_ttl, kDefaults.cache_max_ttl)};
}

program::TraceSenders trace_senders(const model::Maybe<std::string>& written) {
  if (!written) return kDefaults.trace_senders;
  if (written->value == "Always") return program::TraceSenders::kAlways;
  if (written->value == "Never") return program::TraceSenders::kNever;
  return program::TraceSenders::kTrustedProxies;
}

ClientLimits limits_of(const model::ClientLimits& block) {
  const ClientLimits& usual = kDefaults.client_limits;
  const auto count = [](const auto& written, std::uint32_t otherwise) {
    return static_cast<std::uint32_t>(value_or(written, std::int64_t{otherwise}));
  };
  return {.min_body_rate = value_or(block.min_body_rate, usual.min_body_rate),
          .body_grace = value_or(block.body_grace, usual.body_grace),
          .max_connections_per_source = count(block.max_connections_per_source, usual.max_connections_per_source),
          .max_streams_per_source = count(block.max_streams_per_source, usual.max_streams_per_source)};
}

/// Paths are compared as requests carry them; the slash at the end, which makes a prefix, stays.
std::vector<std::string> exclusions_of(const std::vector<Located<std::string>>& written) {
  std::vector<std::string> paths;
  for (const Located<std::string>& path : written) paths.push_back(path_value(path.value).value_or(path.value));
  return paths;
}

PathRules path_rules_of(const model::Paths& paths) {
  PathRules rules;
  rules.merge_slashes = value_or(paths.merge_slashes, false);
  const std::string escaped = value_or(paths.escaped_slashes, {});
  if (escaped == "Reject") rules.escaped_slashes = EscapedSlashes::kReject;
  if (escaped == "Unescape") rules.escaped_slashes = EscapedSlashes::kUnescape;
  rules.reject_parameters = value_or(paths.path_parameters, {}) == "Reject";
  return rules;
}

struct FormatFinding {
  std::string message;
  std::string fix;
};

std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& candidates) {
  const std::string_view near = nearest_name(name, candidates);
  return near.empty() ? "" : "did you mean `" + std::string(near) + "`?";
}

FormatFinding finding_of(const program::LogFormatFault& fault, std::string_view format) {
  using Kind = program::LogFormatFault::Kind;
  const std::string_view at = format.substr(fault.begin, fault.end - fault.begin);
  switch (fault.kind) {
    case Kind::kUnknownWord: {
      const std::string near = did_you_mean(format, {"json", "common", "combined"});
      return {"the format is none of json, common and combined, nor a template with %{...}",
              near.empty() ? "write a template such as `%{time} %{status}`" : near};
    }
    case Kind::kUnknownField:
      return {"an access log has no field `" + std::string(at.substr(0, 60)) + "`",
              did_you_mean(at, program::log_field_names())};
    case Kind::kOpen:
      return {"`%{` without its `}`", ""};
    case Kind::kLonePercent:
      return {"a percent sign that begins no field", "write `%{field}`, or `%%` for the sign itself"};
    case Kind::kControlByte:
      return {"a control character, which would break a line in two", ""};
    case Kind::kTooLong:
      return {"the format is longer than " + std::to_string(program::kMaxLogFormat) + " bytes", ""};
  }
  return {};
}

}  // namespace

void check_log_format(const model::ProxyGateway& gateway, Diagnostics& diagnostics) {
  if (!gateway.access_log || !gateway.access_log->format) return;
  const Located<std::string>& format = *gateway.access_log->format;
  const auto fault = program::read_log_format(format.value).fault;
  if (!fault) return;
  FormatFinding finding = finding_of(*fault, format.value);
  diagnostics.add({.code = DiagnosticCode::kLogFormat,
                   .resource = gateway.metadata.text(),
                   .field = "spec.accessLog.format",
                   .span = format.span,
                   .within = Within{static_cast<std::uint32_t>(fault->begin), static_cast<std::uint32_t>(fault->end)},
                   .message = std::move(finding.message),
                   .fix = std::move(finding.fix)});
}

void link_gateway_settings(const model::ProxyGateway& gateway, LinkedGateway& linked) {
  if (is_on(gateway.compression)) linked.compression = compression_of(*gateway.compression);
  if (is_on(gateway.cache)) linked.cache = cache_of(*gateway.cache);
  if (is_on(gateway.tracing)) {
    linked.tracing = TracingSettings{
        static_cast<std::uint8_t>(value_or(gateway.tracing->sampling_rate, std::int64_t{kDefaults.sampling_percent})),
        trace_senders(gateway.tracing->trust_incoming)};
  }
  if (is_on(gateway.access_log)) {
    std::string format = value_or(gateway.access_log->format, std::string(kDefaults.access_log_format));
    if (program::read_log_format(format).fault) format = kDefaults.access_log_format;
    linked.access_log = AccessLogSettings{.format = std::move(format),
                                          .exclude_paths = exclusions_of(gateway.access_log->exclude_paths)};
  }
  if (gateway.limits) {
    const ClientLimits limits = limits_of(*gateway.limits);
    if (limits != kDefaults.client_limits) linked.limits = limits;
  }
  if (gateway.paths) linked.paths = path_rules_of(*gateway.paths);
  linked.canary_by_header = value_or(gateway.canary_header, {}) != "Disabled";
  linked.hides_reasons = value_or(gateway.reason_header, {}) == "Disabled";
}

std::optional<SchemeRedirectSettings> scheme_redirect_of(const model::ProxyGateway& gateway,
                                                         const model::Listener& listener) {
  // Rule D9: a request that came by TLS is not redirected.
  if (listener.protocol.value != "HTTP") return std::nullopt;
  const auto& block = listener.redirect_scheme ? listener.redirect_scheme : gateway.redirect_scheme;
  SchemeRedirectSettings settings{.scheme = std::string(kDefaults.redirect_scheme),
                                  .port = kDefaults.redirect_scheme_port,
                                  .status = kDefaults.redirect_scheme_status};
  if (is_on(block)) {
    settings.scheme = value_or(block->scheme, settings.scheme);
    settings.port = static_cast<std::uint16_t>(value_or(block->port, std::int64_t{settings.port}));
    settings.status = static_cast<std::uint16_t>(value_or(block->status, std::int64_t{settings.status}));
    settings.exclusions = exclusions_of(block->exclusions);
    return settings;
  }
  // The short form: all of it by default.
  if (listener.ssl_redirect && listener.ssl_redirect->value) return settings;
  return std::nullopt;
}

}  // namespace edge::compiler::link
