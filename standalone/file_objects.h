// Files as objects of the API: each document that can be handed on, with the place where it stands.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/resource_id.h"
#include "controller/follow.h"

namespace edge::standalone {

struct FileObject {
  std::string api_version, kind, name_space, name;  ///< no namespace: none was written
  std::string json;                                 ///< as it is applied
  std::uint64_t hash = 0;                           ///< of `json`; never 0
  std::string file;
  std::uint32_t line = 1;
  std::uint32_t begin = 0, end = 0;  ///< byte places in the file
  int rank = 0;                      ///< those of a lesser one are applied before
  bool at_fault = false;             ///< an error points into it, and there is no sound version of its file

  /// `ProxyRoute shop/cart`
  std::string text() const { return resource_text(kind, name_space, name); }
  /// The API's group: empty for the core's.
  std::string group() const;
  /// Tells objects of the API apart, as text() does not where two groups have a kind of one name.
  std::string key() const { return text() + " " + group(); }
};

/// Of an object as the API gives it, without what the API itself counts and tells; never 0.
std::uint64_t content_hash(const std::string& text);
/// In the directory, or in one below it.
bool is_below(std::string_view path, std::string_view directory);

/// What can be read of a file with errors in it.
struct FaultyDocuments {
  std::vector<FileObject> at_fault;
  bool unreadable = false;  ///< an error is in no document that can be told
};

/// Keeps what it has read: a document that has not changed is not read again. Not thread-safe.
class FileReader {
 public:
  /// In the order in which they are applied: namespaces, definitions of kinds, what others refer to, the rest; within
  /// these as they stand in the files. Documents that name no kind or name are left out.
  /// Files that `skip` names are not looked at.
  std::vector<FileObject> read(const controller::Update& update, const std::set<std::string>& skip = {});
  static FaultyDocuments read_faulty(const std::string& file, const controller::FaultyFile& faulty);

 private:
  using Known = std::map<std::string, std::vector<FileObject>>;
  /// By file, and by the text of a document, or of several that are not to be parted.
  std::map<std::string, Known> known_;
};

}  // namespace edge::standalone
