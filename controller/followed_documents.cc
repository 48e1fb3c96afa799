#include "controller/followed_documents.h"

#include <span>
#include <string_view>
#include <utility>

#include "compiler/yaml/split.h"
#include "program/sha256.h"

namespace edge::controller {

std::vector<compiler::DocumentEdit> FollowedDocuments::become(const Texts& texts) {
  std::vector<compiler::DocumentEdit> edits;
  std::unordered_map<std::string, FileOffset> places;
  std::uint32_t number = 0;
  for (const auto& [file, text] : texts) {
    for (const compiler::yaml::Piece piece : compiler::yaml::readable_pieces(text)) {
      const std::string_view content = std::string_view(text).substr(piece.begin, piece.end - piece.begin);
      const std::string stem = file + "\n" + program::to_hex(program::sha256(std::as_bytes(std::span(content))));
      // The same text twice is two documents.
      std::string name = stem;
      for (std::size_t n = 2; places.contains(name); ++n) name = stem + "\n" + std::to_string(n);
      if (!places_.contains(name)) edits.push_back({name, std::string(content)});
      places.emplace(std::move(name), FileOffset{number, piece.begin});
    }
    ++number;
  }
  for (const auto& [name, position] : places_) {
    if (!places.contains(name)) edits.push_back({name, std::nullopt});
  }
  places_ = std::move(places);
  return edits;
}

Span FollowedDocuments::position(const std::string& document, Span span) const {
  const auto found = places_.find(document);
  if (!span.somewhere() || found == places_.end()) return {};
  const FileOffset& position = found->second;
  return {position.file, position.begin + span.begin, position.begin + span.end};
}

}  // namespace edge::controller
