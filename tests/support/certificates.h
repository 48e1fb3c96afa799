// Certificates for tests, made on the spot: an authority and what it issues.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace edge::test {

struct IssueOptions {
  std::vector<std::string> names{};  ///< DNS
  std::vector<std::string> uris{};
  std::vector<std::string> others{};  ///< as OpenSSL reads them: `email:a@example.org`, `IP:10.0.0.1`
  std::string common_name = "test";
  std::string second_common_name{};  ///< empty: none
  bool rsa = false;
  /// The first eight of the 16 bytes of its serial number, as clusters' certificates have it; 0: a number of no
  /// meaning.
  std::uint64_t issued_milliseconds = 0;
  std::chrono::seconds lifetime = std::chrono::hours(24);  ///< negative: over already
};

struct IssuedCertificate {
  std::string chain;  ///< PEM, with the authority after it
  std::string key;    ///< PEM
};

class TestAuthority {
 public:
  explicit TestAuthority(const std::string& name = "test authority");
  ~TestAuthority();
  TestAuthority(const TestAuthority&) = delete;
  TestAuthority& operator=(const TestAuthority&) = delete;

  const std::string& pem() const { return pem_; }
  IssuedCertificate issue(const IssueOptions& options) const;
  IssuedCertificate issue(const std::string& name) const { return issue(IssueOptions{.names = {name}}); }
  /// PEM of a list of what it has revoked, good until then.
  std::string crl(const std::vector<IssuedCertificate>& revoked, std::chrono::seconds until) const;
  /// DER of an answer that a certificate is good, until then.
  std::string staple(const IssuedCertificate& certificate, std::chrono::seconds until) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::string pem_;
};

}  // namespace edge::test
