// OTLP over HTTP: each message is the body of a POST (OTLP specification, "OTLP/HTTP").
#pragma once

#include <memory>

#include "net/client/url.h"
#include "net/tls/certificate.h"
#include "runtime/observe/trace/span_sender.h"

namespace edge::runtime::trace {

/// The target of an endpoint that names none.
inline constexpr std::string_view kTracesPath = "/v1/traces";

/// Keeps a connection. `authorities`: null believes nobody.
std::unique_ptr<SpanSender> make_http_sender(net::client::Url url, const SenderFields& fields,
                                             std::shared_ptr<const net::tls::Authorities> authorities);

}  // namespace edge::runtime::trace
