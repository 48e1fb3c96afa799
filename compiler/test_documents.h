// Random edits of the documents of a small world, of all kinds and with faults among them. For tests.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "compiler/test_world.h"

namespace edge::compiler::world {

inline unsigned from_environment(const char* name, unsigned otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

class RandomDocuments {
 public:
  explicit RandomDocuments(unsigned seed) : random_(seed) {}

  /// Mostly one; now and then several at once, perhaps of the same document.
  std::vector<DocumentEdit> edits();

 private:
  std::mt19937 random_;
};

}  // namespace edge::compiler::world
