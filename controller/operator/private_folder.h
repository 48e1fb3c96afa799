// A folder of one's own below the one for temporary files (TMPDIR, or /tmp), for keys.
#pragma once

#include <string>
#include <string_view>

namespace edge::cluster_operator {

/// Nobody else can read it. It is removed with the object.
class PrivateFolder {
 public:
  static constexpr std::string_view kFailure =
      "no folder can be made below the one for temporary files (TMPDIR, or /tmp)";

  PrivateFolder();
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  /// Empty when it could not be made.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace edge::cluster_operator
