#include "program/sign.h"

#include <algorithm>
#include <cstring>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "base/owned.h"
#include "program/sha256.h"

namespace edge::program {
namespace {

using KeyPtr = Owned<EVP_PKEY, EVP_PKEY_free>;
using ContextPtr = Owned<EVP_MD_CTX, EVP_MD_CTX_free>;
using BioPtr = Owned<BIO, BIO_free>;

constexpr std::size_t kMaxPemBytes = 64 * 1024;

Hash key_id_of(EVP_PKEY* key) {
  std::array<std::byte, 32> raw{};
  std::size_t size = raw.size();
  if (EVP_PKEY_get_raw_public_key(key, reinterpret_cast<unsigned char*>(raw.data()), &size) != 1) return {};
  return sha256(raw);
}

/// What is signed: the domain prefix and the manifest.
std::vector<unsigned char> message_of(std::span<const std::byte> manifest) {
  std::vector<unsigned char> message(sizeof kManifestDomain + manifest.size());
  std::memcpy(message.data(), kManifestDomain, sizeof kManifestDomain);
  std::memcpy(message.data() + sizeof kManifestDomain, manifest.data(), manifest.size());
  return message;
}

Result<BioPtr> bio_of(std::string_view pem) {
  if (pem.size() > kMaxPemBytes) return Error{ErrorCode::kInvalidArgument, "key file larger than 64 KiB"};
  BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  if (bio == nullptr) return Error{ErrorCode::kResourceExhausted, "out of memory"};
  return bio;
}

/// Without a callback OpenSSL would ask the terminal for a passphrase.
int no_passphrase(char*, int, int, void*) { return -1; }

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

bool is_ed25519(EVP_PKEY* key) { return key != nullptr && EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519; }

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
  auto bio = bio_of(pem);
  if (!bio) return bio.error();
  KeyPtr key(PEM_read_bio_PrivateKey(bio->get(), nullptr, no_passphrase, nullptr));
  if (!is_ed25519(key.get()))
    return Error{ErrorCode::kInvalidArgument, "not an unencrypted Ed25519 private key in PKCS#8 PEM form"};
  SigningKey signer;
  const Hash id = key_id_of(key.get());
  signer.impl_ = std::make_shared<const Impl>(Impl{std::move(key), id});
  return signer;
}

std::string SigningKey::private_pem() const {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(bio.get(), impl_->key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return text_of(bio.get());
}

std::string SigningKey::public_pem() const {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PUBKEY(bio.get(), impl_->key.get());
  return text_of(bio.get());
}

Status SigningKey::sign(std::span<std::byte> program) const {
  const auto malformed = [] { return Error{ErrorCode::kInvalidArgument, "cannot sign what is no program"}; };
  if (program.size() < sizeof(FileHeader) + sizeof(SignatureBlock)) return malformed();
  FileHeader header;
  std::memcpy(&header, program.data(), sizeof header);
  const std::uint64_t manifest_size = sizeof header + std::uint64_t{header.section_count} * sizeof(SectionEntry);
  if (manifest_size > program.size() - sizeof(SignatureBlock)) return malformed();

  const std::vector<unsigned char> message = message_of(program.first(manifest_size));
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
  auto bio = bio_of(pem);
  if (!bio) return bio.error();
  KeyPtr key(PEM_read_bio_PUBKEY(bio->get(), nullptr, no_passphrase, nullptr));
  if (!is_ed25519(key.get())) return Error{ErrorCode::kInvalidArgument, "not an Ed25519 public key in PEM form"};
  VerifyKey verifier;
  const Hash id = key_id_of(key.get());
  verifier.impl_ = std::make_shared<const Impl>(Impl{std::move(key), id});
  return verifier;
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
  const std::vector<unsigned char> message = message_of(program.manifest());
  const ContextPtr context(EVP_MD_CTX_new());
  if (EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, impl_->key.get()) != 1 ||
      EVP_DigestVerify(context.get(), block.signature, sizeof block.signature, message.data(), message.size()) != 1)
    return Error{ErrorCode::kUnauthenticated, "the program's signature is wrong"};
  return {};
}

}  // namespace edge::program
