// What each command runs. The table that names them and their flags is main.cc.
#pragma once

#include "cli/flags.h"

namespace edge::edgectl {

inline constexpr std::string_view kName = "edgectl";

int validate(const cli::Arguments& arguments);
int compile(const cli::Arguments& arguments);
int routes_dump(const cli::Arguments& arguments);
int explain(const cli::Arguments& arguments);
int explain_code(const cli::Arguments& arguments);
int cost(const cli::Arguments& arguments);
int diff(const cli::Arguments& arguments);
int test(const cli::Arguments& arguments);
int assert_claims(const cli::Arguments& arguments);
int cache_stats(const cli::Arguments& arguments);
int cache_purge(const cli::Arguments& arguments);
int key_generate(const cli::Arguments& arguments);
int crds(const cli::Arguments& arguments);
int schema(const cli::Arguments& arguments);
int completion(const cli::Arguments& arguments);
int version(const cli::Arguments& arguments);

/// What completion offers for `KIND` and `KIND.FIELD`.
std::vector<std::string> complete_kind(const cli::Arguments& given, std::string_view typed);
std::vector<std::string> complete_field(const cli::Arguments& given, std::string_view typed);

}  // namespace edge::edgectl
