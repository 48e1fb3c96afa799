#include <algorithm>
#include <string>
#include <utility>

#include "compiler/link/defaults.h"
#include "compiler/link/field_values.h"
#include "compiler/link/path_value.h"
#include "compiler/link/stages.h"

namespace edge::compiler::link {
namespace {

/// `enabled` is false by default in every block, so a block without it does nothing.
template <typename Block>
bool is_on(const std::optional<Block>& block) {
  return block && block->enabled && block->enabled->value;
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
  for (const Located<std::string>& type : block.exclude_types) settings.exclude_types.push_back(lower(type.value));
  if (settings.exclude_types.empty()) {
    settings.exclude_types.assign(kDefaults.uncompressed_types.begin(), kDefaults.uncompressed_types.end());
    settings.include_types.assign(kDefaults.compressed_types.begin(), kDefaults.compressed_types.end());
  }
  return settings;
}

CacheSettings cache_of(const model::Cache& block) {
  return {.max_size = value_or(block.max_size, kDefaults.cache_max_size),
          .max_entry_size = value_or(block.max_entry_size, kDefaults.cache_max_entry_size),
          .default_ttl = value_or(block.default_ttl, std::chrono::nanoseconds{0}),
          .max_ttl = value_or(block.max_ttl, kDefaults.cache_max_ttl)};
}

/// Paths are compared as requests carry them; the slash at the end, which makes a prefix, stays.
std::vector<std::string> exclusions_of(const std::vector<Located<std::string>>& written) {
  std::vector<std::string> paths;
  for (const Located<std::string>& path : written) paths.push_back(path_value(path.value).value_or(path.value));
  return paths;
}

}  // namespace

void link_gateway_settings(const model::ProxyGateway& gateway, LinkedGateway& linked) {
  if (is_on(gateway.compression)) linked.compression = compression_of(*gateway.compression);
  if (is_on(gateway.cache)) linked.cache = cache_of(*gateway.cache);
  if (is_on(gateway.tracing)) {
    linked.tracing = TracingSettings{
        static_cast<std::uint8_t>(value_or(gateway.tracing->sampling_rate, std::int64_t{kDefaults.sampling_percent}))};
  }
  if (is_on(gateway.access_log)) {
    linked.access_log =
        AccessLogSettings{.format = value_or(gateway.access_log->format, std::string(kDefaults.access_log_format)),
                          .exclude_paths = exclusions_of(gateway.access_log->exclude_paths)};
  }
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
