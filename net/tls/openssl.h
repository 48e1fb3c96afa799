// What the files of this folder share of OpenSSL. Included by nobody else.
#pragma once

#include <string>

#include <openssl/ssl.h>

namespace edge::net::tls {

class RecordLayer;

/// The oldest error of this thread as text, without what only a programmer would want; the queue is empty after it.
std::string take_error();

/// The layer that a callback is called for.
RecordLayer& layer_of(SSL* ssl);

/// What both sides have in common: versions, the ciphers of the best grade, curves, memory, no renegotiation.
/// \param newest_only  TLS 1.3 alone.
void set_up(SSL_CTX* context, bool newest_only);

/// Bytes move through Channel and RecordLayer, not by OpenSSL's own calls.
BIO_METHOD* channel_method();

}  // namespace edge::net::tls
