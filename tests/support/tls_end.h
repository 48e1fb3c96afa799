// TLS of a test's own, by OpenSSL alone: nothing here shares code with what it tests.
#pragma once

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <string>

#include "tests/support/certificates.h"

struct ssl_st;
struct ssl_ctx_st;
struct ssl_session_st;

namespace edge::test {

/// One end of a connection. Never blocks: -1 with errno EAGAIN when the socket has to be waited for.
class TlsEnd {
 public:
  ~TlsEnd();
  /// 1: done; 0: refused; -1.
  int handshake();
  /// Bytes; 0: the peer has ended, or broken off; -1.
  ssize_t receive(char* into, std::size_t size);
  /// As ::send.
  ssize_t send(const char* bytes, std::size_t size);
  /// What was received of the socket and not given out.
  bool holds_bytes() const;
  /// Says that no more is sent.
  void finish();
  bool resumed() const;
  /// What the peer showed, PEM; and the OCSP response that came with it, DER.
  std::string peer_certificate() const;
  std::string staple() const;

 private:
  friend class TlsSide;
  TlsEnd() = default;
  ssl_st* ssl_ = nullptr;
};

/// What connections of one kind have in common.
class TlsSide {
 public:
  /// Trusts `authority`; asks for `name`, and for `protocol` by ALPN where it is given.
  static std::shared_ptr<TlsSide> client(const std::string& authority, std::string name,
                                         const std::string& protocol = {});
  /// Shows this certificate to who wants one. Before the first connection.
  void show(const IssuedCertificate& certificate);
  /// The same, with the certificate of its issuer.
  void show_with_issuer(const IssuedCertificate& certificate);
  /// From now on each connection offers to resume the last session that the peer gave.
  void resume();
  static std::shared_ptr<TlsSide> server(const IssuedCertificate& certificate);
  ~TlsSide();
  TlsSide(const TlsSide&) = delete;
  TlsSide& operator=(const TlsSide&) = delete;

  std::unique_ptr<TlsEnd> over(int fd) const;

 private:
  TlsSide() = default;
  static int keep_session(ssl_st* ssl, ssl_session_st* session);

  ssl_ctx_st* context_ = nullptr;
  std::string name_;
  /// The last session; connections of one side may be on several threads.
  mutable std::mutex mutex_;
  ssl_session_st* session_ = nullptr;
};

}  // namespace edge::test
