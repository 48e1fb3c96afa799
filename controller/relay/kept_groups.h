// What a relay gives to each group after it was restarted without its hub: the table of the last program, whose
// sections are in the SectionStore, and endpoints. Secrets are never written.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "controller/relay/section_store.h"
#include "program/values/endpoints.h"

namespace edge::controller::relay {

/// Not thread-safe.
class KeptGroups {
 public:
  /// `directory` is made where it is missing (mode 0700).
  static Result<KeptGroups> open(const std::string& directory);

  std::vector<std::string> groups() const;
  Status keep_program(const std::string& group, const std::vector<std::byte>& program) const;
  Status keep_endpoints(const std::string& group, const program::EndpointSet& endpoints) const;
  /// kNotFound: there is none; kDataLoss: a section of it is missing or damaged.
  Result<std::shared_ptr<const std::vector<std::byte>>> program(const std::string& group, SectionStore& sections) const;
  Result<program::EndpointSet> endpoints(const std::string& group) const;

 private:
  explicit KeptGroups(std::string directory) : directory_(std::move(directory)) {}
  std::string path(const std::string& group, const char* what) const { return directory_ + "/" + group + what; }

  std::string directory_;
};

}  // namespace edge::controller::relay
