# cmake -DPAGES_DIR=docs/diagnostics -DOUTPUT=pages.cc -P EmbedPages.cmake
# Writes the pages of docs/diagnostics as a C++ array, so that `edgectl explain-code` needs no files beside it.
file(GLOB pages "${PAGES_DIR}/EDGE*.md")
list(SORT pages)
set(rows "")
foreach(page IN LISTS pages)
  get_filename_component(name "${page}" NAME_WE)
  string(REGEX REPLACE "^EDGE0*" "" number "${name}")
  file(READ "${page}" text)
  # Remarks for the tests are none of the reader's business.
  string(REGEX REPLACE "<!--[^>]*-->\n\n?" "" text "${text}")
  string(APPEND rows "    {${number}, R\"edge_page(${text})edge_page\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "#include \"edgectl/pages.h\"

namespace edge::edgectl {
namespace {

constexpr Page kPages[] = {
${rows}};

}  // namespace

std::span<const Page> pages() { return kPages; }

}  // namespace edge::edgectl
")
