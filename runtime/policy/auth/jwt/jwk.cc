#include "runtime/policy/auth/jwt/jwk.h"

#include <algorithm>
#include <array>
#include <utility>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include "base/owned.h"
#include "base/text/base64.h"

namespace edge::runtime::auth {
namespace {

struct Name {
  Algorithm algorithm;
  std::string_view text;
  unsigned hash_bits;
};
constexpr Name kNames[] = {
    {Algorithm::kRs256, "RS256", 256}, {Algorithm::kRs384, "RS384", 384}, {Algorithm::kRs512, "RS512", 512},
    {Algorithm::kPs256, "PS256", 256}, {Algorithm::kPs384, "PS384", 384}, {Algorithm::kPs512, "PS512", 512},
    {Algorithm::kEs256, "ES256", 256}, {Algorithm::kEs384, "ES384", 384}, {Algorithm::kEs512, "ES512", 512},
    {Algorithm::kEdDsa, "EdDSA", 512}, {Algorithm::kHs256, "HS256", 256}, {Algorithm::kHs384, "HS384", 384},
    {Algorithm::kHs512, "HS512", 512},
};

/// A shorter one can be factored (NIST SP 800-131A); a longer one costs more to check than it is worth.
constexpr int kLeastRsaBits = 2048;
constexpr int kMostRsaBits = 8192;

using Number = Owned<BIGNUM, BN_free>;
using ParamBuilder = Owned<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free>;
using Params = Owned<OSSL_PARAM, OSSL_PARAM_free>;
using KeyContext = Owned<EVP_PKEY_CTX, EVP_PKEY_CTX_free>;

Number number_of(std::string_view bytes) {
  return Number(
      BN_bin2bn(reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()), nullptr));
}

/// Null when the values are no such key: a point that is not on its curve, for one.
std::shared_ptr<evp_pkey_st> make_public(const char* type, OSSL_PARAM_BLD* builder) {
  const Params params(OSSL_PARAM_BLD_to_param(builder));
  const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* made = nullptr;
  if (!params || !context || EVP_PKEY_fromdata_init(context.get()) <= 0 ||
      EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_PUBLIC_KEY, params.get()) <= 0) {
    return nullptr;
  }
  std::shared_ptr<evp_pkey_st> key(made, EVP_PKEY_free);
  const KeyContext check(EVP_PKEY_CTX_new_from_pkey(nullptr, made, nullptr));
  if (!check || EVP_PKEY_public_check(check.get()) <= 0) return nullptr;
  return key;
}

std::shared_ptr<evp_pkey_st> make_rsa(std::string_view modulus, std::string_view exponent) {
  const Number n = number_of(modulus);
  const Number e = number_of(exponent);
  if (!n || !e) return nullptr;
  const int bits = BN_num_bits(n.get());
  if (bits < kLeastRsaBits || bits > kMostRsaBits || BN_is_odd(n.get()) == 0) return nullptr;
  // 1 would make every text its own signature; a large one is for tiring out whoever checks.
  if (BN_is_odd(e.get()) == 0 || BN_is_one(e.get()) != 0 || BN_num_bits(e.get()) > 32) return nullptr;
  const ParamBuilder builder(OSSL_PARAM_BLD_new());
  if (!builder || OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1) {
    return nullptr;
  }
  return make_public("RSA", builder.get());
}

std::shared_ptr<evp_pkey_st> make_ec(const char* group, const std::string& x, const std::string& y) {
  const std::string point = '\x04' + x + y;
  const ParamBuilder builder(OSSL_PARAM_BLD_new());
  if (!builder || OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, group, 0) != 1 ||
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()) != 1) {
    return nullptr;
  }
  return make_public("EC", builder.get());
}

std::shared_ptr<evp_pkey_st> make_edwards(int type, std::string_view bytes) {
  return {
      EVP_PKEY_new_raw_public_key(type, nullptr, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()),
      EVP_PKEY_free};
}

bool is_rsa(Algorithm algorithm) { return algorithm <= Algorithm::kPs512; }
bool is_pss(Algorithm algorithm) { return algorithm >= Algorithm::kPs256 && algorithm <= Algorithm::kPs512; }

}  // namespace

std::optional<Algorithm> algorithm_named(std::string_view name) {
  const auto* const found = std::ranges::find(kNames, name, &Name::text);
  if (found == std::end(kNames)) return std::nullopt;
  return found->algorithm;
}

std::string_view algorithm_name(Algorithm algorithm) { return kNames[static_cast<std::size_t>(algorithm)].text; }

unsigned hash_bits(Algorithm algorithm) { return kNames[static_cast<std::size_t>(algorithm)].hash_bits; }

/// Parses one JWK, field by field.
class KeyReader {
 public:
  KeyReader(const Json& jwk, KeyOrigin origin) : jwk_(jwk), origin_(origin) {}

  Result<Key> read() {
    if (!jwk_.is_object()) return invalid("not an object");
    if (const char* fault = read_purpose()) return invalid(fault);
    const auto type = jwk_.text_of("kty");
    if (!type) return invalid("no `kty`");
    // Whoever publishes the private half has none any more.
    if (*type != "oct" && jwk_.find("d") != nullptr) return invalid("a private key");
    const char* fault = "a `kty` that checks no signatures";
    if (*type == "RSA") fault = read_rsa();
    if (*type == "EC") fault = read_ec();
    if (*type == "OKP") fault = read_edwards();
    if (*type == "oct") fault = read_octets();
    if (fault != nullptr) return invalid(fault);
    if (key_.bound_ && !key_.fits(*key_.bound_)) return invalid("an `alg` of another type of key");
    return std::move(key_);
  }

 private:
  static Error invalid(const char* what) { return {ErrorCode::kInvalidArgument, what}; }

  /// RFC 7517 §4.2 to §4.5. What is there and not a signature's is another's.
  const char* read_purpose() {
    if (const Json* use = jwk_.find("use"); use != nullptr && use->text() != "sig") return "a `use` other than `sig`";
    if (const Json* uses = jwk_.find("key_ops")) {
      const auto is_verify = [](const Json& use) { return use.text() == "verify"; };
      if (!std::ranges::any_of(uses->items(), is_verify)) return "`key_ops` without `verify`";
    }
    if (const Json* algorithm = jwk_.find("alg")) {
      const auto name = algorithm->text();
      key_.bound_ = name ? algorithm_named(*name) : std::nullopt;
      if (!key_.bound_) return "an `alg` that is not known";
    }
    if (const Json* id = jwk_.find("kid")) {
      const auto text = id->text();
      if (!text) return "a `kid` that is not a text";
      key_.id_ = *text;
    }
    return nullptr;
  }

  std::string bytes(std::string_view name) const {
    const auto text = jwk_.text_of(name);
    return text ? from_base64url(*text).value_or(std::string{}) : std::string{};
  }

  const char* read_rsa() {
    key_.type_ = Key::Type::kRsa;
    key_.handle_ = make_rsa(bytes("n"), bytes("e"));
    return key_.handle_ != nullptr ? nullptr : "an RSA key that is not sound, or not of 2048 to 8192 bits";
  }

  const char* read_ec() {
    struct Curve {
      std::string_view name;
      const char* group;
      std::size_t size;
      Key::Type type;
    };
    static constexpr Curve kCurves[] = {{"P-256", "prime256v1", 32, Key::Type::kP256},
                                        {"P-384", "secp384r1", 48, Key::Type::kP384},
                                        {"P-521", "secp521r1", 66, Key::Type::kP521}};
    const auto* const curve = std::ranges::find(kCurves, jwk_.text_of("crv").value_or(""), &Curve::name);
    if (curve == std::end(kCurves)) return "a curve that is not known";
    // RFC 7518 §6.2.1.2: the whole size, always.
    const std::string x = bytes("x");
    const std::string y = bytes("y");
    if (x.size() != curve->size || y.size() != curve->size) return "a point of another size";
    key_.type_ = curve->type;
    key_.handle_ = make_ec(curve->group, x, y);
    return key_.handle_ != nullptr ? nullptr : "a point that is not on its curve";
  }

  const char* read_edwards() {
    const std::string_view curve = jwk_.text_of("crv").value_or("");
    if (curve != "Ed25519" && curve != "Ed448") return "a curve that is not known";
    key_.type_ = curve == "Ed448" ? Key::Type::kEd448 : Key::Type::kEd25519;
    key_.handle_ = make_edwards(curve == "Ed448" ? EVP_PKEY_ED448 : EVP_PKEY_ED25519, bytes("x"));
    return key_.handle_ != nullptr ? nullptr : "a public key of another size";
  }

  const char* read_octets() {
    if (origin_ == KeyOrigin::kPublished) return "a shared secret that is published";
    key_.type_ = Key::Type::kOctets;
    key_.octets_ = bytes("k");
    // RFC 7518 §3.2.
    return key_.octets_.size() >= 32 ? nullptr : "a secret of less than 256 bits";
  }

  const Json& jwk_;
  KeyOrigin origin_;
  Key key_;
};

Result<Key> Key::read(const Json& jwk, KeyOrigin origin) { return KeyReader(jwk, origin).read(); }

Result<Key> Key::shared(std::string secret) {
  constexpr std::size_t kLeastBytes = 32;
  if (secret.size() < kLeastBytes) return Error{ErrorCode::kInvalidArgument, "a secret of less than 256 bits"};
  Key key;
  key.type_ = Type::kOctets;
  key.octets_ = std::move(secret);
  return key;
}

bool Key::prepare() {
  if (type_ != Type::kP256) return false;
  if (tables_ == nullptr) tables_ = P256Tables::make(handle_.get());
  return tables_ != nullptr;
}

bool Key::fits(Algorithm algorithm) const {
  // A key's own `alg` names its scheme, and the shortest hash: a longer one under the same padding is no weaker, and
  // issuers do sign so (decision 50).
  if (bound_ && is_rsa(*bound_)) {
    return type_ == Type::kRsa && is_rsa(algorithm) && is_pss(algorithm) == is_pss(*bound_) &&
           hash_bits(algorithm) >= hash_bits(*bound_);
  }
  if (bound_ && *bound_ != algorithm) return false;
  switch (algorithm) {
    case Algorithm::kRs256:
    case Algorithm::kRs384:
    case Algorithm::kRs512:
    case Algorithm::kPs256:
    case Algorithm::kPs384:
    case Algorithm::kPs512:
      return type_ == Type::kRsa;
    case Algorithm::kEs256:
      return type_ == Type::kP256;
    case Algorithm::kEs384:
      return type_ == Type::kP384;
    case Algorithm::kEs512:
      return type_ == Type::kP521;
    case Algorithm::kEdDsa:
      return type_ == Type::kEd25519 || type_ == Type::kEd448;
    case Algorithm::kHs256:
    case Algorithm::kHs384:
    case Algorithm::kHs512:
      return type_ == Type::kOctets && octets_.size() * 8 >= hash_bits(algorithm);
  }
  return false;
}

Result<KeySet> read_key_set(std::string_view text) {
  const JsonBounds bounds{.bytes = kMaxKeySetBytes, .depth = 8, .values = 16 * kMaxKeys, .members = 64};
  Result<Json> document = read_json(text, bounds);
  if (!document) return document.error();
  const Json* const keys = document->find("keys");
  if (keys == nullptr || !keys->is_array()) return Error{ErrorCode::kInvalidArgument, "no list `keys`"};
  if (keys->items().size() > kMaxKeys) return Error{ErrorCode::kInvalidArgument, "more than 128 keys"};
  KeySet set;
  std::size_t prepared = 0;
  for (const Json& jwk : keys->items()) {
    Result<Key> key = Key::read(jwk, KeyOrigin::kPublished);
    if (key) {
      if (prepared < kMaxPrepared && key->prepare()) ++prepared;
      set.keys.push_back(*std::move(key));
    } else {
      ++set.unusable;
    }
  }
  return set;
}

}  // namespace edge::runtime::auth
