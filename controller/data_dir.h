// The folder in which a standalone proxy keeps what must outlive it: its signing key and the last sound program.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
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
  /// Makes the folder where it is missing (mode 0700).
  static Result<DataDir> open(std::string path);

  /// The key of `signing.key`; made on the first start, readable by the owner alone.
  Result<program::SigningKey> signing_key() const;
  Status store_values(const program::ValueSet& values) const;
  Status store_program(const std::vector<std::byte>& program) const;
  /// kNotFound before the first program and values. The bytes are as hostile as any other's.
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
