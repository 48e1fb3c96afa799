#include "controller/authority/remote_identity.h"

#include <algorithm>

#include <openssl/sha.h>

#include "base/text/base64.h"

namespace edge::controller {
namespace {

constexpr std::string_view kHubLine = "hub: ";
constexpr std::string_view kJoinedLine = "joined-with: ";
constexpr std::string_view kProgramKeyLine = "program-key: ";
constexpr std::string_view kCertificate = "-----BEGIN CERTIFICATE";
constexpr std::string_view kKey = "-----BEGIN PRIVATE KEY";
constexpr std::size_t kMaxHub = 260;

/// The rest of the line that begins with `key`, before the first certificate.
std::string header_line(std::string_view text, std::string_view key) {
  while (!text.empty() && !text.starts_with("-----")) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (text.starts_with(key)) {
      std::string_view rest = text.substr(key.size(), end - key.size());
      if (rest.ends_with('\r')) rest.remove_suffix(1);
      return std::string(rest);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

}  // namespace

Result<RemoteIdentity> read_remote_identity(std::string_view text) {
  const std::size_t certificate = text.find(kCertificate);
  const std::size_t key = text.find(kKey);
  const std::size_t authorities = key == std::string_view::npos ? key : text.find(kCertificate, key);
  const Error none{ErrorCode::kInvalidArgument,
                   "is no join file of a cluster (a line `hub: ...`, a certificate, its key, authorities)"};
  if (certificate >= key || authorities == std::string_view::npos) return none;
  RemoteIdentity read{.hub = header_line(text, kHubLine),
                      .cluster = {},
                      .certificate = std::string(text.substr(certificate, key - certificate)),
                      .key = std::string(text.substr(key, authorities - key)),
                      .authorities = std::string(text.substr(authorities)),
                      .program_key = from_base64(header_line(text, kProgramKeyLine)).value_or(std::string()),
                      .joined_with = header_line(text, kJoinedLine)};
  const auto facts = read_certificate(read.certificate);
  if (!facts || read.hub.size() > kMaxHub) return none;
  if (facts->subject.role != Role::kRemote) {
    return Error{ErrorCode::kInvalidArgument, "has the certificate of something else than a cluster"};
  }
  read.cluster = facts->subject.name;
  read.validity = facts->validity;
  return read;
}

std::string text_of(const RemoteIdentity& identity) {
  std::string text = "# Who has this file is the cluster " + identity.cluster +
                     " to its hub: edge-controller --hub-join. Keep it secret.\n" + std::string(kHubLine) +
                     identity.hub + "\n";
  if (!identity.program_key.empty()) text += std::string(kProgramKeyLine) + to_base64(identity.program_key) + "\n";
  if (!identity.joined_with.empty()) text += std::string(kJoinedLine) + identity.joined_with + "\n";
  return text + identity.certificate + identity.key + identity.authorities;
}

std::string fingerprint_of(std::string_view text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  ::SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
           reinterpret_cast<unsigned char*>(digest.data()));
  return to_base64url(digest);
}

}  // namespace edge::controller
