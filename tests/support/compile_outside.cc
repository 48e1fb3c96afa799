// compile_text by the edgectl of another build: one whose sanitizer looks at the runtime need not hold the compiler.
#include <cstdlib>
#include <filesystem>

#include <unistd.h>

#include "base/os/file.h"
#include "program/read.h"
#include "tests/support/proxy.h"

namespace edge::test {
namespace {

constexpr std::size_t kMostBytes = 64 << 20;

/// A folder of its own, that goes with it.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / "edge-compiled.XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~Folder() {
    std::error_code failure;
    std::filesystem::remove_all(path_, failure);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

Result<Compiled> compile_text(const std::string& name, const std::string& yaml) {
  const Folder folder;
  if (Status status = write_file(folder / "text.yaml", std::string_view(yaml), FileAccess::kOwnerOnly); !status) {
    return status.error();
  }
  const std::string command = "cd '" + folder.path() +
                              "' && XDG_CACHE_HOME=\"$PWD\" '" EDGE_COMPILED_BY
                              "' compile -f text.yaml -o program --endpoints-out endpoints --secrets-out secrets"
                              " >told 2>&1";
  if (::access(EDGE_COMPILED_BY, X_OK) != 0) {
    return Error{ErrorCode::kNotFound, "there is no " EDGE_COMPILED_BY ": script/build release makes it"};
  }
  if (std::system(command.c_str()) != 0) {
    const auto reported = read_file(folder / "told", kMostBytes);
    return Error{ErrorCode::kInvalidArgument,
                 name + " does not compile:\n" + (reported ? *reported : reported.error().text)};
  }
  auto bytes = read_file_bytes(folder / "program", kMostBytes);
  if (!bytes) return bytes.error();
  const auto endpoints_text = read_file(folder / "endpoints", kMostBytes);
  if (!endpoints_text) return endpoints_text.error();
  auto endpoints = program::read_endpoints(*endpoints_text);
  if (!endpoints) return endpoints.error();
  const auto secrets_text = read_file(folder / "secrets", kMostBytes);
  if (!secrets_text) return secrets_text.error();
  auto secrets = program::read_secrets(*secrets_text);
  if (!secrets) return secrets.error();
  const auto view = program::read(std::make_shared<const std::vector<std::byte>>(std::move(*bytes)));
  if (!view) return view.error();
  auto loaded = runtime::LoadedProgram::load(*view, nullptr);
  if (!loaded) return loaded.error();
  return Compiled{*loaded, std::move(*endpoints), std::move(*secrets)};
}

}  // namespace edge::test
