// The configuration as the compiler's process has it: the objects of the server's live copy, kept up to date by what
// each call brings along.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "base/source.h"

namespace edge::edgectl::web {

class Configuration {
 public:
  using Objects = std::map<std::string, std::string, std::less<>>;  ///< JSON texts by `namespace/name`, or `name`

  /// Applies `changes`, an object with members that may be absent:
  ///   forget   true: everything known before is dropped
  ///   replace  plurals of kinds of which `put` has all objects
  ///   put      [plural, key, bytes]: the next so many bytes of `texts` are that object
  ///   remove   [plural, key]
  /// kInvalidArgument, and nothing is known any more, where they do not fit `texts`.
  Status update(const nlohmann::json& changes, std::string_view texts);

  /// By plural. Objects as the resource API gave them; Secrets and ConfigMaps among them, where these may be read.
  const std::map<std::string, Objects, std::less<>>& kinds() const { return kinds_; }
  /// Counts changes of any object's text.
  std::size_t version() const { return version_; }

  /// Adds a text for each kind, a List in JSON; without the object of these two.
  void add_sources(SourceMap& sources, std::string_view except_plural = {}, std::string_view except_key = {}) const;

 private:
  bool put(std::string_view plural, std::string_view key, std::string_view text);

  std::map<std::string, Objects, std::less<>> kinds_;
  std::size_t version_ = 0;
};

}  // namespace edge::edgectl::web
