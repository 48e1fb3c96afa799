#include "net/tls/client.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "base/ip.h"
#include "net/tls/openssl.h"
#include "net/tls/record_layer.h"

namespace edge::net::tls {
namespace {

bool is_for_host(X509* certificate, const std::string& name) {
  if (parse_ip(name)) return X509_check_ip_asc(certificate, name.c_str(), 0) == 1;
  return X509_check_host(certificate, name.data(), name.size(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS, nullptr) == 1;
}

bool is_for_uri(X509* certificate, const std::string& uri) {
  auto* const names =
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  bool found = false;
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names, i);
    if (name->type != GEN_URI) continue;
    const ASN1_STRING* text = name->d.uniformResourceIdentifier;
    found |= std::string_view(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                              static_cast<std::size_t>(ASN1_STRING_length(text))) == uri;
  }
  GENERAL_NAMES_free(names);
  return found;
}

}  // namespace

struct ClientCallbacks {
  static int session(SSL* ssl, SSL_SESSION* session) {
    const RecordLayer& layer = layer_of(ssl);
    if (layer.resumption_ == nullptr) return 0;
    layer.resumption_->keep(layer.client_, Handle<ssl_session_st>(session));
    return 1;
  }
};

Result<std::shared_ptr<const ClientContext>> ClientContext::make(ClientSettings settings) {
  std::shared_ptr<ClientContext> made(new ClientContext);
  made->settings_ = std::move(settings);
  made->handle_.reset(SSL_CTX_new(TLS_client_method()));
  SSL_CTX* const context = made->handle_.get();
  if (context == nullptr) return Error{ErrorCode::kResourceExhausted, "TLS: " + take_error()};
  set_up(context, false);
  SSL_CTX_set_verify(context, made->settings_.unverified ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  if (made->settings_.authorities != nullptr) SSL_CTX_set1_cert_store(context, made->settings_.authorities->store());
  if (const Certificate* own = made->settings_.certificate.get()) {
    bool taken = SSL_CTX_use_certificate(context, own->leaf()) == 1 && SSL_CTX_use_PrivateKey(context, own->key()) == 1;
    for (const Handle<x509_st>& link : own->chain()) taken = taken && SSL_CTX_add1_chain_cert(context, link.get()) == 1;
    if (!taken) return Error{ErrorCode::kInvalidArgument, "the client certificate cannot be used: " + take_error()};
  }
  std::string protocols;
  for (const std::string& name : made->settings_.protocols) {
    protocols += static_cast<char>(name.size());
    protocols += name;
  }
  if (!protocols.empty()) {
    SSL_CTX_set_alpn_protos(context, reinterpret_cast<const unsigned char*>(protocols.data()),
                            static_cast<unsigned>(protocols.size()));
  }
  // Sessions are kept beside the endpoint that they are of (Resumption), not by OpenSSL.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context, ClientCallbacks::session);
  ERR_clear_error();
  return std::shared_ptr<const ClientContext>(std::move(made));
}

bool ClientContext::accepts(x509_st* certificate) const {
  if (settings_.unverified) return true;
  if (certificate == nullptr) return false;
  if (settings_.names.empty()) return is_for_host(certificate, settings_.server_name);
  for (const PeerName& name : settings_.names) {
    if (name.kind == PeerName::Kind::kHost ? is_for_host(certificate, name.text) : is_for_uri(certificate, name.text)) {
      return true;
    }
  }
  return false;
}

std::unique_ptr<RecordLayer> RecordLayer::connect(std::shared_ptr<const ClientContext> context,
                                                  std::shared_ptr<Resumption> resumption, RecordRoom& room) {
  std::unique_ptr<RecordLayer> layer(new RecordLayer(room));
  layer->client_ = std::move(context);
  layer->resumption_ = std::move(resumption);
  if (!layer->open(layer->client_->handle())) return layer;
  SSL* const ssl = layer->ssl_.get();
  SSL_set_connect_state(ssl);
  const std::string& name = layer->client_->settings().server_name;
  if (!parse_ip(name)) SSL_set_tlsext_host_name(ssl, name.c_str());
  if (layer->resumption_ != nullptr) {
    if (SSL_SESSION* session = layer->resumption_->session_for(layer->client_)) SSL_set_session(ssl, session);
  }
  return layer;
}

bool RecordLayer::accepts_peer() {
  if (client_->accepts(SSL_get0_peer_certificate(ssl_.get()))) return true;
  failed_ = true;
  fault_ = "the server's certificate is for another name";
  return false;
}

}  // namespace edge::net::tls
