// Owning pointers of OpenSSL's objects, so that its headers are included in this folder only.
#pragma once

#include <memory>

struct ssl_st;
struct ssl_ctx_st;
struct ssl_session_st;
struct x509_st;
struct x509_store_st;
struct evp_pkey_st;

namespace edge::net::tls {

/// Releases the reference.
struct Release {
  void operator()(ssl_st* object) const;
  void operator()(ssl_ctx_st* object) const;
  void operator()(ssl_session_st* object) const;
  void operator()(x509_st* object) const;
  void operator()(x509_store_st* object) const;
  void operator()(evp_pkey_st* object) const;
};

template <typename Object>
using Handle = std::unique_ptr<Object, Release>;

}  // namespace edge::net::tls
