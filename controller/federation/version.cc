#include "controller/federation/version.h"

#include <span>

#include "controller/federation/frame.h"
#include "program/sha256.h"

namespace edge::federation {
namespace {

constexpr std::string_view kStatementDomain = "edge federation version";
constexpr std::string_view kProofDomain = "edge federation entry";

std::string digest_of(std::string_view content) {
  const program::Hash hash = program::sha256(std::as_bytes(std::span(content)));
  return {hash.begin(), hash.end()};
}

/// What proves that a replica wrote its version `counter` of an object: lengths precede texts, so that no two differ
/// only by where one ends.
std::string proof_text(const ObjectKey& key, const ReplicaId& replica, std::uint64_t counter) {
  std::string text;
  const auto number = [&](std::uint64_t value) {
    for (int i = 0; i < 8; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  };
  for (const std::string* part : {&key.kind, &key.name_space, &key.name, &replica.cluster}) {
    number(part->size());
    text += *part;
  }
  number(replica.incarnation);
  number(counter);
  return text;
}

Error unauthenticated(const char* what) { return {ErrorCode::kUnauthenticated, std::string("federation: ") + what}; }

}  // namespace

Status sign_version(Version& version, const Signatures& signatures) {
  version.digest = digest_of(version.content);
  version.statement = statement_of(version);
  auto signature = signatures.sign(kStatementDomain, version.statement);
  if (!signature) return signature.error();
  auto proof = signatures.sign(kProofDomain, proof_text(version.key, version.dot.replica, version.dot.counter));
  if (!proof) return proof.error();
  version.signature = std::move(*signature);
  version.proof = std::move(*proof);
  return {};
}

Status verify_version(const Version& version, const Signatures& signatures) {
  const std::string& author = version.dot.replica.cluster;
  if (version.digest != digest_of(version.content)) return unauthenticated("the content is not what was signed");
  if (!signatures.verify(author, kStatementDomain, version.statement, version.signature)) {
    return unauthenticated("the author's signature is wrong");
  }
  if (!signatures.verify(author, kProofDomain, proof_text(version.key, version.dot.replica, version.dot.counter),
                         version.proof)) {
    return unauthenticated("the author's proof is wrong");
  }
  for (const auto& [replica, ranges] : version.past.entries()) {
    // For its own lives its author vouches by the statement.
    if (replica.cluster == author) continue;
    const auto proof = version.proofs.find(replica);
    if (proof == version.proofs.end() || proof->second.counter < ranges.back().last) {
      return unauthenticated("an entry of the clock has no proof");
    }
    if (!signatures.verify(replica.cluster, kProofDomain, proof_text(version.key, replica, proof->second.counter),
                           proof->second.signature)) {
      return unauthenticated("the proof of an entry of the clock is wrong");
    }
  }
  return {};
}

std::size_t size_of(const Version& version) {
  return version.statement.size() + version.content.size() + 160 + version.proofs.size() * 144;
}

}  // namespace edge::federation
