#include "controller/operator/identity.h"

#include <cstdlib>
#include <filesystem>

#include "base/os/file.h"
#include "controller/authority/authority.h"
#include "program/sign.h"

namespace edge::cluster_operator {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFile = 64 << 10;

/// A folder that nobody else reads, gone with the object.
class PrivateFolder {
 public:
  PrivateFolder() {
    std::error_code error;
    path_ = (fs::temp_directory_path(error) / "edge-identity-XXXXXX").string();
    if (error || ::mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~PrivateFolder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct NamedPart {
  const char* file;
  std::string Identity::* part;
};
constexpr NamedPart kParts[] = {
    {"ca.pem", &Identity::authority}, {"join", &Identity::join}, {"admin.pem", &Identity::administrator}};

}  // namespace

Result<Identity> make_identity(const Identity& known, const std::string& controller) {
  const PrivateFolder folder;
  if (folder.path().empty()) {
    return Error{ErrorCode::kUnavailable, "no folder can be made below the one for temporary files (TMPDIR, or /tmp)"};
  }
  Identity made = known;
  for (const auto& [file, part] : kParts) {
    if ((known.*part).empty()) continue;
    Status status = write_file(folder.path() + "/" + file, std::string_view(known.*part), FileAccess::kOwnerOnly);
    if (!status) return status.error();
  }
  {
    auto authority = controller::Authority::open({.directory = folder.path(), .controller = controller, .clock = {}});
    if (!authority) return authority.error();
    if (auto tended = (*authority)->tend(); !tended) return tended.error();
  }
  for (const auto& [file, part] : kParts) {
    auto text = read_file(folder.path() + "/" + file, kMaxFile);
    if (!text) return text.error();
    made.*part = std::move(*text);
  }
  if (made.signing_key.empty()) {
    auto key = program::SigningKey::generate();
    if (!key) return key.error();
    made.signing_key = key->private_pem();
  }
  return made;
}

}  // namespace edge::cluster_operator
