#include "runtime/policy/auth/jwt/p256.h"

#include <array>
#include <utility>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>

#include "base/owned.h"

namespace edge::runtime::auth {
namespace {

constexpr std::size_t kNumberSize = 32;
/// A byte that says "both coordinates", and they.
constexpr std::size_t kPointSize = 1 + 2 * kNumberSize;

using BnContext = Owned<BN_CTX, BN_CTX_free>;
using Curve = Owned<EC_GROUP, EC_GROUP_free>;
using Point = Owned<EC_POINT, EC_POINT_free>;

/// Big numbers that are freed with the frame.
class Numbers {
 public:
  explicit Numbers(BN_CTX* context) : context_(context) { BN_CTX_start(context_); }
  ~Numbers() { BN_CTX_end(context_); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  /// Null where memory is short, as is every one after it.
  BIGNUM* next() { return BN_CTX_get(context_); }

 private:
  BN_CTX* context_;
};

bool read_number(std::string_view bytes, BIGNUM* into) {
  return BN_bin2bn(reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()), into) !=
         nullptr;
}

bool within_order(const BIGNUM* number, const BIGNUM* order) {
  return BN_is_zero(number) == 0 && BN_cmp(number, order) < 0;
}

}  // namespace

struct P256Tables::Impl {
  Curve curve{EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)};
  /// The same curve, with the public key in the generator's place.
  Curve keyed{EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)};

  bool prepare(const EVP_PKEY* key) {
    std::array<unsigned char, kPointSize> bytes{};
    std::size_t size = 0;
    const BnContext context(BN_CTX_new());
    if (!curve || !keyed || !context || EVP_PKEY_get_base_id(key) != EVP_PKEY_EC ||
        EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, bytes.data(), bytes.size(), &size) != 1 ||
        size != kPointSize) {
      return false;
    }
    const Point point(EC_POINT_new(curve.get()));
    return point != nullptr && EC_POINT_oct2point(curve.get(), point.get(), bytes.data(), size, context.get()) == 1 &&
           EC_GROUP_set_generator(keyed.get(), point.get(), EC_GROUP_get0_order(curve.get()), BN_value_one()) == 1 &&
           EC_GROUP_precompute_mult(keyed.get(), context.get()) == 1;
  }

  /// The x of digest/s times the generator and r/s times the key, as a number below the order. False: a step failed, or
  /// the sum is the point at infinity.
  bool recover(const BIGNUM* digest, const BIGNUM* r, const BIGNUM* s, BIGNUM* x, BN_CTX* context) const {
    const BIGNUM* const order = EC_GROUP_get0_order(curve.get());
    Numbers numbers(context);
    BIGNUM* const inverse = numbers.next();
    BIGNUM* const of_generator = numbers.next();
    BIGNUM* const of_key = numbers.next();
    const Point sum(EC_POINT_new(curve.get()));
    const Point added(EC_POINT_new(curve.get()));
    return of_key != nullptr && sum && added && BN_mod_inverse(inverse, s, order, context) != nullptr &&
           BN_mod_mul(of_generator, digest, inverse, order, context) == 1 &&
           BN_mod_mul(of_key, r, inverse, order, context) == 1 &&
           EC_POINT_mul(curve.get(), sum.get(), of_generator, nullptr, nullptr, context) == 1 &&
           EC_POINT_mul(keyed.get(), added.get(), of_key, nullptr, nullptr, context) == 1 &&
           EC_POINT_add(curve.get(), sum.get(), sum.get(), added.get(), context) == 1 &&
           EC_POINT_is_at_infinity(curve.get(), sum.get()) == 0 &&
           EC_POINT_get_affine_coordinates(curve.get(), sum.get(), x, nullptr, context) == 1 &&
           BN_nnmod(x, x, order, context) == 1;
  }
};

P256Tables::P256Tables(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
P256Tables::~P256Tables() = default;

std::shared_ptr<const P256Tables> P256Tables::make(const evp_pkey_st* key) {
  auto impl = std::make_unique<Impl>();
  if (key == nullptr || !impl->prepare(key)) return nullptr;
  return std::shared_ptr<const P256Tables>(new P256Tables(std::move(impl)));
}

bool P256Tables::verify(std::string_view text, std::string_view signature) const {
  if (signature.size() != 2 * kNumberSize) return false;
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash;
  unsigned size = 0;
  const BnContext context(BN_CTX_new());
  if (!context || EVP_Digest(text.data(), text.size(), hash.data(), &size, EVP_sha256(), nullptr) != 1) return false;
  Numbers numbers(context.get());
  BIGNUM* const digest = numbers.next();
  BIGNUM* const r = numbers.next();
  BIGNUM* const s = numbers.next();
  BIGNUM* const x = numbers.next();
  if (x == nullptr || !read_number({reinterpret_cast<const char*>(hash.data()), size}, digest) ||
      !read_number(signature.substr(0, kNumberSize), r) || !read_number(signature.substr(kNumberSize), s)) {
    return false;
  }
  const BIGNUM* const order = EC_GROUP_get0_order(impl_->curve.get());
  return within_order(r, order) && within_order(s, order) && impl_->recover(digest, r, s, x, context.get()) &&
         BN_cmp(x, r) == 0;
}

}  // namespace edge::runtime::auth
