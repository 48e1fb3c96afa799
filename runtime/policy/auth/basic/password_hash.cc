#include "runtime/policy/auth/basic/password_hash.h"

#include <algorithm>
#include <array>
#include <memory>

#include <crypt.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/owned.h"
#include "base/text/base64.h"

namespace edge::runtime::auth {
namespace {

constexpr std::string_view kShaPrefix = "{SHA256}";
constexpr std::string_view kApr1Prefix = "$apr1$";
constexpr std::size_t kMd5Size = 16;
constexpr std::size_t kMostSalt = 8;
constexpr std::size_t kApr1Digits = 22;
constexpr std::size_t kBcryptSize = 60;
/// The digits of crypt(3), in their order.
constexpr std::string_view kCryptDigits = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

bool of_crypt_digits(std::string_view text) { return text.find_first_not_of(kCryptDigits) == std::string_view::npos; }

bool equal(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

/// An incremental hash.
class Hasher {
 public:
  explicit Hasher(const EVP_MD* kind) : context_(EVP_MD_CTX_new()) {
    sound_ = context_ != nullptr && EVP_DigestInit_ex(context_.get(), kind, nullptr) == 1;
  }
  void add(std::string_view bytes) {
    sound_ = sound_ && EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1;
  }
  /// Empty when the library could not.
  std::string take() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned int size = 0;
    if (!sound_ || EVP_DigestFinal_ex(context_.get(), bytes.data(), &size) != 1) return {};
    return {bytes.data(), bytes.data() + size};
  }

 private:
  Owned<EVP_MD_CTX, EVP_MD_CTX_free> context_;
  bool sound_ = false;
};

std::string sha256(std::string_view text) {
  Hasher hasher(EVP_sha256());
  hasher.add(text);
  return hasher.take();
}

/// The scheme of MD5 crypt under the name that Apache gave it: a digest of password, salt and a second digest, then a
/// thousand more, each over a mixture that the round's number decides.
std::string apr1_digest(std::string_view password, std::string_view salt) {
  Hasher inner(EVP_md5());
  for (const std::string_view part : {password, salt, password}) inner.add(part);
  const std::string second = inner.take();
  if (second.size() != kMd5Size) return {};
  Hasher outer(EVP_md5());
  for (const std::string_view part : {password, kApr1Prefix, salt}) outer.add(part);
  for (std::size_t left = password.size(); left != 0;) {
    const std::size_t part = std::min(left, kMd5Size);
    outer.add(std::string_view(second).substr(0, part));
    left -= part;
  }
  // By the bits of the length: a zero byte for a one, the first letter for a zero.
  constexpr std::string_view kZero("\0", 1);
  for (std::size_t bits = password.size(); bits != 0; bits >>= 1) {
    outer.add((bits & 1) != 0 ? kZero : password.substr(0, 1));
  }
  std::string digest = outer.take();
  for (int round = 0; round < 1000; ++round) {
    const bool odd = round % 2 != 0;
    Hasher next(EVP_md5());
    next.add(odd ? password : std::string_view(digest));
    if (round % 3 != 0) next.add(salt);
    if (round % 7 != 0) next.add(password);
    next.add(odd ? std::string_view(digest) : password);
    digest = next.take();
  }
  return digest;
}

/// Three bytes as four digits, the lowest bits first.
void put_digits(std::string& out, std::uint32_t bits, int count) {
  for (; count > 0; --count, bits >>= 6) out += kCryptDigits[bits & 63];
}

std::string apr1(std::string_view password, std::string_view salt) {
  const std::string digest = apr1_digest(password, salt);
  if (digest.size() != kMd5Size) return {};
  const auto byte = [&](std::size_t i) { return std::uint32_t{static_cast<unsigned char>(digest[i])}; };
  std::string out;
  static constexpr std::size_t kOrder[5][3] = {{0, 6, 12}, {1, 7, 13}, {2, 8, 14}, {3, 9, 15}, {4, 10, 5}};
  for (const auto& [high, middle, low] : kOrder) {
    put_digits(out, byte(high) << 16 | byte(middle) << 8 | byte(low), 4);
  }
  put_digits(out, byte(11), 2);
  return out;
}

bool verify_bcrypt(const std::string& hash, std::string_view password) {
  // 32 KiB, which holds what the password became on the way: wiped before it is given back.
  const auto wipe = [](crypt_data* data) {
    OPENSSL_cleanse(data, sizeof(crypt_data));
    delete data;
  };
  const std::unique_ptr<crypt_data, decltype(wipe)> data(new crypt_data{}, wipe);
  std::string phrase(password);
  const char* const made = ::crypt_r(phrase.c_str(), hash.c_str(), data.get());
  OPENSSL_cleanse(phrase.data(), phrase.size());
  return made != nullptr && equal(made, hash);
}

std::string_view apr1_salt(std::string_view text) {
  text.remove_prefix(kApr1Prefix.size());
  return text.substr(0, text.find('$'));
}

}  // namespace

Result<PasswordHash> PasswordHash::read(std::string_view text) {
  const auto invalid = [](const char* what) { return Error{ErrorCode::kInvalidArgument, what}; };
  if (text.starts_with(kShaPrefix)) {
    const auto hash = from_base64(text.substr(kShaPrefix.size()));
    if (!hash || hash->size() != 32) return invalid("`{SHA256}` without 32 bytes in base64");
    return PasswordHash(Kind::kSha256, text);
  }
  if (text.starts_with(kApr1Prefix)) {
    const std::string_view salt = apr1_salt(text);
    const std::string_view rest = text.substr(kApr1Prefix.size() + salt.size());
    if (salt.empty() || salt.size() > kMostSalt || !of_crypt_digits(salt) || rest.size() != 1 + kApr1Digits ||
        !of_crypt_digits(rest.substr(1))) {
      return invalid("`$apr1$` without a salt of 1 to 8 and a hash of 22 digits");
    }
    return PasswordHash(Kind::kApr1, text);
  }
  if (text.starts_with("$2a$") || text.starts_with("$2b$") || text.starts_with("$2y$")) {
    const auto digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
    if (text.size() != kBcryptSize || !digit(4) || !digit(5) || text[6] != '$' || !of_crypt_digits(text.substr(7))) {
      return invalid("bcrypt without a cost of two digits and 53 digits of salt and hash");
    }
    PasswordHash hash(Kind::kBcrypt, text);
    hash.rounds_ = static_cast<unsigned>((text[4] - '0') * 10 + (text[5] - '0'));
    if (hash.rounds_ < 4 || hash.rounds_ > kMostCost) return invalid("bcrypt with a cost that is not 4 to 15");
    return hash;
  }
  return invalid("a hash that is none of bcrypt (`$2y$`, `$2a$`, `$2b$`), `{SHA256}` and `$apr1$`");
}

std::uint64_t PasswordHash::cost() const {
  switch (kind_) {
    case Kind::kSha256:
      return 1;
    case Kind::kApr1:
      return 500;
    case Kind::kBcrypt:
      break;
  }
  return std::uint64_t{70} << rounds_;
}

bool PasswordHash::verify(std::string_view password) const {
  // crypt would stop at a zero byte, and take what stands before it for the whole.
  if (password.size() > kMaxPasswordBytes || password.find('\0') != std::string_view::npos) return false;
  const std::string_view text = text_;
  switch (kind_) {
    case Kind::kSha256: {
      const auto wanted = from_base64(text.substr(kShaPrefix.size()));
      return wanted && equal(*wanted, sha256(password));
    }
    case Kind::kApr1: {
      const std::string_view salt = apr1_salt(text);
      return equal(text.substr(text.size() - kApr1Digits), apr1(password, salt));
    }
    case Kind::kBcrypt:
      break;
  }
  return verify_bcrypt(text_, password);
}

}  // namespace edge::runtime::auth
