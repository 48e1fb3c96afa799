#include "compiler/emit/settings.h"

namespace edge::compiler::emit {
namespace {

using program::SectionBuilder;

program::CompressionRecord compression_record(SectionBuilder& builder, const CompressionSettings& settings) {
  std::vector<program::ContentCoding> algorithms;
  for (const ContentCoding coding : settings.algorithms) {
    algorithms.push_back(coding == ContentCoding::kGzip ? program::ContentCoding::kGzip
                                                        : program::ContentCoding::kBrotli);
  }
  return {settings.min_size,
          builder.array(algorithms),
          store_texts(builder, settings.exclude_types),
          store_texts(builder, settings.include_types),
          settings.level,
          settings.compressed_for};
}

program::ClientCertificateNeed client_certificate_need(const ListenerTls& tls) {
  if (!tls.needs_client_certificate) return program::kNoClientCertificate;
  if (tls.client_certificate_unverified) return program::kUnverifiedClientCertificate;
  return tls.client_certificate_optional ? program::kOptionalClientCertificate : program::kNeedsClientCertificate;
}

program::ListenerTlsRecord tls_record(SectionBuilder& builder, const ListenerTls& tls) {
  std::vector<program::SecretRecord> certificates;
  for (const CertificateName& certificate : tls.certificates)
    certificates.push_back({builder.string(certificate.name_space), builder.string(certificate.name), {}});
  return {tls.mode == TlsMode::kTerminate ? program::TlsMode::kTerminate : program::TlsMode::kPassthrough,
          tls.min_version == TlsVersion::k12 ? program::TlsVersion::k12 : program::TlsVersion::k13,
          builder.array(certificates),
          store_secrets(builder, tls.client_authorities),
          client_certificate_need(tls),
          tls.requires_crl ? 1U : 0U};
}

program::ProbeProtocol probe_protocol(ProbeProtocol protocol) {
  switch (protocol) {
    case ProbeProtocol::kHttp:
      return program::ProbeProtocol::kHttp;
    case ProbeProtocol::kTcp:
      return program::ProbeProtocol::kTcp;
    case ProbeProtocol::kGrpc:
      break;
  }
  return program::ProbeProtocol::kGrpc;
}

program::HealthCheckRecord health_record(SectionBuilder& builder, const HealthCheckSettings& check) {
  program::HealthCheckRecord record{};
  record.interval_ns = nanoseconds(check.interval);
  record.timeout_ns = nanoseconds(check.timeout);
  record.initial_delay_ns = nanoseconds(check.initial_delay);
  record.protocol = probe_protocol(check.protocol);
  record.healthy_threshold = check.healthy_threshold;
  record.unhealthy_threshold = check.unhealthy_threshold;
  record.path = builder.string(check.path);
  record.host = builder.string(check.host);
  record.grpc_service = builder.string(check.grpc_service);
  record.expected_status =
      builder.array(std::vector<std::uint32_t>(check.expected_statuses.begin(), check.expected_statuses.end()));
  std::vector<program::HeaderRecord> headers;
  for (const ProbeHeader& header : check.headers)
    headers.push_back({builder.string(header.name), builder.string(header.value)});
  record.headers = builder.array(headers);
  return record;
}

program::PassiveCheckRecord passive_record(const PassiveCheckSettings& check) {
  return {nanoseconds(check.interval), nanoseconds(check.base_ejection_time),
          check.consecutive_errors,    check.consecutive_gateway_errors,
          check.max_ejection_percent,  0};
}

program::CircuitBreakerRecord breaker_record(const CircuitBreakerSettings& breaker) {
  return {nanoseconds(breaker.interval), nanoseconds(breaker.open_time),       breaker.consecutive_errors,
          breaker.max_ejection_percent,  breaker.split_local_errors ? 1U : 0U, 0};
}

}  // namespace

program::BackendTlsRecord backend_tls_record(SectionBuilder& builder, const BackendTlsSettings& tls) {
  const std::uint32_t flags =
      (tls.system_authorities ? program::kSystemAuthorities : 0U) | (tls.refused ? program::kRefuseConnections : 0U);
  program::BackendTlsRecord record{};
  record.server_name = builder.string(tls.server_name);
  record.authorities = store_secrets(builder, tls.authorities);
  std::vector<program::SubjectNameRecord> names;
  for (const SubjectName& subject : tls.alternative_names)
    names.push_back({subject.uri ? 1U : 0U, 0, builder.string(subject.name)});
  record.alternative_names = builder.array(names);
  if (const auto& own = tls.client_certificate) {
    record.client_certificate =
        store_one(builder, program::SecretRecord{builder.string(own->name_space), builder.string(own->name), {}});
  }
  record.flags = flags;
  return record;
}

program::ArrayRef<program::StringRef> store_texts(SectionBuilder& builder, const std::vector<std::string>& texts) {
  std::vector<program::StringRef> refs;
  refs.reserve(texts.size());
  for (const std::string& text : texts) refs.push_back(builder.string(text));
  return builder.array(refs);
}

program::SecretRecord secret_record(SectionBuilder& builder, const SecretKey& secret) {
  return {builder.string(secret.name_space), builder.string(secret.name), builder.string(secret.key)};
}

program::ArrayRef<program::SecretRecord> store_secrets(SectionBuilder& builder, const std::vector<SecretKey>& secrets) {
  std::vector<program::SecretRecord> records;
  for (const SecretKey& secret : secrets) records.push_back(secret_record(builder, secret));
  return builder.array(records);
}

void store_settings(SectionBuilder& builder, const LinkedGateway& gateway, program::GatewayRecord& record) {
  if (gateway.compression) record.compression = store_one(builder, compression_record(builder, *gateway.compression));
  if (const auto& cache = gateway.cache) {
    record.cache =
        store_one(builder, program::CacheRecord{cache->max_size, cache->max_entry_size, nanoseconds(cache->default_ttl),
                                                nanoseconds(cache->max_ttl)});
  }
  if (const auto& tracing = gateway.tracing) {
    record.tracing = store_one(builder, program::TracingRecord{tracing->sampling_percent, tracing->believed, 0});
  }
  if (const auto& log = gateway.access_log) {
    record.access_log = store_one(
        builder, program::AccessLogRecord{builder.string(log->format), store_texts(builder, log->exclude_paths)});
  }
  if (const auto& limits = gateway.limits) {
    record.limits = store_one(
        builder, program::ClientLimitsRecord{limits->min_body_rate, nanoseconds(limits->body_grace),
                                             limits->max_connections_per_source, limits->max_streams_per_source});
  }
}

void store_settings(SectionBuilder& builder, const LinkedListener& listener, program::ListenerRecord& record) {
  if (const auto& redirect = listener.redirect_scheme) {
    record.scheme_redirect =
        store_one(builder, program::SchemeRedirectRecord{builder.string(redirect->scheme), redirect->status,
                                                         redirect->port, store_texts(builder, redirect->exclusions)});
  }
  if (listener.tls) record.tls = store_one(builder, tls_record(builder, *listener.tls));
}

void store_settings(SectionBuilder& builder, const LinkedBackend& backend, program::BackendRecord& record) {
  if (backend.health_check) record.health_check = store_one(builder, health_record(builder, *backend.health_check));
  if (backend.passive_check) record.passive_check = store_one(builder, passive_record(*backend.passive_check));
  if (backend.circuit_breaker) record.circuit_breaker = store_one(builder, breaker_record(*backend.circuit_breaker));
  if (backend.tls) record.tls = store_one(builder, backend_tls_record(builder, *backend.tls));
}

}  // namespace edge::compiler::emit
