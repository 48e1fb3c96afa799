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
int test(const cli::Arguments& arguments);
int key_generate(const cli::Arguments& arguments);
int version(const cli::Arguments& arguments);

}  // namespace edge::edgectl
