// The directory of a standalone proxy's persistent state: its signing key and the last valid program.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "program/sign.h"
#include "program/values/value_set.h"

namespace edge::controller {

struct StoredProgram {
  std::shared_ptr<const std::vector<std::byte>> program;
  program::ValueSet values;
};

class DataDir {
 public:
  /// Creates the directory when missing (mode 0700). `flag`: that names it, for errors.
  static Result<DataDir> open(std::string path, std::string_view flag = "--data-dir");

  /// Returns the key in `signing.key`; generated at the first start, readable only by the owner.
  Result<program::SigningKey> signing_key() const;
  Status store_values(const program::ValueSet& values) const;
  Status store_program(const std::vector<std::byte>& program) const;
  /// kNotFound before the first program and values. The bytes are not trusted: readers must check them.
  Result<StoredProgram> last() const;

 private:
  explicit DataDir(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// Has a data directory begin with an identity that was made elsewhere: `signing.key`, `ca.pem` and `join` of `from`
/// (a mounted Secret), each where the directory does not have its own yet. Several controllers with one identity are
/// one to their agents. Fails when one is missing in `from`.
Status take_identity(const std::string& data_dir, const std::string& from);

}  // namespace edge::controller
