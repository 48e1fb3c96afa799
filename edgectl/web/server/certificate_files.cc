#include "edgectl/web/server/certificate_files.h"

#include <sys/stat.h>

#include <utility>

#include "base/os/file.h"
#include "net/tls/certificate.h"

namespace edge::edgectl::web {

CertificateFiles::CertificateFiles(std::string certificate, std::string key)
    : certificate_(std::move(certificate)), key_(std::move(key)), seen_(stamp()) {}

Result<CertificatePair> CertificateFiles::read() const {
  auto certificate = read_file(certificate_, net::tls::kMaxPemBytes);
  if (!certificate) return certificate.error();
  auto key = read_file(key_, net::tls::kMaxPemBytes);
  if (!key) return key.error();
  return CertificatePair{std::move(*certificate), std::move(*key)};
}

bool CertificateFiles::changed() {
  std::string now = stamp();
  if (now == seen_) return false;
  seen_ = std::move(now);
  return true;
}

/// A file that is away for a moment is another one too.
std::string CertificateFiles::stamp() const {
  std::string text;
  for (const std::string& path : {certificate_, key_}) {
    struct stat facts{};
    if (::stat(path.c_str(), &facts) != 0) continue;
    text += std::to_string(facts.st_ino) + " " + std::to_string(facts.st_size) + " " +
            std::to_string(facts.st_mtim.tv_sec) + "." + std::to_string(facts.st_mtim.tv_nsec) + " ";
  }
  return text;
}

}  // namespace edge::edgectl::web
