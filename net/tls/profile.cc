// Settings common to clients and servers, and messages for OpenSSL's errors.
#include <openssl/err.h>

#include "net/tls/openssl.h"
#include "net/tls/record_layer.h"

namespace edge::net::tls {
namespace {

// Forward secret and authenticated alone. AES first where both are as good: processors have it built in; a client that
// puts ChaCha20 first has none, and gets that.
constexpr const char* kCiphers12 =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
constexpr const char* kCiphers13 = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
constexpr const char* kGroups = "X25519:P-256:P-384:P-521";
/// A chain longer than this proves nothing that a shorter one does not.
constexpr int kMaxDepth = 10;

}  // namespace

void Release::operator()(ssl_st* object) const { SSL_free(object); }
void Release::operator()(ssl_ctx_st* object) const { SSL_CTX_free(object); }
void Release::operator()(ssl_session_st* object) const { SSL_SESSION_free(object); }

std::string take_error() {
  const unsigned long error = ERR_peek_error();
  const char* const reason = error != 0 ? ERR_reason_error_string(error) : nullptr;
  std::string text = reason != nullptr ? reason : "no reason given";
  ERR_clear_error();
  return text;
}

RecordLayer& layer_of(SSL* ssl) { return *static_cast<RecordLayer*>(SSL_get_app_data(ssl)); }

void set_up(SSL_CTX* context, bool newest_only) {
  SSL_CTX_set_min_proto_version(context, newest_only ? TLS1_3_VERSION : TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(context, kCiphers12);
  SSL_CTX_set_ciphersuites(context, kCiphers13);
  SSL_CTX_set1_groups_list(context, kGroups);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                   SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  // One read of the socket takes a whole record with its head, and more.
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_verify_depth(context, kMaxDepth);
}

}  // namespace edge::net::tls
