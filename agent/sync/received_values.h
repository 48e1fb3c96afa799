// Endpoints and secrets as a controller's parts leave them. The parts are hostile: counts and sizes are bounded as
// those of the files that hold the same (program/values/endpoints.h, program/values/secrets.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/result.h"
#include "program/read.h"
#include "program/values/endpoints.h"
#include "program/values/secrets.h"

namespace edge::agent {

namespace v1 {
class ValuesPart;
}

struct ReceivedValues {
  std::uint64_t version = 0;
  program::Hash program{};  ///< that they have everything for
  program::EndpointSet endpoints;
  program::SecretSet secrets;
  /// Of values that these took the place of before they were at work. A program that came with those, and is put to
  /// work with these, may ask for a backend that is gone since.
  program::EndpointSet skipped_endpoints;
  program::SecretSet skipped_secrets;

  /// These take the place of `before`, which was not at work yet.
  void replace(const ReceivedValues& before);
};

class ValuesAssembly {
 public:
  /// \returns all there is, once the last part of a version is there. kInvalidArgument, kResourceExhausted; after an
  /// error only a part that begins with everything is taken.
  Result<std::optional<ReceivedValues>> take(const v1::ValuesPart& part);

 private:
  using Name = std::pair<std::string, std::string>;

  Status change(const v1::ValuesPart& part);
  Status change_endpoints(const v1::ValuesPart& part);
  Status change_secrets(const v1::ValuesPart& part);

  bool begun_ = false;         ///< there is something that changes apply to
  std::uint64_t version_ = 0;  ///< that is under way
  std::map<std::uint64_t, program::BackendEndpoints> backends_;
  std::map<Name, program::NamedSecret> secrets_;
  /// Named by a part of the version that is under way: what comes once more is added.
  std::set<std::uint64_t> open_backends_;
  std::set<Name> open_secrets_;
  std::size_t endpoint_count_ = 0;
  std::size_t secret_bytes_ = 0;
};

}  // namespace edge::agent
