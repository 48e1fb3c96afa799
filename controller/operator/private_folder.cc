#include "controller/operator/private_folder.h"

#include <cstdlib>
#include <filesystem>

namespace edge::cluster_operator {

namespace fs = std::filesystem;

PrivateFolder::PrivateFolder() {
  std::error_code error;
  path_ = (fs::temp_directory_path(error) / "edge-operator-XXXXXX").string();
  if (error || ::mkdtemp(path_.data()) == nullptr) path_.clear();
}

PrivateFolder::~PrivateFolder() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

}  // namespace edge::cluster_operator
