// Files as objects of the API: each document that can be handed on, with the place where it stands.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "controller/follow.h"

namespace edge::standalone {

struct FileObject {
  std::string api_version, kind, name_space, name;  ///< no namespace: none was written
  std::string json;                                 ///< as it is applied
  std::string file;
  std::uint32_t line = 1;
  int rank = 0;           ///< those of a lesser one are applied before
  bool at_fault = false;  ///< an error points into it, and there is no sound version of its file

  /// `ProxyRoute shop/cart`
  std::string text() const { return kind + " " + (name_space.empty() ? name : name_space + "/" + name); }
};

/// In the order in which they are applied: namespaces, definitions of kinds, what others refer to, the rest; within
/// these as they stand in the files. Documents that name no kind or name are left out.
std::vector<FileObject> objects_of(const controller::Update& update);

}  // namespace edge::standalone
