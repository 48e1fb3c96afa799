#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <unistd.h>

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

/// A file, or a link that leads to none: that is told when it is read.
bool is_file(const fs::directory_entry& entry) {
  std::error_code code;
  if (entry.is_regular_file(code)) return true;
  std::error_code ignored;
  return entry.is_symlink(ignored) && (code || !entry.exists(code));
}

struct Listing {
  std::vector<std::string> files;
  std::vector<UnreadableSource> unreadable;  ///< directories
};

/// Every configuration file below `directory`, sorted, so that the order of the file system never shows.
Status list_files(const std::string& directory, Listing& listing) {
  std::vector<std::string> open = {directory};
  while (!open.empty()) {
    const std::string here = std::move(open.back());
    open.pop_back();
    std::error_code code;
    fs::directory_iterator entry(here, code);
    for (const fs::directory_iterator end; !code && entry != end; entry.increment(code)) {
      std::error_code ignored;
      if (entry->is_directory(ignored)) {
        const bool own = !entry->is_symlink(ignored) && !entry->path().filename().string().starts_with('.');
        if (own) open.push_back(entry->path().string());
        continue;
      }
      if (!is_configuration(entry->path()) || !is_file(*entry)) continue;
      if (listing.files.size() == kMostFiles) {
        return Error{ErrorCode::kResourceExhausted,
                     directory + ": more than " + std::to_string(kMostFiles) + " configuration files"};
      }
      listing.files.push_back(entry->path().string());
    }
    // One that went meanwhile is no fault, but of the one that was named.
    const bool gone = code == std::errc::no_such_file_or_directory && here != directory;
    if (code && !gone) listing.unreadable.push_back({here, error_of(code, here)});
  }
  std::sort(listing.files.begin(), listing.files.end());
  return {};
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
  /// `unreadable` null: what cannot be read is an error.
  Reader(SourceMap& sources, std::vector<UnreadableSource>* unreadable) : sources_(sources), unreadable_(unreadable) {}

  Status argument(const std::string& path) {
    if (path == "-") return add("<stdin>", read_standard_input(kMostBytes - used_));
    std::error_code code;
    const fs::file_status status = fs::status(path, code);
    if (status.type() == fs::file_type::not_found) {
      return fault(path, Error{ErrorCode::kNotFound, path + ": no such file"});
    }
    if (code) return fault(path, error_of(code, path));
    if (!fs::is_directory(status)) return file(path);
    Listing listing;
    if (Status listed = list_files(path, listing); !listed) return listed;
    for (UnreadableSource& directory : listing.unreadable) {
      if (Status reported = fault(directory.path, std::move(directory.why)); !reported) return reported;
    }
    for (const std::string& name : listing.files) {
      // One that went meanwhile.
      if (fs::symlink_status(name, code).type() == fs::file_type::not_found) continue;
      if (Status read = file(name); !read) return read;
    }
    return {};
  }

 private:
  Status fault(const std::string& path, Error why) {
    if (unreadable_ == nullptr) return why;
    unreadable_->push_back({path, std::move(why)});
    return {};
  }

  /// A file that several arguments lead to is read once.
  Status file(const std::string& path) {
    std::error_code code;
    const fs::path whole = fs::canonical(path, code);
    if (!code && !seen_.insert(whole.string()).second) return {};
    auto text = read_file(path, kMostBytes - used_);
    return text ? add(path, std::move(text)) : fault(path, text.error());
  }

  Status add(const std::string& name, Result<std::string> text) {
    if (!text) return text.error();
    used_ += text->size();
    sources_.add(name, std::move(text).value());
    return {};
  }

  SourceMap& sources_;
  std::vector<UnreadableSource>* unreadable_;
  std::set<std::string> seen_;
  std::size_t used_ = 0;
};

Status read_all(const std::vector<std::string>& paths, Reader reader) {
  for (const std::string& path : paths) {
    if (Status read = reader.argument(path); !read) return read;
  }
  return {};
}

Status may_be_read(const std::string& path) {
  if (::access(path.c_str(), R_OK) == 0) return {};
  return error_of(std::error_code(errno, std::generic_category()), path);
}

}  // namespace

Status find_sources(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    Listing listing;
    std::error_code code;
    const bool directory = fs::is_directory(path, code);
    Status status = directory ? list_files(path, listing) : may_be_read(path);
    if (status && directory) {
      status = Error{ErrorCode::kNotFound, path + ": there is no *.yaml, *.yml or *.json in it"};
      if (!listing.unreadable.empty()) status = listing.unreadable.front().why;
      for (auto file = listing.files.begin(); !status && file != listing.files.end(); ++file)
        status = may_be_read(*file);
    }
    if (!status) return status;
  }
  return {};
}

Status read_sources(const std::vector<std::string>& paths, SourceMap& sources) {
  return read_all(paths, Reader(sources, nullptr));
}

Status read_sources(const std::vector<std::string>& paths, SourceMap& sources,
                    std::vector<UnreadableSource>& unreadable) {
  return read_all(paths, Reader(sources, &unreadable));
}

}  // namespace edge::compiler::yaml
