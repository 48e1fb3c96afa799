#include "controller/federation/version.h"

#include <span>

#include "controller/federation/frame.h"
#include "program/sha256.h"

namespace edge::federation {
namespace {

constexpr std::string_view kDomain = "edge federation version";

std::string digest_of(std::string_view content) {
  const program::Hash hash = program::sha256(std::as_bytes(std::span(content)));
  return {hash.begin(), hash.end()};
}

/// Lengths precede texts, so that no two differ only by where one ends.
std::string text_of(const ObjectKey& key, const ReplicaId& replica, std::uint64_t counter, std::string_view statement) {
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
  text += statement;
  return text;
}

Error unauthenticated(const char* what) { return {ErrorCode::kUnauthenticated, std::string("federation: ") + what}; }

}  // namespace

std::string signed_text(const Version& version) {
  return text_of(version.key, version.dot.replica, version.dot.counter, digest_of(version.statement));
}

Proof proof_of(const Version& version) {
  return {version.dot.counter, digest_of(version.statement), version.signature};
}

Status sign_version(Version& version, const Signatures& signatures) {
  version.digest = digest_of(version.content);
  version.statement = statement_of(version);
  auto signature = signatures.sign(kDomain, signed_text(version));
  if (!signature) return signature.error();
  version.signature = std::move(*signature);
  return {};
}

Status verify_version(const Version& version, const Signatures& signatures) {
  const std::string& author = version.dot.replica.cluster;
  if (version.digest != digest_of(version.content)) return unauthenticated("the content is not what was signed");
  if (!signatures.verify(author, kDomain, signed_text(version), version.signature)) {
    return unauthenticated("the author's signature is wrong");
  }
  for (const auto& [replica, ranges] : version.past.entries()) {
    // For its own lives its author vouches by the statement.
    if (replica.cluster == author) continue;
    const auto proof = version.proofs.find(replica);
    if (proof == version.proofs.end() || proof->second.counter < ranges.back().last) {
      return unauthenticated("an entry of the clock has no proof");
    }
    const std::string text = text_of(version.key, replica, proof->second.counter, proof->second.statement);
    if (!signatures.verify(replica.cluster, kDomain, text, proof->second.signature)) {
      return unauthenticated("the proof of an entry of the clock is wrong");
    }
  }
  return {};
}

std::size_t size_of(const Version& version) {
  return version.statement.size() + version.content.size() + 96 + version.proofs.size() * 176;
}

}  // namespace edge::federation
