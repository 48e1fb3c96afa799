#include "program/sha256.h"

#ifdef EDGE_MULTI_BUFFER
#define NO_COMPAT_IMB_API_053
#include <intel-ipsec-mb.h>

#include "base/owned.h"
#endif

namespace edge::program {
namespace {

void one_after_another(std::span<const std::span<const std::byte>> pieces, std::span<Hash> hashes) {
  for (std::size_t i = 0; i < pieces.size(); ++i) hashes[i] = sha256(pieces[i]);
}

}  // namespace

#ifdef EDGE_MULTI_BUFFER

namespace {

/// Less than this is hashed as quickly one after another as the wide way is set up.
constexpr std::uint64_t kWorthIt = std::uint64_t{1} << 20;

}  // namespace

struct ManyHashes::Wide {
  explicit Wide(IMB_MGR* manager) : jobs(manager) {}
  Owned<IMB_MGR, free_mb_mgr> jobs;

  /// Asks for one hash; the job that comes back is of any piece, and null while too few are under way.
  IMB_JOB* submit(std::span<const std::byte> piece, Hash& hash) {
    IMB_JOB* const job = IMB_GET_NEXT_JOB(jobs.get());
    *job = {};
    job->cipher_mode = IMB_CIPHER_NULL;
    job->cipher_direction = IMB_DIR_ENCRYPT;
    job->chain_order = IMB_ORDER_HASH_CIPHER;
    job->hash_alg = IMB_AUTH_SHA_256;
    job->src = reinterpret_cast<const std::uint8_t*>(piece.data());
    job->msg_len_to_hash_in_bytes = piece.size();
    job->auth_tag_output = hash.data();
    job->auth_tag_output_len_in_bytes = hash.size();
    return IMB_SUBMIT_JOB(jobs.get());
  }
};

ManyHashes::ManyHashes(std::uint64_t bytes) {
  if (bytes < kWorthIt) return;
  auto wide = std::make_unique<Wide>(alloc_mb_mgr(0));
  if (wide->jobs == nullptr) return;
  IMB_ARCH arch = IMB_ARCH_NONE;
  init_mb_mgr_auto(wide->jobs.get(), &arch);
  // It has tested itself; below AVX2 it is no faster than what OpenSSL does.
  if (imb_get_errno(wide->jobs.get()) == 0 && arch >= IMB_ARCH_AVX2) wide_ = std::move(wide);
}

void ManyHashes::hash(std::span<const std::span<const std::byte>> pieces, std::span<Hash> hashes) {
  if (wide_ == nullptr) return one_after_another(pieces, hashes);
  std::size_t done = 0;
  const auto count = [&](const IMB_JOB* job) {
    for (; job != nullptr; job = IMB_GET_COMPLETED_JOB(wide_->jobs.get())) done += job->status == IMB_STATUS_COMPLETED;
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) count(wide_->submit(pieces[i], hashes[i]));
  while (const IMB_JOB* const job = IMB_FLUSH_JOB(wide_->jobs.get())) done += job->status == IMB_STATUS_COMPLETED;
  // What it refuses, an empty piece among them, is no reason to vouch for less.
  if (done != pieces.size()) one_after_another(pieces, hashes);
}

#else

struct ManyHashes::Wide {};
ManyHashes::ManyHashes(std::uint64_t /*bytes*/) {}
void ManyHashes::hash(std::span<const std::span<const std::byte>> pieces, std::span<Hash> hashes) {
  one_after_another(pieces, hashes);
}

#endif

ManyHashes::~ManyHashes() = default;

}  // namespace edge::program
