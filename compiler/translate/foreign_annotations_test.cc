// The table of docs/ingress-nginx.md against that of the code.
#include "compiler/translate/foreign_annotations.h"

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace edge::compiler::translate {
namespace {

std::set<std::string> rows_of_page() {
  std::ifstream page("docs/ingress-nginx.md");
  std::set<std::string> rows;
  for (std::string line; std::getline(page, line);) {
    const bool row = line.ends_with("| served |") || line.find(" | served | ") != std::string::npos ||
                     line.find(" | needless | ") != std::string::npos ||
                     line.find(" | warning | ") != std::string::npos || line.find(" | error | ") != std::string::npos;
    if (row) rows.insert(line);
  }
  return rows;
}

TEST(ForeignAnnotations, StandInThePageAsTheyAreRead) {
  std::set<std::string> rows = rows_of_page();
  ASSERT_FALSE(rows.empty()) << "run from the source directory";
  for (const ForeignAnnotation& one : nginx_annotations()) {
    std::string row =
        "| `" + std::string(one.name) + "` | " + std::string(word_of(one.use)) + " | " + std::string(one.text);
    if (!one.harmless.empty()) row += " (`" + std::string(one.harmless) + "` is not told)";
    row += row.ends_with(' ') ? "|" : " |";
    EXPECT_EQ(rows.erase(row), 1U) << row;
  }
  for (const std::string& row : rows) ADD_FAILURE() << "of nothing in the table: " << row;
}

TEST(ForeignAnnotations, ProtectAsTheirNamesSay) {
  for (const char* name : {"auth-type", "router.middlewares", "whitelist-source-range", "ssl-redirect", "allow-list",
                           "backend-config-snippet", "rate-limit-requests", "auth-tls-secret", "router.tls.options"}) {
    EXPECT_TRUE(sounds_protective(name)) << name;
  }
  for (const char* name : {"router.priority", "timeout-server", "load-balance", "path-rewrite", "service.sticky"}) {
    EXPECT_FALSE(sounds_protective(name)) << name;
  }
}

}  // namespace
}  // namespace edge::compiler::translate
