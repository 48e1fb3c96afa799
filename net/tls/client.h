// TLS to backends. Server certificates are verified, unless a tool's user disables that.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/tls/certificate.h"

namespace edge::net::tls {

/// A name that the peer's certificate may be for.
struct PeerName {
  enum class Kind : std::uint8_t { kHost, kUri };
  Kind kind = Kind::kHost;
  std::string text;
};

struct ClientSettings {
  /// Sent as SNI, unless it is an address.
  std::string server_name;
  /// The certificate must have one of these. Empty: the server's name.
  std::vector<PeerName> names;
  std::shared_ptr<const Authorities> authorities;
  /// Sent to servers that request one; null: none.
  std::shared_ptr<const Certificate> certificate;
  /// In order of preference, `h2` or `http/1.1`; empty: no ALPN.
  std::vector<std::string> protocols;
  /// Disables verification: for tools, on explicit request of the user.
  bool unverified = false;
};

/// Immutable; shared by all threads.
class ClientContext {
 public:
  static Result<std::shared_ptr<const ClientContext>> make(ClientSettings settings);
  const ClientSettings& settings() const { return settings_; }
  ssl_ctx_st* handle() const { return handle_.get(); }
  /// Returns whether a certificate has one of the accepted names.
  bool accepts(x509_st* certificate) const;

 private:
  ClientContext() = default;
  ClientSettings settings_;
  Handle<ssl_ctx_st> handle_;
};

/// The last session with one server, for resumption by the next connection. For one thread.
class Resumption {
 public:
  /// Returns the session; null when there is none from the same `context`.
  ssl_session_st* session_for(const std::shared_ptr<const ClientContext>& context) const {
    return context == context_ ? session_.get() : nullptr;
  }
  void keep(std::shared_ptr<const ClientContext> context, Handle<ssl_session_st> session) {
    context_ = std::move(context);
    session_ = std::move(session);
  }

 private:
  std::shared_ptr<const ClientContext> context_;
  Handle<ssl_session_st> session_;
};

}  // namespace edge::net::tls
