# Writes OUT: a header whose one constant changes whenever any of FILES does. Run as a script by a build rule, so that
# what is kept of an older compiler's work is never taken for this one's.
set(all "")
foreach(file IN LISTS FILES)
  file(SHA256 "${file}" hash)
  string(APPEND all "${hash}\n")
endforeach()
string(SHA256 revision "${all}")
file(WRITE "${OUT}" "// Written by cmake/Revision.cmake.
#pragma once

namespace edge::compiler {
inline constexpr char kEmitRevision[] = \"${revision}\";
}  // namespace edge::compiler
")
