#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/os/file.h"
#include "compiler/yaml/read.h"

namespace edge::compiler::yaml {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{256} << 20;
constexpr std::size_t kMostFiles = 200'000;

Error error_of(const std::error_code& code, const std::string& path) {
  const ErrorCode kind = code == std::errc::no_such_file_or_directory ? ErrorCode::kNotFound
                         : code == std::errc::permission_denied       ? ErrorCode::kPermissionDenied
                                                                      : ErrorCode::kUnknown;
  return {kind, path + ": " + code.message()};
}

bool is_configuration(const fs::path& path) {
  const std::string name = path.filename().string();
  // Hidden entries are editors' and, in a mounted ConfigMap, the second name of every file.
  if (name.starts_with('.')) return false;
  return name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json");
}

/// Every configuration file below `directory`, sorted, so that the order of the file system never shows.
Result<std::vector<std::string>> list_files(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code code;
  fs::recursive_directory_iterator entry(directory, code);
  if (code) return error_of(code, directory);
  for (const fs::recursive_directory_iterator end; entry != end; entry.increment(code)) {
    if (code) return error_of(code, directory);
    std::error_code ignored;
    if (entry->is_directory(ignored)) {
      if (entry->path().filename().string().starts_with('.')) entry.disable_recursion_pending();
      continue;
    }
    if (!is_configuration(entry->path()) || !entry->is_regular_file(ignored)) continue;
    if (files.size() == kMostFiles) {
      return Error{ErrorCode::kResourceExhausted,
                   directory + ": more than " + std::to_string(kMostFiles) + " configuration files"};
    }
    files.push_back(entry->path().string());
  }
  if (code) return error_of(code, directory);
  std::sort(files.begin(), files.end());
  return files;
}

Result<std::string> read_standard_input(std::size_t limit) {
  std::string text;
  char chunk[65536];
  while (const std::size_t got = std::fread(chunk, 1, sizeof(chunk), stdin)) {
    if (text.size() + got > limit) {
      return Error{ErrorCode::kResourceExhausted, "standard input: more than " + std::to_string(limit) + " bytes"};
    }
    text.append(chunk, got);
  }
  if (std::ferror(stdin) != 0) return Error{ErrorCode::kUnknown, "standard input cannot be read"};
  return text;
}

class Reader {
 public:
  explicit Reader(SourceMap& sources) : sources_(sources) {}

  Status argument(const std::string& path) {
    if (path == "-") return add("<stdin>", read_standard_input(kMostBytes - used_));
    std::error_code code;
    const fs::file_status status = fs::status(path, code);
    if (status.type() == fs::file_type::not_found) return Error{ErrorCode::kNotFound, path + ": no such file"};
    if (code) return error_of(code, path);
    if (!fs::is_directory(status)) return file(path);
    const auto files = list_files(path);
    if (!files) return files.error();
    for (const std::string& name : *files) {
      if (Status read = file(name); !read) return read;
    }
    return {};
  }

 private:
  /// A file that several arguments lead to is read once.
  Status file(const std::string& path) {
    std::error_code code;
    const fs::path whole = fs::canonical(path, code);
    if (!code && !seen_.insert(whole.string()).second) return {};
    return add(path, read_file(path, kMostBytes - used_));
  }

  Status add(const std::string& name, Result<std::string> text) {
    if (!text) return text.error();
    used_ += text->size();
    sources_.add(name, std::move(text).value());
    return {};
  }

  SourceMap& sources_;
  std::set<std::string> seen_;
  std::size_t used_ = 0;
};

}  // namespace

Status read_sources(const std::vector<std::string>& paths, SourceMap& sources) {
  Reader reader(sources);
  for (const std::string& path : paths) {
    if (Status read = reader.argument(path); !read) return read;
  }
  return {};
}

}  // namespace edge::compiler::yaml
