// Objects of the API in files: each readable document, with its position.
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
  std::string api_version, kind, name_space, name;  ///< no namespace: absent in the file
  std::string json;                                 ///< as applied
  std::uint64_t hash = 0;                           ///< of `json`; never 0
  std::string file;
  std::uint32_t line = 1;
  std::uint32_t begin = 0, end = 0;  ///< byte positions in the file
  int rank = 0;                      ///< lower ranks are applied first
  bool at_fault = false;             ///< it has an error, and there is no valid version of its file

  /// `ProxyRoute shop/cart`
  std::string text() const { return resource_text(kind, name_space, name); }
  /// Returns the API group: empty for the core group.
  std::string group() const;
  /// Identifies an object of the API, unlike text() where two groups have a kind of one name.
  std::string key() const { return text() + " " + group(); }
};

/// Returns the hash of an API object, without fields that the API sets itself; never 0.
std::uint64_t content_hash(const std::string& text);
/// Returns whether a path is in the directory, at any depth.
bool is_below(std::string_view path, std::string_view directory);

/// The readable parts of a file with errors.
struct FaultyDocuments {
  std::vector<FileObject> at_fault;
  bool unreadable = false;  ///< an error is outside of identifiable documents
};

/// Caches what it has read: an unchanged document is not read again. Not thread-safe.
class FileReader {
 public:
  /// Returns objects in the order of application: namespaces, definitions of kinds, what others refer to, the rest;
  /// within these in the order of the files. Documents without kind or name are skipped, and so are files in `skip`.
  std::vector<FileObject> read(const controller::Update& update, const std::set<std::string>& skip = {});
  static FaultyDocuments read_faulty(const std::string& file, const controller::FaultyFile& faulty);

 private:
  using Known = std::map<std::string, std::vector<FileObject>>;
  /// By file, and by the text of a document, or of several that belong together.
  std::map<std::string, Known> known_;
};

}  // namespace edge::standalone
