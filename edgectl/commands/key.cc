#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "edgectl/commands.h"
#include "program/sign.h"

namespace edge::edgectl {

int key_generate(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl key generate";
  const std::string path = arguments.one("out");
  const std::string public_path = path + ".pub";
  for (const std::string& taken : {path, public_path}) {
    std::error_code error;
    if (!std::filesystem::exists(std::filesystem::symlink_status(taken, error))) continue;
    cli::print_error(kCommand, taken + ": is there already; a key is never overwritten");
    return cli::kExitFindings;
  }
  const auto key = program::SigningKey::generate();
  Status status = key ? write_file(path, std::string_view(key->private_pem()), FileAccess::kOwnerOnly) : key.error();
  if (status) status = write_file(public_path, std::string_view(key->public_pem()), FileAccess::kEveryone);
  if (!status) {
    cli::print_error(kCommand, status.error().text);
    return cli::kExitFindings;
  }
  std::printf("%s: private key, for edgectl compile --sign-key\n%s: public key, for edge-agent --verify-key\n",
              path.c_str(), public_path.c_str());
  return cli::kExitOk;
}

}  // namespace edge::edgectl
