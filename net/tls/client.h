// The client's side: how a backend is called. Its certificate is checked, unless a tool's user wants it otherwise.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/tls/certificate.h"

namespace edge::net::tls {

/// A name that the peer's certificate must be for.
struct PeerName {
  enum class Kind : std::uint8_t { kHost, kUri };
  Kind kind = Kind::kHost;
  std::string text;
};

struct ClientSettings {
  /// Sent as SNI; an address is not.
  std::string server_name;
  /// One of them must hold. Empty: the server's name must.
  std::vector<PeerName> names;
  std::shared_ptr<const Authorities> authorities;
  /// Shown to servers that ask; null: none.
  std::shared_ptr<const Certificate> certificate;
  /// In order of preference, `h2` or `http/1.1`; empty: no ALPN.
  std::vector<std::string> protocols;
  /// Nobody checks who answers: for tools whose user has asked for it by name.
  bool unverified = false;
};

/// Immutable; shared by the threads.
class ClientContext {
 public:
  static Result<std::shared_ptr<const ClientContext>> make(ClientSettings settings);
  const ClientSettings& settings() const { return settings_; }
  ssl_ctx_st* handle() const { return handle_.get(); }
  /// Whether a certificate is for one of the names that are wanted.
  bool accepts(x509_st* certificate) const;

 private:
  ClientContext() = default;
  ClientSettings settings_;
  Handle<ssl_ctx_st> handle_;
};

/// The last session with one server, for the next connection to it. Of one thread.
class Resumption {
 public:
  /// Null when there is none that was made under `context`.
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
