// Random edits of all kinds, faults among them, one after the other: after each the program, the endpoints, the
// secrets, the diagnostics and the conditions are those of a compile from nothing. EDGE_EDIT_COUNT (1000) is how many;
// EDGE_EDIT_SEED repeats a run.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "compiler/test_documents.h"
#include "compiler/test_world.h"
#include "compiler/yaml/read.h"

namespace edge::compiler {
namespace {

using namespace world;

/// Cases of more documents are of the size of something.
constexpr std::size_t kMostOfACase = 40;
constexpr unsigned kEditsOfAWorld = 100;

class WorkspaceEdits : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(mkdtemp(directory_.data()), nullptr);
    // What each compile from nothing would make again comes from disk.
    options_.cache_dir = directory_;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  /// \returns whether it was linked in part.
  bool edit(World& world, const std::vector<DocumentEdit>& edits, unsigned number) const {
    world.apply(edits);
    std::string after = "seed " + std::to_string(seed_) + ", edit " + std::to_string(number);
    for (const DocumentEdit& edit : edits) {
      after += "\nof " + edit.document + "\n" + edit.text.value_or("(removed)");
    }
    world.expect_as_from_nothing(after);
    return !world.workspace().stats().linked_whole;
  }

  std::string directory_ = ::testing::TempDir() + "edge-edits-XXXXXX";
  CompileOptions options_;
  const unsigned count_ = from_environment("EDGE_EDIT_COUNT", 1000);
  const unsigned seed_ = from_environment("EDGE_EDIT_SEED", 1);
};

TEST_F(WorkspaceEdits, GiveWhatACompileFromNothingGives) {
  World world(small_world(), options_);
  RandomDocuments documents(seed_);
  unsigned parts = 0;
  for (unsigned i = 0; i < count_ && !HasFailure(); ++i) parts += edit(world, documents.edits(), i) ? 1 : 0;
  if (!HasFailure()) EXPECT_GT(parts, count_ / 5) << "not each edit may take the long way";
}

struct Object {
  std::string name;  ///< kind, namespace and name: an API has one object of them at a time
  std::string text;
};

/// Empty: it cannot be read.
std::string name_of(const std::string& text) {
  SourceMap sources;
  sources.add("document", text);
  Diagnostics unheard;
  const std::vector<yaml::Document> documents = yaml::read_documents(sources, 0, unheard);
  if (documents.empty()) return {};
  const yaml::Node metadata = documents.front().root().find("metadata");
  const auto text_of_node = [](yaml::Node node) { return node && node.is_scalar() ? std::string(node.text()) : ""; };
  const std::string name = text_of_node(metadata.find("name"));
  if (name.empty()) return {};
  const std::string space = text_of_node(metadata.find("namespace"));
  return text_of_node(documents.front().root().find("kind")) + " " + (space.empty() ? "default" : space) + "/" + name;
}

std::vector<Object> objects_of(const std::filesystem::path& input) {
  std::ifstream file(input);
  std::vector<std::string> texts(1);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("---")) {
      texts.emplace_back();
    } else {
      texts.back() += line + "\n";
    }
  }
  std::vector<Object> objects;
  for (std::string& text : texts) {
    if (std::string name = name_of(text); !name.empty()) objects.push_back({std::move(name), std::move(text)});
  }
  return objects;
}

/// Objects of the golden cases, a list a case.
std::vector<std::vector<Object>> golden_objects() {
  std::vector<std::filesystem::path> inputs;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(EDGE_GOLDEN_DIR)) {
    if (entry.path().filename() == "input.yaml") inputs.push_back(entry.path());
  }
  std::ranges::sort(inputs);
  std::vector<std::vector<Object>> cases;
  for (const auto& input : inputs) {
    cases.push_back(objects_of(input));
    if (cases.back().empty() || cases.back().size() > kMostOfACase) cases.pop_back();
  }
  return cases;
}

/// Without one line of its settings, which may be a fault.
std::string with_gap(const std::string& text, std::mt19937& random) {
  const std::size_t settings = text.find("\nspec:");
  if (settings == std::string::npos) return text;
  std::vector<std::size_t> lines;
  for (std::size_t at = text.find('\n', settings + 1); at + 1 < text.size(); at = text.find('\n', at + 1)) {
    lines.push_back(at + 1);
  }
  if (lines.empty()) return text;
  const std::size_t begin = lines[random() % lines.size()];
  return text.substr(0, begin) + text.substr(text.find('\n', begin) + 1);
}

// Features that no case has together meet: a world is of the objects of two or three cases, which come, go and become
// others of their name.
TEST_F(WorkspaceEdits, OfObjectsOfGoldenCasesGiveTheSame) {
  const std::vector<std::vector<Object>> cases = golden_objects();
  ASSERT_GT(cases.size(), 50u);
  std::mt19937 random(seed_);
  for (unsigned i = 0; i < count_ && !HasFailure(); i += kEditsOfAWorld) {
    std::vector<Object> objects;
    for (std::size_t more = 2 + random() % 2; more > 0; --more) {
      const std::vector<Object>& of_case = cases[random() % cases.size()];
      objects.insert(objects.end(), of_case.begin(), of_case.end());
    }
    Documents there;
    for (const Object& object : objects) {
      if (random() % 2 == 0) there[object.name] = object.text;
    }
    World world(there, options_);
    for (unsigned k = 0; k < kEditsOfAWorld && !HasFailure(); ++k) {
      std::vector<DocumentEdit> edits;
      for (std::size_t more = random() % 4 == 0 ? 1 + random() % 4 : 1; more > 0; --more) {
        Object object = objects[random() % objects.size()];
        if (random() % 8 == 0) object.text = with_gap(object.text, random);
        const auto known = there.find(object.name);
        if (known != there.end() && known->second == object.text) {
          there.erase(known);
          edits.push_back({object.name, std::nullopt});
        } else {
          there[object.name] = object.text;
          edits.push_back({object.name, object.text});
        }
      }
      edit(world, edits, i + k);
    }
  }
}

}  // namespace
}  // namespace edge::compiler
