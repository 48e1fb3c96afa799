#include "program/sign.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/owned.h"
#include "base/text/pem.h"
#include "program/sha256.h"

namespace edge::program {
namespace {

using KeyPtr = Owned<EVP_PKEY, EVP_PKEY_free>;
using ContextPtr = Owned<EVP_MD_CTX, EVP_MD_CTX_free>;

constexpr std::size_t kMaxPemBytes = 64 * 1024;

Hash key_id_of(EVP_PKEY* key) {
  std::array<std::byte, 32> raw{};
  std::size_t size = raw.size();
  if (EVP_PKEY_get_raw_public_key(key, reinterpret_cast<unsigned char*>(raw.data()), &size) != 1) return {};
  return sha256(raw);
}

/// With its terminating zero.
constexpr char kSignatureDomain[] = "edge program signature";

/// What is signed: the domain prefix and the program's hash.
std::array<std::uint8_t, sizeof kSignatureDomain + sizeof(Hash)> message_of(const Hash& program) {
  std::array<std::uint8_t, sizeof kSignatureDomain + sizeof(Hash)> message{};
  std::ranges::copy(program, std::ranges::copy(kSignatureDomain, message.begin()).out);
  return message;
}

/// A zero ends the domain, so that no message continues it.
std::string separated(std::string_view domain, std::string_view message) {
  std::string text(domain);
  text += '\0';
  text += message;
  return text;
}

/// `what`: it is expected to be.
template <auto kRead>
Result<KeyPtr> ed25519_key(std::string_view text, const char* what) {
  if (text.size() > kMaxPemBytes) return Error{ErrorCode::kInvalidArgument, "key file larger than 64 KiB"};
  KeyPtr key(first_in_pem<kRead>(text));
  if (key == nullptr || EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_ED25519)
    return Error{ErrorCode::kInvalidArgument, std::string("not ") + what};
  return key;
}

}  // namespace

struct SigningKey::Impl {
  KeyPtr key;
  Hash id{};
};

struct VerifyKey::Impl {
  KeyPtr key;
  Hash id{};
};

Result<SigningKey> SigningKey::generate() {
  KeyPtr key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  if (key == nullptr) return Error{ErrorCode::kInternal, "cannot generate an Ed25519 key"};
  SigningKey signer;
  const Hash id = key_id_of(key.get());
  signer.impl_ = std::make_shared<const Impl>(Impl{std::move(key), id});
  return signer;
}

Result<SigningKey> SigningKey::from_pem(std::string_view pem) {
  auto key = ed25519_key<PEM_read_bio_PrivateKey>(pem, "an unencrypted Ed25519 private key in PKCS#8 PEM form");
  if (!key) return key.error();
  SigningKey signer;
  const Hash id = key_id_of(key->get());
  signer.impl_ = std::make_shared<const Impl>(Impl{std::move(*key), id});
  return signer;
}

std::string SigningKey::private_pem() const { return to_pem(impl_->key.get()); }

std::string SigningKey::public_pem() const {
  return to_pem([&](BIO* out) { return PEM_write_bio_PUBKEY(out, impl_->key.get()); });
}

std::string SigningKey::derived_secret(std::string_view purpose) const {
  std::array<unsigned char, 32> raw{};
  std::size_t size = raw.size();
  if (EVP_PKEY_get_raw_private_key(impl_->key.get(), raw.data(), &size) != 1) return {};
  std::array<unsigned char, 32> derived{};
  unsigned int written = 0;
  const unsigned char* const done =
      HMAC(EVP_sha256(), raw.data(), static_cast<int>(size), reinterpret_cast<const unsigned char*>(purpose.data()),
           purpose.size(), derived.data(), &written);
  OPENSSL_cleanse(raw.data(), raw.size());
  if (done == nullptr || written != derived.size()) return {};
  return {derived.begin(), derived.end()};
}

Status SigningKey::sign(std::span<std::byte> program) const {
  const auto malformed = [] { return Error{ErrorCode::kInvalidArgument, "cannot sign what is no program"}; };
  if (program.size() < sizeof(FileHeader) + sizeof(SignatureBlock)) return malformed();
  FileHeader header;
  std::memcpy(&header, program.data(), sizeof header);
  const std::uint64_t manifest_size = sizeof header + std::uint64_t{header.section_count} * sizeof(SectionEntry);
  if (manifest_size > program.size() - sizeof(SignatureBlock)) return malformed();

  const auto message = message_of(manifest_hash(program.first(manifest_size)));
  SignatureBlock block{};
  std::copy(impl_->id.begin(), impl_->id.end(), block.key_id);
  std::size_t size = sizeof block.signature;
  const ContextPtr context(EVP_MD_CTX_new());
  if (EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, impl_->key.get()) != 1 ||
      EVP_DigestSign(context.get(), block.signature, &size, message.data(), message.size()) != 1 ||
      size != sizeof block.signature)
    return Error{ErrorCode::kInternal, "Ed25519 signing failed"};
  std::memcpy(program.data() + manifest_size, &block, sizeof block);
  return {};
}

Result<VerifyKey> VerifyKey::from_pem(std::string_view pem) {
  auto key = ed25519_key<PEM_read_bio_PUBKEY>(pem, "an Ed25519 public key in PEM form");
  if (!key) return key.error();
  VerifyKey verifier;
  const Hash id = key_id_of(key->get());
  verifier.impl_ = std::make_shared<const Impl>(Impl{std::move(*key), id});
  return verifier;
}

Result<std::string> SigningKey::sign_message(std::string_view domain, std::string_view message) const {
  const std::string text = separated(domain, message);
  std::string signature(64, '\0');
  std::size_t size = signature.size();
  const ContextPtr context(EVP_MD_CTX_new());
  if (EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, impl_->key.get()) != 1 ||
      EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                     reinterpret_cast<const unsigned char*>(text.data()), text.size()) != 1 ||
      size != signature.size())
    return Error{ErrorCode::kInternal, "Ed25519 signing failed"};
  return signature;
}

VerifyKey VerifyKey::of(const SigningKey& key) {
  VerifyKey verifier;
  EVP_PKEY_up_ref(key.impl_->key.get());
  verifier.impl_ = std::make_shared<const Impl>(Impl{KeyPtr(key.impl_->key.get()), key.impl_->id});
  return verifier;
}

Status VerifyKey::verify(const ProgramView& program) const {
  const SignatureBlock& block = program.signature();
  const auto zero = [](std::uint8_t byte) { return byte == 0; };
  if (std::ranges::all_of(block.signature, zero))
    return Error{ErrorCode::kUnauthenticated, "the program is not signed"};
  if (!std::equal(impl_->id.begin(), impl_->id.end(), block.key_id))
    return Error{ErrorCode::kUnauthenticated, "the program is signed by another key"};
  const auto message = message_of(program.hash());
  const ContextPtr context(EVP_MD_CTX_new());
  if (EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, impl_->key.get()) != 1 ||
      EVP_DigestVerify(context.get(), block.signature, sizeof block.signature, message.data(), message.size()) != 1)
    return Error{ErrorCode::kUnauthenticated, "the program's signature is wrong"};
  return {};
}

Status VerifyKey::verify_message(std::string_view domain, std::string_view message, std::string_view signature) const {
  const std::string text = separated(domain, message);
  const ContextPtr context(EVP_MD_CTX_new());
  if (EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, impl_->key.get()) != 1 ||
      EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(signature.data()), signature.size(),
                       reinterpret_cast<const unsigned char*>(text.data()), text.size()) != 1)
    return Error{ErrorCode::kUnauthenticated, "the signature is wrong"};
  return {};
}

}  // namespace edge::program
