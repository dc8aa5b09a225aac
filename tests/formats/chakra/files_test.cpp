// Which files make a trace, and what is wrong inside them before a node is understood.
#include "formats/chakra/chakra_support.hpp"
#include "formats/input_file.hpp"

namespace photonrail::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error_of_prefix(const std::filesystem::path& prefix) {
  return message_of([&] {
    ChakraOptions options;
    options.prefix = prefix;
    static_cast<void>(read_chakra(options));
  });
}

std::string error_of_file(std::string_view content) {
  const Folder folder;
  return message_of([&] { static_cast<void>(read_chakra(put(folder, {std::string(content)}))); });
}

TEST(ChakraFiles, ThereMustBeOne) {
  const Folder folder;
  EXPECT_THAT(error_of_prefix(folder.path() / "t"),
              AllOf(HasSubstr("/t.0.et: no such file"), HasSubstr("is named like <prefix>.0.et")));
  EXPECT_THAT(error_of_prefix(folder.path() / "none" / "t"), HasSubstr("there is no folder"));
}

TEST(ChakraFiles, AHintNamesWhatIsThere) {
  const Folder folder;
  folder.write("workload.0.et", trace({}));
  EXPECT_THAT(error_of_prefix(folder.path() / "wrkload"), HasSubstr("did you mean workload?"));
  EXPECT_THAT(error_of_prefix(folder.path() / "workload.0.et"), HasSubstr("did you mean workload?"));
  EXPECT_THAT(error_of_prefix(folder.path()),
              HasSubstr("the prefix is a folder; a trace in it is " + (folder.path() / "workload").string()));
  EXPECT_THAT(error_of_prefix(folder.path() / ""), HasSubstr("the prefix is a folder"));
}

TEST(ChakraFiles, AMissingRankIsAnError) {
  const Folder folder;
  for (const char* name : {"t.0.et", "t.1.et", "t.2.et", "t.4.et"}) folder.write(name, trace({}));
  EXPECT_THAT(error_of_prefix(folder.path() / "t"), HasSubstr("t.3.et: no such file, but there is one of rank 4"));
}

TEST(ChakraFiles, OtherFilesDoNotCount) {
  const Folder folder;
  for (const char* name : {"t.0.et", "t.01.et", "t.x.et", "t.5.et.bak", "other.3.et", "t.json"})
    folder.write(name, trace({}));
  ChakraOptions options;
  options.prefix = folder.path() / "t";
  EXPECT_EQ(read_chakra(options).ranks(), 1u);
}

TEST(ChakraFiles, ManyRanksAreReadInOrder) {
  std::vector<std::vector<Node>> nodes;
  for (std::int64_t r = 0; r < 40; ++r) nodes.push_back({Node(0, kCompute).number("num_ops", r)});
  const TaskGraph graph = read(nodes);
  ASSERT_EQ(graph.ranks(), 40u);
  for (std::size_t r = 0; r < 40; ++r) EXPECT_EQ(task(graph, r, 0).flops, static_cast<double>(r));
}

TEST(ChakraFiles, OfManyErrorsTheLowestRankIsTold) {
  const Folder folder;
  std::vector<std::string> files(20, trace({}));
  for (std::size_t r = 3; r < 20; ++r) files[r].clear();
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(message_of([&] { static_cast<void>(read_chakra(put(folder, files))); }), HasSubstr("t.3.et: is empty"));
  }
}

TEST(ChakraFiles, AnEmptyFileIsAnError) { EXPECT_THAT(error_of_file(""), HasSubstr("t.0.et: is empty")); }

TEST(ChakraFiles, AFileMayHaveNoNodesAndNoVersion) {
  const Folder folder;
  const TaskGraph graph = read_chakra(put(folder, {trace({}), trace({}, ""), trace({}, "")}));
  EXPECT_EQ(graph.task_count(), 0u);
  EXPECT_THAT(graph.warnings(),
              ElementsAre(AllOf(HasSubstr("do not name their Chakra version: 2, the first"), HasSubstr("t.1.et"))));
}

TEST(ChakraFiles, EveryCutIsAnError) {
  // Wherever a file ends, it is an error, unless it ends between two messages.
  const std::string whole = trace({Node(1, kMetadata, "first"), Node(2, kMetadata, "second")});
  const std::size_t metadata = framed(Node(1, kMetadata, "first").data()).size();
  std::vector<std::size_t> sound;
  for (std::size_t size = 1; size <= whole.size(); ++size) {
    const std::string error = error_of_file(whole.substr(0, size));
    if (error.empty())
      sound.push_back(size);
    else
      EXPECT_THAT(error, AllOf(HasSubstr("t.0.et: byte "))) << size;
  }
  // Metadata is a length, a key, a length and "0.0.4": 8 bytes.
  EXPECT_THAT(sound, ElementsAre(8u, 8 + metadata, whole.size()));
}

TEST(ChakraFiles, ACutNamesTheByte) {
  const std::string whole = trace({Node(1, kMetadata, "first")});
  EXPECT_THAT(error_of_file(whole.substr(0, whole.size() - 1)),
              AllOf(HasSubstr("byte 8: a message of 11 bytes begins here, but 10 bytes are left")));
}

TEST(ChakraFiles, ABrokenVarintIsAnError) {
  EXPECT_THAT(error_of_file(trace({}) + std::string(11, '\xff')),
              HasSubstr("t.0.et: byte 8: the message that begins here is damaged"));
  // A node whose packed dependencies end in the middle of a number.
  std::string node = Node(1, kMetadata).data();
  protozero::pbf_writer(node).add_string(5, "\x01\xff");
  EXPECT_THAT(error_of_file(trace({}) + framed(node)), HasSubstr("byte 8: the message that begins here is damaged"));
}

TEST(ChakraFiles, JunkAtTheEndIsAnError) {
  const std::string whole = trace({Node(1, kMetadata)});  // 8 + 5 bytes
  EXPECT_THAT(error_of_file(whole + std::string(3, '\0')), HasSubstr("at byte 13: has no type"));
  EXPECT_THAT(error_of_file(whole + "junk"),
              HasSubstr("byte 13: a message of 106 bytes begins here, but 3 bytes are left"));
}

TEST(ChakraFiles, AFieldOfAnotherKindIsAnError) {
  std::string node = Node(1, kMetadata).data();
  protozero::pbf_writer(node).add_fixed64(1, 7);  // an id is a varint
  EXPECT_THAT(error_of_file(trace({}) + framed(node)), HasSubstr("field 1 is not of the kind"));
}

TEST(ChakraFiles, ANodeInPlaceOfTheMetadataIsAnError) {
  EXPECT_THAT(error_of_file(framed(Node(1, kMetadata).data())), HasSubstr("the first message is a node"));
}

TEST(ChakraFiles, GzipIsUnpacked) {
  const std::string whole = trace({Node(1, kCompute, "a").number("num_ops", 5)});
  const Folder folder;
  EXPECT_EQ(task(read_chakra(put(folder, {gzipped(whole)})), 0, 0).flops, 5.0);
  // Two members one after the other are one file.
  EXPECT_EQ(task(read_chakra(put(folder, {gzipped(whole.substr(0, 10)) + gzipped(whole.substr(10))})), 0, 0).flops, 5.0);
}

TEST(ChakraFiles, DamagedGzipIsAnError) {
  const std::string packed = gzipped(trace({Node(1, kCompute, "a").number("num_ops", 5)}));
  for (std::size_t size = 2; size < packed.size(); ++size) {
    EXPECT_THAT(error_of_file(packed.substr(0, size)), HasSubstr("the gzip data ends too early")) << size;
  }
  EXPECT_THAT(error_of_file(packed + "x"), HasSubstr("byte " + std::to_string(packed.size()) + ": the bytes after"));
  std::string wrong = packed;
  wrong[wrong.size() - 6] ^= 1;  // in the checksum
  EXPECT_THAT(error_of_file(wrong), HasSubstr("the gzip data is damaged: incorrect data check"));
}

TEST(ChakraFiles, GzipDoesNotUnpackForEver) {
  const std::string bomb = gzipped(std::string(1'000'000, 'x'));
  EXPECT_EQ(formats::gunzip(bomb, 1'000'000).size(), 1'000'000u);
  EXPECT_THAT(message_of([&] { static_cast<void>(formats::gunzip(bomb, 999'999)); }), HasSubstr("more than 999999 bytes"));
}

}  // namespace
}  // namespace photonrail::test
