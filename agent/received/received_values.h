// Assembles endpoints and secrets from a controller's messages. They are untrusted: the limits of counts and sizes are
// those of the files (program/values/endpoints.h, program/values/secrets.h).
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
  program::Hash program{};  ///< for which they are complete
  program::EndpointSet endpoints;
  program::SecretSet secrets;
  /// Values that were replaced before they were used. A program sent with those, and installed with these, may refer to
  /// a backend that was removed since.
  program::EndpointSet skipped_endpoints;
  program::SecretSet skipped_secrets;

  /// Merges `before`, which these values replace before it was used.
  void replace(const ReceivedValues& before);
};

class ValuesAssembly {
 public:
  /// Takes the next part. \returns all values after the last part of a version. kInvalidArgument, kResourceExhausted;
  /// after an error only a part that starts from nothing is accepted.
  Result<std::optional<ReceivedValues>> take(const v1::ValuesPart& part);

 private:
  using Name = std::pair<std::string, std::string>;

  Status change(const v1::ValuesPart& part);
  Status change_endpoints(const v1::ValuesPart& part);
  Status change_secrets(const v1::ValuesPart& part);

  bool begun_ = false;         ///< there is a version that changes apply to
  std::uint64_t version_ = 0;  ///< being received
  std::map<std::uint64_t, program::BackendEndpoints> backends_;
  std::map<Name, program::NamedSecret> secrets_;
  /// Named by an earlier part of the current version: further entries are appended.
  std::set<std::uint64_t> open_backends_;
  std::set<Name> open_secrets_;
  std::size_t endpoint_count_ = 0;
  std::size_t secret_bytes_ = 0;
};

}  // namespace edge::agent
