#include "net/tls/server.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/tls1.h>

#include "base/hostname.h"
#include "base/ip.h"
#include "net/tls/openssl.h"
#include "net/tls/record_layer.h"

namespace edge::net::tls {
namespace {

constexpr std::string_view kHttp2 = "h2";
constexpr std::string_view kHttp1 = "http/1.1";

std::string_view view_of(const unsigned char* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

/// Whether a list of ALPN names, a length before each, has `wanted`; its place in the list, else null.
const unsigned char* find_protocol(std::string_view wanted, const unsigned char* list, unsigned size) {
  for (unsigned at = 0; at < size && list[at] < size - at; at += list[at] + 1U) {
    if (view_of(list + at + 1, list[at]) == wanted) return list + at + 1;
  }
  return nullptr;
}

}  // namespace

std::optional<std::string_view> server_name_in(std::string_view extension) {
  const auto number = [&](std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(extension[at]) << 8 |
                                    static_cast<unsigned char>(extension[at + 1]));
  };
  // A list with one name of the one type there is.
  constexpr std::size_t kHead = 5;
  if (extension.empty()) return std::string_view();
  if (extension.size() <= kHead || number(0) != extension.size() - 2 || extension[2] != 0 ||
      number(3) != extension.size() - kHead) {
    return std::nullopt;
  }
  return extension.substr(kHead);
}

// ---- What OpenSSL calls -------------------------------------------------------------------------------------------

struct ServerCallbacks {
  /// Before anything of the handshake is decided: which site is asked for, and what it wants of clients.
  static int hello(SSL* ssl, int* alert, void*) {
    RecordLayer& layer = layer_of(ssl);
    const unsigned char* bytes = nullptr;
    std::size_t size = 0;
    if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &bytes, &size) == 1) {
      char buffer[256];
      const auto name = server_name_in(view_of(bytes, size));
      const auto canonical = name ? canonical_host(*name, buffer) : std::nullopt;
      if (!canonical || name->find(':') != std::string_view::npos) {
        *alert = SSL_AD_DECODE_ERROR;
        return SSL_CLIENT_HELLO_ERROR;
      }
      layer.server_name_ = *canonical;
    }
    const ChallengeSites* const challenges = layer.sites_->challenges();
    const Site* const site = challenges != nullptr && offers_challenge(ssl) ? find_challenge(*challenges, layer)
                                                                            : layer.sites_->find(layer.server_name_);
    if (site == nullptr) {
      *alert = SSL_AD_UNRECOGNIZED_NAME;
      return SSL_CLIENT_HELLO_ERROR;
    }
    if (site->find(layer.server_name_).empty()) {
      const OnDemand* const on_demand = layer.server_name_.empty() ? nullptr : site->on_demand();
      if (layer.awaits_ && on_demand != nullptr && on_demand->allows(layer.server_name_)) {
        layer.wanted_by_ = on_demand;
        return SSL_CLIENT_HELLO_RETRY;
      }
      *alert = on_demand != nullptr ? SSL_AD_UNRECOGNIZED_NAME : SSL_AD_HANDSHAKE_FAILURE;
      return SSL_CLIENT_HELLO_ERROR;
    }
    layer.site_ = site;
    take_settings(ssl, *site);
    return SSL_CLIENT_HELLO_SUCCESS;
  }

  /// Exactly that one protocol (RFC 8737 §3): a list of one name, each with its length.
  static bool offers_challenge(SSL* ssl) {
    const unsigned char* bytes = nullptr;
    std::size_t size = 0;
    constexpr std::size_t kHead = 3;
    if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_application_layer_protocol_negotiation, &bytes, &size) != 1) {
      return false;
    }
    return size == kHead + kChallengeProtocol.size() && bytes[kHead - 1] == kChallengeProtocol.size() &&
           view_of(bytes + kHead, size - kHead) == kChallengeProtocol;
  }

  static const Site* find_challenge(const ChallengeSites& challenges, const RecordLayer& layer) {
    const auto found = challenges.by_name.find(layer.server_name_);
    return found == challenges.by_name.end() ? nullptr : found->second.get();
  }

  /// SSL_set_SSL_CTX alone changes authorities and callbacks, not what an SSL took over when it was made.
  static void take_settings(SSL* ssl, const Site& site) {
    SSL_CTX* const context = site.context().handle();
    if (SSL_get_SSL_CTX(ssl) != context) {
      SSL_set_SSL_CTX(ssl, context);
      SSL_set_min_proto_version(ssl, static_cast<int>(SSL_CTX_get_min_proto_version(context)));
      SSL_set_verify(ssl, SSL_CTX_get_verify_mode(context), SSL_CTX_get_verify_callback(context));
    }
    SSL_set_session_id_context(ssl, site.identity().data(), static_cast<unsigned>(site.identity().size()));
  }

  /// Continues with a certificate that does not verify. The first fault becomes SSL_get_verify_result, which sessions
  /// keep. It is put back at each call: the authorities' own callback clears the error where it excuses a fault, which
  /// would clear an earlier one that it does not excuse (*safe*).
  static int continue_unverified(int verified, X509_STORE_CTX* context) {
    const X509_STORE_CTX_verify_cb own = X509_STORE_get_verify_cb(X509_STORE_CTX_get0_store(context));
    if (own != nullptr) verified = own(verified, context);
    auto* const ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx()));
    int& fault = layer_of(ssl).peer_fault_;
    if (verified == 0 && fault == X509_V_OK) fault = X509_STORE_CTX_get_error(context);
    if (verified == 0 && fault == X509_V_OK) fault = X509_V_ERR_UNSPECIFIED;
    if (fault != X509_V_OK) X509_STORE_CTX_set_error(context, fault);
    return 1;
  }

  /// Of a client whose certificate verifies: whether its name is one of those that are allowed.
  static int only_allowed(int verified, X509_STORE_CTX* context) {
    const X509_STORE_CTX_verify_cb own = X509_STORE_get_verify_cb(X509_STORE_CTX_get0_store(context));
    if (own != nullptr) verified = own(verified, context);
    if (verified == 0 || X509_STORE_CTX_get_error_depth(context) != 0) return verified;
    auto* const ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx()));
    const Site* const site = layer_of(ssl).site_;
    const Authorities* const authorities = site->context().settings().client_authorities.get();
    if (authorities->allows(X509_STORE_CTX_get_current_cert(context))) return 1;
    X509_STORE_CTX_set_error(context, X509_V_ERR_APPLICATION_VERIFICATION);
    return 0;
  }

  static int certificate(SSL* ssl, void*) {
    RecordLayer& layer = layer_of(ssl);
    for (const ServerCertificate* one : layer.site_->find(layer.server_name_)) {
      const Certificate& shown = *one->certificate;
      if (SSL_use_certificate(ssl, shown.leaf()) != 1 || SSL_use_PrivateKey(ssl, shown.key()) != 1) return 0;
      SSL_clear_chain_certs(ssl);
      for (const Handle<x509_st>& link : shown.chain()) {
        if (SSL_add1_chain_cert(ssl, link.get()) != 1) return 0;
      }
    }
    return 1;
  }

  static int protocol(SSL* ssl, const unsigned char** chosen, unsigned char* chosen_size, const unsigned char* offered,
                      unsigned offered_size, void*) {
    const ServerSettings& settings = layer_of(ssl).site_->context().settings();
    const std::pair<bool, std::string_view> ours[] = {{settings.offers_http2, kHttp2},
                                                      {settings.offers_http1, kHttp1},
                                                      {settings.answers_challenges, kChallengeProtocol}};
    for (const auto& [offers, name] : ours) {
      if (!offers) continue;
      if (const unsigned char* position = find_protocol(name, offered, offered_size)) {
        *chosen = position;
        *chosen_size = static_cast<unsigned char>(name.size());
        return SSL_TLSEXT_ERR_OK;
      }
    }
    // RFC 7301 §3.2; a listener of raw bytes has no protocols to compare with.
    return settings.offers_http2 || settings.offers_http1 ? SSL_TLSEXT_ERR_ALERT_FATAL : SSL_TLSEXT_ERR_NOACK;
  }

  static int staple(SSL* ssl, void*) {
    const RecordLayer& layer = layer_of(ssl);
    const X509* const shown = SSL_get_certificate(ssl);
    for (const ServerCertificate* one : layer.site_->find(layer.server_name_)) {
      if (one->certificate->leaf() != shown || one->staple == nullptr) continue;
      if (!one->staple->valid_at(std::time(nullptr))) break;
      const std::string_view der = one->staple->der();
      void* const copy = OPENSSL_memdup(der.data(), der.size());
      if (copy == nullptr) break;
      SSL_set_tlsext_status_ocsp_resp(ssl, copy, static_cast<long>(der.size()));
      return SSL_TLSEXT_ERR_OK;
    }
    return SSL_TLSEXT_ERR_NOACK;
  }

  /// RFC 5077 §4: name, initialisation vector, sealed session, MAC. \returns 1 used, 2 used but to be given anew, 0 not
  /// ours, -1 failed.
  static int ticket(SSL* ssl, unsigned char* name, unsigned char* vector, EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac,
                    int sealing) {
    TicketKeys& keys = layer_of(ssl).sites_->tickets();
    TicketKey key;
    int outcome = 1;
    if (sealing == 1) {
      const std::optional<TicketKey> current = keys.current();
      if (!current || RAND_bytes(vector, EVP_MAX_IV_LENGTH) != 1) return -1;
      key = *current;
      std::memcpy(name, key.name.data(), key.name.size());
    } else {
      const auto found = keys.find({name, key.name.size()});
      if (!found) return 0;
      key = found->key;
      // With TLS 1.3 a ticket is good once: who comes with one gets the next (RFC 8446 §C.4).
      outcome = found->current && SSL_version(ssl) != TLS1_3_VERSION ? 1 : 2;
    }
    static EVP_CIPHER* const sealer = EVP_CIPHER_fetch(nullptr, "AES-256-CBC", nullptr);
    char digest[] = "SHA256";
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key.mac.data(), key.mac.size()),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0), OSSL_PARAM_construct_end()};
    const bool ready = EVP_CipherInit_ex(cipher, sealer, nullptr, key.aes.data(), vector, sealing) == 1 &&
                       EVP_MAC_CTX_set_params(mac, parameters) == 1;
    OPENSSL_cleanse(&key, sizeof(key));
    return ready ? outcome : -1;
  }
};

// ---- ServerContext ------------------------------------------------------------------------------------------------

Result<std::shared_ptr<const ServerContext>> ServerContext::make(ServerSettings settings) {
  std::shared_ptr<ServerContext> made(new ServerContext);
  made->settings_ = std::move(settings);
  made->handle_.reset(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* const context = made->handle_.get();
  if (context == nullptr) return Error{ErrorCode::kResourceExhausted, "TLS: " + take_error()};
  set_up(context, made->settings_.min_version == Version::k13);
  SSL_CTX_set_client_hello_cb(context, ServerCallbacks::hello, nullptr);
  SSL_CTX_set_cert_cb(context, ServerCallbacks::certificate, nullptr);
  SSL_CTX_set_alpn_select_cb(context, ServerCallbacks::protocol, nullptr);
  SSL_CTX_set_tlsext_status_cb(context, ServerCallbacks::staple);
  SSL_CTX_set_tlsext_ticket_key_evp_cb(context, ServerCallbacks::ticket);
  // What a session is resumed by travels in tickets: nothing is kept of clients that have gone.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_timeout(context, std::chrono::duration_cast<std::chrono::seconds>(TicketKeys::kLifetime).count());
  if (made->settings_.client_certificate != ClientCertificate::kNone) {
    const bool required = made->settings_.client_certificate == ClientCertificate::kRequired;
    const bool unverified = made->settings_.client_certificate == ClientCertificate::kUnverified;
    // Without an authority nobody's certificate is believed.
    if (made->settings_.client_authorities == nullptr) {
      made->settings_.client_authorities = std::make_shared<const Authorities>();
    }
    const auto verifies =
        made->settings_.client_authorities->is_limited() ? ServerCallbacks::only_allowed : SSL_verify_cb(nullptr);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | (required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
                       unverified ? ServerCallbacks::continue_unverified : verifies);
    SSL_CTX_set1_cert_store(context, made->settings_.client_authorities->store());
    for (const Handle<x509_st>& one : made->settings_.client_authorities->certificates()) {
      SSL_CTX_add_client_CA(context, one.get());
    }
  }
  ERR_clear_error();
  return std::shared_ptr<const ServerContext>(std::move(made));
}

bool OnDemand::allows(std::string_view name) const {
  // What is certified is a name of at least two labels; an address is no host name (RFC 6066 §3).
  if (name.find('.') == std::string_view::npos || parse_ip(name)) return false;
  return std::ranges::any_of(patterns, [name](std::string_view pattern) {
    if (pattern == "*" || pattern == name) return true;
    return pattern.starts_with("*.") && name.size() > pattern.size() - 1 && name.ends_with(pattern.substr(1));
  });
}

// ---- Site ---------------------------------------------------------------------------------------------------------

Site::Site(std::shared_ptr<const ServerContext> context, std::vector<ServerCertificate> certificates,
           const std::array<std::uint8_t, 16>& identity, CertificateSet set, std::shared_ptr<const OnDemand> on_demand)
    : context_(std::move(context)),
      certificates_(std::move(certificates)),
      identity_(identity),
      set_(set),
      on_demand_(std::move(on_demand)) {
  for (std::uint32_t i = 0; i < certificates_.size(); ++i) {
    for (const std::string& name : certificates_[i].certificate->names()) {
      Indices& indices = by_name_[name];
      const auto same_kind = [&](std::uint32_t other) {
        return certificates_[other].certificate->key_type() == certificates_[i].certificate->key_type();
      };
      if (std::none_of(indices.begin(), indices.end(), same_kind)) indices.push_back(i);
    }
  }
}

std::vector<const ServerCertificate*> Site::of(const Indices& indices) const {
  std::vector<const ServerCertificate*> found;
  for (const std::uint32_t index : indices) found.push_back(&certificates_[index]);
  return found;
}

std::vector<const ServerCertificate*> Site::find(std::string_view name) const {
  if (certificates_.empty()) return {};
  if (const auto exact = by_name_.find(std::string(name)); exact != by_name_.end()) return of(exact->second);
  if (const std::size_t dot = name.find('.'); dot != std::string_view::npos) {
    // A wildcard of a certificate stands for one label (RFC 6125 §6.4.3).
    const auto wildcard = by_name_.find("*" + std::string(name.substr(dot)));
    if (wildcard != by_name_.end()) return of(wildcard->second);
  }
  if (set_ == CertificateSet::kIncomplete && !name.empty()) return {};
  return {&certificates_.front()};
}

// ---- Sites --------------------------------------------------------------------------------------------------------

void Sites::add(const std::string& pattern, std::shared_ptr<const Site> site) {
  if (any_ == nullptr) any_ = site;
  if (pattern.empty()) {
    fallback_ = std::move(site);
  } else if (pattern.starts_with("*.")) {
    wildcard_.emplace(pattern.substr(2), std::move(site));
  } else {
    exact_.emplace(pattern, std::move(site));
  }
}

const Site* Sites::find(std::string_view name) const {
  if (const auto exact = exact_.find(std::string(name)); exact != exact_.end()) return exact->second.get();
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
    const auto wildcard = wildcard_.find(std::string(name.substr(dot + 1)));
    if (wildcard != wildcard_.end()) return wildcard->second.get();
  }
  return fallback_.get();
}

// ---- RecordLayer --------------------------------------------------------------------------------------------------

std::unique_ptr<RecordLayer> RecordLayer::accept(std::shared_ptr<const Sites> sites, RecordRoom& room) {
  std::unique_ptr<RecordLayer> layer(new RecordLayer(room));
  if (layer->open(sites->any()->context().handle())) SSL_set_accept_state(layer->ssl_.get());
  layer->sites_ = std::move(sites);
  return layer;
}

}  // namespace edge::net::tls
