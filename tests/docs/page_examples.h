// Examples that the pages of docs/ give, as runtime cases.
//
// A block of `yaml` whose first line is `# example: NAME`, or that begins with a ProxyGateway, is a whole
// configuration. A block of `case` after it holds upstreams and clients in the language of tests/runtime/README.md that
// show what it does. Services that a configuration names are the readers' own: the test brings them.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "tests/support/case_file.h"

namespace edge::test {

struct PageExample {
  /// `rate-limiting/by-api-key`: page and name.
  std::string name;
  std::string configuration;
  CaseFile script;  ///< without sections where the page only shows a configuration
};

/// For GoogleTest.
inline void PrintTo(const PageExample& example, std::ostream* out) { *out << example.name; }

std::vector<PageExample> page_examples(const std::string& directory);

}  // namespace edge::test
