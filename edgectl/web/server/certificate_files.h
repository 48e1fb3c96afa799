// A certificate and its key in files, which are replaced while the server runs (by ACME clients, by volumes).
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace edge::edgectl::web {

struct CertificatePair {
  std::string certificate, key;  ///< PEM; empty: none
};

class CertificateFiles {
 public:
  /// Remembers the files as they are now.
  CertificateFiles(std::string certificate, std::string key);

  Result<CertificatePair> read() const;
  /// Returns whether a file is another than when this was called last.
  bool changed();

 private:
  std::string stamp() const;

  std::string certificate_, key_;
  std::string seen_;
};

}  // namespace edge::edgectl::web
