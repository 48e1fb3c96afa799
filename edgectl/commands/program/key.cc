#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/os/file.h"
#include "base/os/operator_files.h"
#include "edgectl/commands.h"
#include "program/sign.h"

namespace edge::edgectl {
namespace {

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

int key_replace_administrator(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl key replace-administrator";
  constexpr auto kPatience = std::chrono::seconds(10);
  constexpr auto kBetweenLooks = std::chrono::milliseconds(100);
  const std::string directory = arguments.one("data-dir");
  std::vector<std::string> asked;
  // Of the resource API, and of what agents and `edgectl agents` speak to.
  for (const char* authority : {"/api", "/agents"}) {
    std::error_code error;
    if (!std::filesystem::exists(directory + authority + "/ca.pem", error)) continue;
    asked.push_back(directory + authority + "/" + std::string(kReplaceAdministratorFile));
    if (Status status = write_file(asked.back(), std::string_view(), FileAccess::kOwnerOnly); !status) {
      cli::print_error(kCommand, status.error().text);
      return cli::kExitFindings;
    }
  }
  if (asked.empty()) {
    cli::print_error(kCommand, directory + ": is no data directory of edge-standalone or edge-controller");
    return cli::kExitFindings;
  }
  const auto is_there = [](const std::string& file) {
    std::error_code error;
    return std::filesystem::exists(file, error);
  };
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (std::ranges::any_of(asked, is_there) && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(kBetweenLooks);
  }
  if (std::ranges::any_of(asked, is_there)) {
    std::printf("%s: no process has done it yet; the next one that starts there does it first\n", directory.c_str());
  } else {
    std::printf("%s: the administrator's certificates and token are new, and those before are refused\n",
                directory.c_str());
  }
  return cli::kExitOk;
}

}  // namespace

cli::Command key_generate_command() {
  return {.name = "key generate",
          .group = kProgramGroup,
          .summary = "Generate an Ed25519 key pair that signs and verifies programs",
          .flags = {{.name = "out",
                     .value = "FILE",
                     .help = "Private key; the public one goes to FILE.pub",
                     .required = true}},
          .examples = {"edgectl key generate --out edge.key"},
          .run = key_generate};
}

cli::Command key_replace_administrator_command() {
  return {.name = "key replace-administrator",
          .group = kProgramGroup,
          .summary = "Revoke the administrator's certificates and token of a data directory, and issue new ones",
          .details =
              "For a kubeconfig or agents/admin.pem that may be in the wrong hands. Run it on the machine of "
              "edge-standalone or edge-controller, as the user of its data directory. The running daemon writes "
              "kubeconfig, api/token and agents/admin.pem anew within seconds; if none runs, the next one does when it "
              "starts.",
          .flags = {{.name = "data-dir", .value = "DIR", .help = "Data directory of the daemon", .required = true}},
          .examples = {"edgectl key replace-administrator --data-dir /var/lib/edge-standalone"},
          .run = key_replace_administrator};
}

}  // namespace edge::edgectl
