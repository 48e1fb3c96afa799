#include "controller/kube/object.h"

#include <gtest/gtest.h>

namespace edge::kube {
namespace {

TEST(ReadObject, KeepsTheTextCompactAndTheOrder) {
  const Result<Object> object = read_object(R"( { "kind" : "Thing", "apiVersion":"a/v1",
    "metadata": {"name":"x","namespace":"n","uid":"u","resourceVersion":"12","generation":3,
                 "labels":{"name":"not this","a":"b"}},
    "spec": {"list":[1, -2, 1.50, true, null, "q\"\\\n\u00e9", [], {}, [[]]], "empty": {}}, "big": 123456789012345678901 } )");
  ASSERT_TRUE(object.ok()) << object.error().text;
  EXPECT_EQ(
      object->text,
      "{\"kind\":\"Thing\",\"apiVersion\":\"a/v1\",\"metadata\":{\"name\":\"x\",\"namespace\":\"n\",\"uid\":\"u\","
      "\"resourceVersion\":\"12\",\"generation\":3,\"labels\":{\"name\":\"not this\",\"a\":\"b\"}},"
      "\"spec\":{\"list\":[1,-2,1.50,true,null,\"q\\\"\\\\\\u000a\xc3\xa9\",[],{},[[]]],\"empty\":{}},"
      "\"big\":123456789012345678901}");
  EXPECT_EQ(object->key(), "n/x");
  EXPECT_EQ(object->uid, "u");
  EXPECT_EQ(object->resource_version, "12");
  EXPECT_EQ(object->generation, 3);
}

constexpr std::string_view kManaged =
    R"({"metadata":{"name":"x","managedFields":[{"manager":"old","time":"2024-01-01T00:00:00Z","fieldsV1":{"f:a":{"manager":"no"}}},)"
    R"({"manager":"new","time":"2024-01-02T00:00:00Z"},{"manager":"older","time":"2023-01-02T00:00:00Z"}],"uid":"u"},"spec":{"manager":"no"}})";

TEST(ReadObject, LeavesManagedFieldsOutAndTellsTheLastManager) {
  const Result<Object> object = read_object(kManaged, {.api_version = "v1", .kind = "Thing"});
  ASSERT_TRUE(object.ok());
  EXPECT_EQ(object->text,
            R"({"apiVersion":"v1","kind":"Thing","metadata":{"name":"x","uid":"u"},"spec":{"manager":"no"}})");
  EXPECT_EQ(object->manager, "new");
  EXPECT_EQ(object->managed_at, "2024-01-02T00:00:00Z");
}

TEST(ReadObject, KeepsManagedFieldsWhereTheyAreWanted) {
  const Result<Object> object = read_object(kManaged, {.managed_fields = true});
  ASSERT_TRUE(object.ok());
  EXPECT_EQ(object->text, kManaged);
  EXPECT_EQ(object->manager, "new");
}

TEST(ReadObject, PassesOverManagedFieldsThatAreNone) {
  for (const char* none : {"null", "[]", "{}", "7", "[1,[2]]"}) {
    const Result<Object> object =
        read_object(std::string(R"({"metadata":{"managedFields":)") + none + R"(,"name":"x"},"a":[1]})");
    ASSERT_TRUE(object.ok()) << none;
    EXPECT_EQ(object->text, R"({"metadata":{"name":"x"},"a":[1]})") << none;
  }
}

TEST(ReadObject, RefusesWhatIsNone) {
  for (const char* text : {"", "[]", "7", "{", "{}x", "null", "{\"a\":\"\xff\"}"}) {
    EXPECT_FALSE(read_object(text).ok()) << text;
  }
  const std::string deep(kMaxDepth, '[');
  EXPECT_FALSE(read_object("{\"a\":" + deep + std::string(kMaxDepth, ']') + "}").ok());
  EXPECT_TRUE(read_object("{\"a\":" + deep.substr(1) + std::string(kMaxDepth - 1, ']') + "}").ok());
}

TEST(ReadList, TakesTheItemsApart) {
  const Result<List> list = read_list(
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"abc","remainingItemCount":5},)"
      R"("items":[{"metadata":{"name":"a","namespace":"n"}}, {"kind":"Pod","apiVersion":"v1","metadata":{"name":"b"}}]})",
      {.api_version = "v1", .kind = "Pod"});
  ASSERT_TRUE(list.ok()) << list.error().text;
  EXPECT_EQ(list->resource_version, "7");
  EXPECT_EQ(list->next, "abc");
  EXPECT_EQ(list->remaining, 5);
  ASSERT_EQ(list->items.size(), 2u);
  EXPECT_EQ(list->items[0].text, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"n"}})");
  EXPECT_EQ(list->items[1].text, R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"b"}})");
  EXPECT_EQ(list->items[1].key(), "b");
}

TEST(ReadList, TakesNullForNone) {
  const Result<List> list = read_list(R"({"metadata":{"resourceVersion":"7"},"items":null})");
  ASSERT_TRUE(list.ok());
  EXPECT_TRUE(list->items.empty());
}

TEST(ReadList, RefusesWhatIsNone) {
  for (const char* text : {R"({"items":[1]})", R"({"items":[{}]})", R"({"items":7})", R"({"metadata":{}})", "[]", "{}",
                           R"({"items":[[{"metadata":{"name":"a"}}]]})", R"({"items":[{"metadata":{"name":"a"}})"}) {
    EXPECT_FALSE(read_list(text).ok()) << text;
  }
}

TEST(ReadEvent, KnowsTheTypes) {
  const Result<WatchEvent> added = read_event(R"({"type":"ADDED","object":{"metadata":{"name":"a"}}})");
  ASSERT_TRUE(added.ok());
  EXPECT_EQ(added->type, EventType::kAdded);
  EXPECT_EQ(added->object.text, R"({"metadata":{"name":"a"}})");
  const Result<WatchEvent> deleted = read_event(R"({"object":{"metadata":{"name":"a"}},"type":"DELETED"})");
  ASSERT_TRUE(deleted.ok());
  EXPECT_EQ(deleted->type, EventType::kDeleted);
}

TEST(ReadEvent, KnowsTheEndOfWhatWasThere) {
  const Result<WatchEvent> mark = read_event(
      R"({"type":"BOOKMARK","object":{"kind":"A","metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}})");
  ASSERT_TRUE(mark.ok()) << mark.error().text;
  EXPECT_EQ(mark->type, EventType::kBookmark);
  EXPECT_TRUE(mark->initial_end);
  EXPECT_EQ(mark->object.resource_version, "9");
}

TEST(ReadEvent, TellsErrors) {
  const Result<WatchEvent> error = read_event(
      R"({"type":"ERROR","object":{"kind":"Status","status":"Failure","reason":"Expired","message":"too old","code":410}})");
  ASSERT_TRUE(error.ok());
  EXPECT_TRUE(error->failure.expired());
  EXPECT_EQ(error->failure.text(), "Expired: too old");
}

TEST(ReadEvent, RefusesWhatIsNone) {
  for (const char* text :
       {"", "{}", R"({"type":"ADDED"})", R"({"type":"ADDED","object":7})", R"({"type":"ADDED","object":{}})",
        R"({"type":"X","object":{"metadata":{"name":"a"}}})", R"({"object":{"metadata":{"name":"a"}}})"}) {
    EXPECT_FALSE(read_event(text).ok()) << text;
  }
}

TEST(ReadFailure, KeepsReasonAndCauses) {
  const Failure failure = read_failure(
      422,
      R"({"kind":"Status","reason":"Invalid","message":"no","code":422,"details":{"kind":"X","name":"y","causes":[)"
      R"({"reason":"FieldValueRequired","message":"Required value","field":"spec.a"}],"retryAfterSeconds":3}})");
  EXPECT_TRUE(failure.refused(422));
  EXPECT_EQ(failure.reason, "Invalid");
  ASSERT_EQ(failure.causes.size(), 1u);
  EXPECT_EQ(failure.causes[0].field, "spec.a");
  EXPECT_EQ(failure.resource_name, "y");
  EXPECT_EQ(failure.retry_after, 3);
  EXPECT_EQ(failure.as_error().code, ErrorCode::kInvalidArgument);
}

TEST(ReadFailure, TakesWhatAProxyAnswers) {
  const Failure failure = read_failure(502, "<html>\nbad\x1b[0m gateway");
  EXPECT_TRUE(failure.refused(502));
  EXPECT_EQ(failure.message, "<html>");
  EXPECT_TRUE(failure.temporary());
  EXPECT_EQ(read_failure(404, "").text(), "NotFound");
}

}  // namespace
}  // namespace edge::kube
