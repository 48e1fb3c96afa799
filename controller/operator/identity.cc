#include "controller/operator/identity.h"

#include "base/os/file.h"
#include "controller/authority/authority.h"
#include "controller/operator/private_folder.h"
#include "program/sign.h"

namespace edge::cluster_operator {
namespace {

constexpr std::size_t kMaxFile = 64 << 10;

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
    return Error{ErrorCode::kUnavailable, std::string(PrivateFolder::kFailure)};
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
