// Every kind of attribute that the format has, for every attribute that is read.
#include "formats/chakra/attribute.hpp"
#include "formats/chakra/chakra_support.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <ostream>

namespace photonrail::test {
namespace {

using Writer = protozero::pbf_writer;

struct KindCase {
  const char* kind;
  std::function<void(Writer&, int)> add;
  bool can_be_negative;
};

std::ostream& operator<<(std::ostream& out, const KindCase& c) { return out << c.kind; }

const std::vector<KindCase>& kinds() {
  static const std::vector<KindCase> all{
      {"double", [](Writer& a, int v) { a.add_double(3, v); }, true},
      {"float", [](Writer& a, int v) { a.add_float(5, static_cast<float>(v)); }, true},
      {"int32", [](Writer& a, int v) { a.add_int32(7, v); }, true},
      {"int64", [](Writer& a, int v) { a.add_int64(9, v); }, true},
      {"uint32", [](Writer& a, int v) { a.add_uint32(11, static_cast<std::uint32_t>(v)); }, false},
      {"uint64", [](Writer& a, int v) { a.add_uint64(13, static_cast<std::uint64_t>(v)); }, false},
      {"sint32", [](Writer& a, int v) { a.add_sint32(15, v); }, true},
      {"sint64", [](Writer& a, int v) { a.add_sint64(17, v); }, true},
      {"fixed32", [](Writer& a, int v) { a.add_fixed32(19, static_cast<std::uint32_t>(v)); }, false},
      {"fixed64", [](Writer& a, int v) { a.add_fixed64(21, static_cast<std::uint64_t>(v)); }, false},
      {"sfixed32", [](Writer& a, int v) { a.add_sfixed32(23, v); }, true},
      {"sfixed64", [](Writer& a, int v) { a.add_sfixed64(25, v); }, true},
  };
  return all;
}

class ChakraAttributeKind : public ::testing::TestWithParam<KindCase> {
 protected:
  // A compute node whose num_ops, tensor_size and is_cpu_op are 7, 7 and 1 of the kind, then a send of 7 bytes to rank 1.
  static TaskGraph read_sevens() {
    const auto& add = GetParam().add;
    Node compute(0, kCompute, "c");
    compute.attribute("num_ops", [&](Writer& a) { add(a, 7); });
    compute.attribute("tensor_size", [&](Writer& a) { add(a, 7); });
    compute.attribute("is_cpu_op", [&](Writer& a) { add(a, 1); });
    Node sends(1, kSend, "s");
    sends.attribute("comm_size", [&](Writer& a) { add(a, 7); });
    sends.attribute("comm_dst", [&](Writer& a) { add(a, 1); });
    sends.attribute("comm_src", [&](Writer& a) { add(a, 0); });
    sends.attribute("comm_tag", [&](Writer& a) { add(a, 7); });
    Node reduces(2, kCollective, "r");
    reduces.attribute("comm_type", [&](Writer& a) { add(a, 1); });
    reduces.attribute("comm_size", [&](Writer& a) { add(a, 7); });
    reduces.attribute("root_rank", [&](Writer& a) { add(a, 1); });
    reduces.attribute("pg_name", [&](Writer& a) { add(a, 0); });
    return read({{compute, sends, reduces}, {receive(1, 0, 7, 7), collective(2, 1, 7).number("comm_root", 1)}});
  }
};

TEST_P(ChakraAttributeKind, IsReadAsTheNumberItIs) {
  const TaskGraph graph = read_sevens();
  EXPECT_EQ(task(graph, 0, 0).flops, 7.0);
  EXPECT_EQ(task(graph, 0, 0).memory(), Bytes{7});
  EXPECT_EQ(task(graph, 0, 0).stream, Stream::kHost);
  EXPECT_EQ(task(graph, 0, 1).size(), Bytes{7});
  EXPECT_EQ(task(graph, 0, 1).tag, 7u);
  EXPECT_EQ(communicator(graph, 0, task(graph, 0, 1)).members, ranks({0, 1}));
  EXPECT_EQ(task(graph, 0, 2).op, CollectiveOp::kReduce);
  EXPECT_EQ(task(graph, 0, 2).root(), 1u);
  EXPECT_THAT(graph.warnings(), ::testing::IsEmpty());
}

class ChakraSignedKind : public ::testing::TestWithParam<KindCase> {};

TEST_P(ChakraSignedKind, ANegativeSizeNamesFileNodeAndAttribute) {
  Node n(12, kCollective, "all\nreduce");
  n.number("comm_type", 0).attribute("comm_size", [&](Writer& a) { GetParam().add(a, -5); });
  EXPECT_THAT(error_of_reading({{n}}),
              ::testing::AllOf(::testing::HasSubstr("t.0.et: node 12 (all reduce) at byte "),
                               ::testing::HasSubstr("attribute comm_size"), ::testing::HasSubstr("is -5")));
}

std::vector<KindCase> signed_kinds() {
  std::vector<KindCase> some;
  std::copy_if(kinds().begin(), kinds().end(), std::back_inserter(some), [](const auto& k) { return k.can_be_negative; });
  return some;
}

std::string name_of(const ::testing::TestParamInfo<KindCase>& kind) { return kind.param.kind; }

INSTANTIATE_TEST_SUITE_P(Kinds, ChakraAttributeKind, ::testing::ValuesIn(kinds()), name_of);
INSTANTIATE_TEST_SUITE_P(Kinds, ChakraSignedKind, ::testing::ValuesIn(signed_kinds()), name_of);

std::string error_with_size(const std::function<void(Writer&)>& add) {
  Node n(3, kCollective, "x");
  n.number("comm_type", 0).attribute("comm_size", add);
  return error_of_reading({{n}, {collective(3, 0, 1)}});
}

TEST(ChakraAttribute, ANumberThatIsNotWholeIsAnError) {
  EXPECT_THAT(error_with_size([](Writer& a) { a.add_double(3, 1.5); }),
              ::testing::HasSubstr("is 1.5, but must be a whole number"));
  EXPECT_THAT(error_with_size([](Writer& a) { a.add_float(5, 0.5F); }),
              ::testing::HasSubstr("is 0.5, but must be a whole number"));
  const double kinds_of_nothing[] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()};
  for (const double v : kinds_of_nothing) {
    EXPECT_THAT(error_with_size([&](Writer& a) { a.add_double(3, v); }), ::testing::HasSubstr("must be a number from 0"));
  }
  EXPECT_THAT(error_with_size([](Writer& a) { a.add_double(3, 1e30); }), ::testing::HasSubstr("below 2^64"));
}

TEST(ChakraAttribute, TextListsAndUnknownKindsAreNoNumbers) {
  EXPECT_THAT(error_with_size([](Writer& a) { a.add_string(29, "7"); }), ::testing::HasSubstr("comm_size: is text"));
  EXPECT_THAT(error_with_size([](Writer& a) { a.add_message(10, std::string("\x08\x07")); }),
              ::testing::HasSubstr("comm_size: is a list"));
  EXPECT_THAT(error_with_size([](Writer& a) { a.add_uint64(99, 7); }),
              ::testing::HasSubstr("kind that Chakra does not have"));
}

TEST(ChakraAttribute, AValueOnTheWrongWireTypeIsNotReadAsZero) {
  // Field 9 is int64, which is a varint; here it is eight fixed bytes.
  EXPECT_THAT(error_with_size([](Writer& a) { a.add_fixed64(9, 7); }),
              ::testing::HasSubstr("kind that Chakra does not have"));
}

TEST(ChakraAttribute, WithoutAValueItIsAbsent) {
  EXPECT_THAT(error_with_size([](Writer&) {}), ::testing::HasSubstr("has no comm_size"));
}

TEST(ChakraAttribute, AZeroOnTheWireIsAZero) {
  // comm_type 0 is all-reduce and comm_size 0 a size: neither is absent.
  const TaskGraph graph = read({{collective(0, 0, 0)}, {collective(0, 0, 0)}});
  EXPECT_EQ(task(graph, 0, 0).kind, TaskKind::kCollective);
  EXPECT_EQ(task(graph, 0, 0).size(), Bytes{0});
}

TEST(ChakraAttribute, ABoolIsZeroOrOne) {
  Node on_cpu(0, kCompute);
  on_cpu.attribute("is_cpu_op", [](Writer& a) { a.add_bool(27, true); }).number("num_ops", 1);
  Node on_gpu(1, kCompute);
  on_gpu.attribute("is_cpu_op", [](Writer& a) { a.add_bool(27, false); }).number("num_ops", 1);
  const TaskGraph graph = read({{on_cpu, on_gpu}});
  EXPECT_EQ(task(graph, 0, 0).stream, Stream::kHost);
  EXPECT_EQ(task(graph, 0, 1).stream, Stream::kGpu);
}

TEST(ChakraAttribute, WhatNobodyAsksForMayBeAnything) {
  Node n(0, kCompute);
  n.number("num_ops", 1).number("seq_id", -1).attribute("inputs", [](Writer& a) {
    a.add_message(30, std::string("\x0a\x01x"));
  });
  n.attribute("involved_dim", [](Writer& a) { a.add_message(28, std::string("\x08\x01")); });
  EXPECT_EQ(task(read({{n}}), 0, 0).flops, 1.0);
}

}  // namespace
}  // namespace photonrail::test
