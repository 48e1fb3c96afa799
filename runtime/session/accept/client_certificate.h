// Certificates of clients: what a listener requires, held against what the handshake of a connection established; and
// what the backend is told of it.
#pragma once

#include <string>
#include <string_view>

#include "net/tls/record_layer.h"
#include "runtime/match/load.h"
#include "runtime/phase/client_connection.h"

namespace edge::runtime {

/// What backends and authorization services are told of a client's certificate. Clients cannot send it.
inline constexpr std::string_view kVerificationField = "X-SSL-Client-Verify";

/// Returns what a listener requires; none where it does not decrypt.
program::ClientCertificateNeed client_certificate_need(const LoadedProgram& program, const LoadedListener& listener);

/// Returns TlsFacts::client_verification, in nginx's words: `SUCCESS`, `NONE`, `FAILED:reason`.
std::string client_verification(const net::tls::PeerVerification& peer);

/// Returns whether a connection's handshake fulfils a listener's requirement. It does not where the listener required
/// less when the connection began.
bool fulfils(program::ClientCertificateNeed need, const ClientConnection& connection);

/// Returns the value of that field; empty: the field is not sent.
std::string_view verification_field(program::ClientCertificateNeed need, const ClientConnection& connection);

/// Returns whether the field differs between clients of a listener, and responses with it.
bool verification_varies(program::ClientCertificateNeed need);

}  // namespace edge::runtime
