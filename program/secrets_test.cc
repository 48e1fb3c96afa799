#include "program/secrets.h"

#include <gtest/gtest.h>

#include "base/base64.h"

namespace edge::program {
namespace {

TEST(Secrets, ComeBackAsTheyWereWritten) {
  const std::string bytes("\0\xff\n key", 7);
  SecretSet set;
  set.secrets.push_back({"b", "two", {{"x", std::make_shared<const std::string>(bytes)}}});
  set.secrets.push_back(
      {"a", "one", {{"z", std::make_shared<const std::string>("1")}, {"y", std::make_shared<const std::string>("")}}});
  set.sort();
  EXPECT_EQ(set.secrets.front().name, "one");
  const auto read = read_secrets(write_secrets(set));
  ASSERT_TRUE(read.ok()) << read.error().text;
  EXPECT_TRUE(*read == set);
  EXPECT_EQ(*read->find("b", "two", "x"), bytes);
  EXPECT_EQ(*read->find("a", "one", "y"), "");
  EXPECT_EQ(read->find("a", "one", "x"), nullptr);
  EXPECT_EQ(read->find("a", "two", "x"), nullptr);
}

TEST(Secrets, RefusesOtherDocumentsWithoutQuotingAValue) {
  for (const std::string text :
       {"", "[]", "{\"other\":1}", "{\"secrets\":[{}]}", "{\"secrets\":[{\"namespace\":\"a\"}]}",
        "{\"secrets\":[{\"namespace\":\"a\",\"name\":\"b\",\"data\":{\"k\":\"hidden!\"}}]}",
        "{\"secrets\":[{\"namespace\":\"a\",\"name\":\"b\",\"data\":{\"k\":7}}]}",
        "{\"secrets\":[{\"namespace\":\"a\",\"name\":\"b\"},{\"namespace\":\"a\",\"name\":\"b\"}]}"}) {
    const auto read = read_secrets(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().text.find("hidden"), std::string::npos);
  }
}

TEST(Base64, KnowsTheRfcsVectors) {
  const std::pair<std::string, std::string> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
  EXPECT_EQ(from_base64("Zm9v\r\nYmFy\n"), "foobar");
  for (const std::string bad : {"Z", "Zg", "Zg=", "Zg===", "=Zg=", "Z-g=", "Zg==Zg=="})
    EXPECT_FALSE(from_base64(bad)) << bad;
}

}  // namespace
}  // namespace edge::program
