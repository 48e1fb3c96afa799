// Shared OpenSSL helpers, for the files of this folder only.
#pragma once

#include <string>

#include <openssl/ssl.h>

namespace edge::net::tls {

class RecordLayer;

/// Returns the oldest error of this thread as text for users, and clears the queue.
std::string take_error();

/// Returns the layer that a callback is called for.
RecordLayer& layer_of(SSL* ssl);

/// Sets what both sides have in common: versions, strong ciphers, curves, memory, no renegotiation.
/// \param newest_only  TLS 1.3 only.
void set_up(SSL_CTX* context, bool newest_only);

/// Transfers bytes by Channel and RecordLayer instead of OpenSSL's own I/O.
BIO_METHOD* channel_method();

}  // namespace edge::net::tls
