// OTLP over HTTP: each message is the body of a POST (OTLP specification, "OTLP/HTTP").
#pragma once

#include <memory>

#include "net/client/url.h"
#include "net/tls/certificate.h"
#include "runtime/observe/trace/span_sender.h"

namespace edge::runtime::trace {

/// The path for an endpoint URL without one.
inline constexpr std::string_view kTracesPath = "/v1/traces";

/// Makes a sender that keeps its connection open. `authorities`: trusted CAs; null: no certificate is trusted.
std::unique_ptr<SpanSender> make_http_sender(net::client::Url url, const SenderFields& fields,
                                             std::shared_ptr<const net::tls::Authorities> authorities);

}  // namespace edge::runtime::trace
