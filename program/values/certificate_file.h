// Certificates that listeners have in files and not in Secrets: the pair travels as a secret of a name that no resource
// has, with the namespace of the gateway (Kubernetes' names have no `:`).
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
/// nullopt: the name is that of a Secret.
std::optional<CertificateFilePair> files_of_secret(std::string_view name);

/// The secrets of files that a program names, without values; each once.
std::vector<NamedSecret> file_secrets(const ProgramView& program);

/// How a certificate is told to people: `secret shop/site`, or `file /etc/tls/site.pem`.
std::string certificate_text(std::string_view name_space, std::string_view name);

/// Whether `path` is below one of these directories by its text alone. Both are absolute and without `.` and `..`.
bool is_below_any(std::string_view path, const std::vector<std::string>& directories);

}  // namespace edge::program
