// Random edits of all kinds, faults among them, one after the other: after each the program, the endpoints, the
// secrets, the diagnostics and the conditions are those of a compile from nothing. EDGE_EDIT_COUNT (1000) is how many;
// EDGE_EDIT_SEED repeats a run.
#include <filesystem>
#include <string>

#include "compiler/test_documents.h"
#include "compiler/test_world.h"

namespace edge::compiler {
namespace {

using namespace world;

TEST(WorkspaceEdits, GiveWhatACompileFromNothingGives) {
  const unsigned count = from_environment("EDGE_EDIT_COUNT", 1000);
  const unsigned seed = from_environment("EDGE_EDIT_SEED", 1);
  // What each compile from nothing would make again comes from disk.
  std::string directory = ::testing::TempDir() + "edge-edits-XXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  CompileOptions options;
  options.cache_dir = directory;
  World world(small_world(), options);
  RandomDocuments documents(seed);
  std::size_t parts = 0;
  for (unsigned i = 0; i < count; ++i) {
    const std::vector<DocumentEdit> edits = documents.edits();
    world.apply(edits);
    parts += world.workspace().stats().linked_whole ? 0 : 1;
    std::string after = "seed " + std::to_string(seed) + ", edit " + std::to_string(i);
    for (const DocumentEdit& edit : edits) {
      after += "\nof " + edit.document + "\n" + edit.text.value_or("(removed)");
    }
    world.expect_as_from_nothing(after);
    if (::testing::Test::HasFailure()) break;
  }
  if (!::testing::Test::HasFailure()) EXPECT_GT(parts, count / 5) << "not each edit may take the long way";
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace edge::compiler
