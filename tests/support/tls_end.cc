#include "tests/support/tls_end.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/text/pem.h"

namespace edge::test {

namespace {

/// The outcome of a call as those of sockets have it.
ssize_t outcome(SSL* ssl, int result) {
  const int error = SSL_get_error(ssl, result);
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
    errno = EAGAIN;
    return -1;
  }
  return 0;
}

}  // namespace

TlsEnd::~TlsEnd() { SSL_free(ssl_); }

int TlsEnd::handshake() {
  ERR_clear_error();
  const int done = SSL_do_handshake(ssl_);
  return done == 1 ? 1 : static_cast<int>(outcome(ssl_, done));
}

ssize_t TlsEnd::receive(char* into, std::size_t size) {
  ERR_clear_error();
  const int got = SSL_read(ssl_, into, static_cast<int>(size));
  return got > 0 ? got : outcome(ssl_, got);
}

ssize_t TlsEnd::send(const char* bytes, std::size_t size) {
  ERR_clear_error();
  const int sent = SSL_write(ssl_, bytes, static_cast<int>(size));
  if (sent > 0) return sent;
  if (outcome(ssl_, sent) < 0) return -1;
  errno = EPIPE;
  return -1;
}

bool TlsEnd::holds_bytes() const { return SSL_has_pending(ssl_) == 1; }
void TlsEnd::finish() { SSL_shutdown(ssl_); }
bool TlsEnd::resumed() const { return SSL_session_reused(ssl_) == 1; }

std::string TlsEnd::peer_certificate() const {
  return to_pem([&](BIO* out) { return PEM_write_bio_X509(out, SSL_get0_peer_certificate(ssl_)); });
}

std::string TlsEnd::staple() const {
  const unsigned char* bytes = nullptr;
  // The library's macro takes the address of the pointer as a void*.
  const long size = SSL_get_tlsext_status_ocsp_resp(ssl_, static_cast<void*>(&bytes));
  return size <= 0 ? std::string() : std::string(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

std::shared_ptr<TlsSide> TlsSide::client(const std::string& authority, std::string name, const std::string& protocol) {
  std::shared_ptr<TlsSide> side(new TlsSide);
  side->context_ = SSL_CTX_new(TLS_client_method());
  side->name_ = std::move(name);
  X509* const trusted = first_in_pem<PEM_read_bio_X509>(authority);
  X509_STORE_add_cert(SSL_CTX_get_cert_store(side->context_), trusted);
  X509_free(trusted);
  SSL_CTX_set_verify(side->context_, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_tlsext_status_type(side->context_, TLSEXT_STATUSTYPE_ocsp);
  if (!protocol.empty()) {
    const std::string list = static_cast<char>(protocol.size()) + protocol;
    SSL_CTX_set_alpn_protos(side->context_, reinterpret_cast<const unsigned char*>(list.data()),
                            static_cast<unsigned>(list.size()));
  }
  return side;
}

std::shared_ptr<TlsSide> TlsSide::server(const IssuedCertificate& certificate) {
  std::shared_ptr<TlsSide> side(new TlsSide);
  side->context_ = SSL_CTX_new(TLS_server_method());
  side->show(certificate);
  return side;
}

void TlsSide::show(const IssuedCertificate& certificate) {
  X509* const leaf = first_in_pem<PEM_read_bio_X509>(certificate.chain);
  SSL_CTX_use_certificate(context_, leaf);
  X509_free(leaf);
  EVP_PKEY* const key = first_in_pem<PEM_read_bio_PrivateKey>(certificate.key);
  SSL_CTX_use_PrivateKey(context_, key);
  EVP_PKEY_free(key);
}

void TlsSide::show_with_issuer(const IssuedCertificate& certificate) {
  show(certificate);
  const std::size_t issuer = certificate.chain.find("-----BEGIN", 1);
  // The context takes it over.
  SSL_CTX_add_extra_chain_cert(context_, first_in_pem<PEM_read_bio_X509>(certificate.chain.substr(issuer)));
}

void TlsSide::resume() {
  SSL_CTX_set_app_data(context_, this);
  SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context_, keep_session);
}

int TlsSide::keep_session(ssl_st* ssl, ssl_session_st* session) {
  auto& side = *static_cast<TlsSide*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  const std::lock_guard lock(side.mutex_);
  // The connection's own becomes unusable when the connection breaks.
  SSL_SESSION_free(std::exchange(side.session_, SSL_SESSION_dup(session)));
  return 0;
}

TlsSide::~TlsSide() {
  SSL_SESSION_free(session_);
  SSL_CTX_free(context_);
}

std::unique_ptr<TlsEnd> TlsSide::over(int fd) const {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  std::unique_ptr<TlsEnd> end(new TlsEnd);
  end->ssl_ = SSL_new(context_);
  SSL_set_fd(end->ssl_, fd);
  SSL_set_mode(end->ssl_, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // Peers close without a word when they reset; what that means is the script's to say.
  SSL_set_options(end->ssl_, SSL_OP_IGNORE_UNEXPECTED_EOF);
  if (name_.empty()) {
    SSL_set_accept_state(end->ssl_);
  } else {
    SSL_set_connect_state(end->ssl_);
    SSL_set_tlsext_host_name(end->ssl_, name_.c_str());
    SSL_set1_host(end->ssl_, name_.c_str());
    const std::lock_guard lock(mutex_);
    if (session_ != nullptr) SSL_set_session(end->ssl_, session_);
  }
  return end;
}

}  // namespace edge::test
