// Certificates of listeners in files instead of Secrets: the pair is sent as a secret with a name that no resource has,
// in the gateway's namespace (Kubernetes' names have no `:`).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/read.h"
#include "program/values/secrets.h"

namespace edge::program {

/// The files of a certificate and of its key: absolute paths without `:`.
struct CertificateFilePair {
  std::string certificate;
  std::string key;
  friend auto operator<=>(const CertificateFilePair&, const CertificateFilePair&) = default;
};

std::string file_secret_name(std::string_view certificate, std::string_view key);
/// nullopt: the name is a Secret's.
std::optional<CertificateFilePair> files_of_secret(std::string_view name);

/// Returns the secrets of files that a program refers to, without values; each once.
std::vector<NamedSecret> file_secrets(const ProgramView& program);

/// Returns the text for users: `secret shop/site`, or `file /etc/tls/site.pem`.
std::string certificate_text(std::string_view name_space, std::string_view name);

/// Returns whether `path` is in one of these directories, by text only. Both are absolute and without `.` and `..`.
bool is_below_any(std::string_view path, const std::vector<std::string>& directories);

}  // namespace edge::program
