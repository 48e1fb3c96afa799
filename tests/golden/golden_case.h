// One golden case: a configuration and requests in, the text of every stage out.
//
//   tests/golden/<feature>/<claim-as-a-name>/input.yaml [requests.txt]
//   tests/golden/<feature>/<claim-as-a-name>/expected/{diagnostics,conditions,linked,ir,program,routes}.txt
//
// A case keeps in expected/ those texts alone that its claim is about (CONTRIBUTING.md, Tests); without diagnostics.txt
// nothing at all is reported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace edge::golden {

struct CaseResult {
  /// File name in expected/ -> text, of every stage. An output that would be empty is left out, save diagnostics.txt.
  std::map<std::string, std::string> outputs;
  /// The program's bytes; null when there was none.
  std::shared_ptr<const std::vector<std::byte>> program;
  /// Requests on which the engines disagree; a case with any fails.
  std::string disagreements;
};

/// Runs every stage over `input`. `requests`: the text of requests.txt, empty lines and `#` comments are kept as they
/// are in routes.txt.
CaseResult run_case(const std::string& input, std::string_view requests);

/// Folders with an input.yaml, as paths relative to tests/golden, sorted.
std::vector<std::string> case_names();

/// What the case in that folder gives. Each case is run once.
const CaseResult& result_of(const std::string& name);

/// The texts that a case keeps: file name in expected/ -> text.
std::map<std::string, std::string> kept_texts(const std::string& name);

/// Empty when there is no such file.
std::string read_text(const std::filesystem::path& path);

/// `input` with its documents in another order, chosen by `seed`. Documents are told apart by `---` lines.
std::string shuffle_documents(const std::string& input, std::uint32_t seed);

}  // namespace edge::golden
