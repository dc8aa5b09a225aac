#include "photonrail/workload/operators.hpp"
#include "photonrail/error.hpp"
#include "workload/operators/tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

namespace photonrail::test {
namespace {

using workload::Measured;

// 100 TFLOP/s is 1e8 FLOPs a microsecond; 1,000 GB/s is 1e6 bytes a microsecond.
constexpr OperatorRoofline kDevice{100.0, 200.0, 0.0, 1000.0, 1.0, 0.8, Duration{3'000'000}};

class Literal final : public workload::OperatorTableReader {
 public:
  Measured<MatrixProduct> product;
  Measured<Attention> core;
  Measured<LatentCore> latent;
  Measured<Attention> training;
  Measured<LatentCore> training_latent;
  Measured<DecodeAttention> decode;
  Measured<DecodeAttention> decode_latent;
  Measured<GroupedProduct> grouped;

  Measured<MatrixProduct> products(OperatorPrecision p) const override { return of(p, product); }
  Measured<Attention> attention(OperatorPrecision p) const override { return of(p, core); }
  Measured<LatentCore> latent_attention(OperatorPrecision p) const override { return of(p, latent); }
  Measured<Attention> training_attention(OperatorPrecision p) const override { return of(p, training); }
  Measured<LatentCore> training_latent_attention(OperatorPrecision p) const override { return of(p, training_latent); }
  Measured<DecodeAttention> decode_attention(OperatorPrecision p, bool latent) const override {
    return of(p, latent ? decode_latent : decode);
  }
  Measured<GroupedProduct> grouped_products(OperatorPrecision p) const override { return of(p, grouped); }

 private:
  template <class T>
  static Measured<T> of(OperatorPrecision wanted, const Measured<T>& all) {
    return wanted == OperatorPrecision::kBf16 ? all : Measured<T>{};
  }
};

OperatorTimes times(const Literal& rows, workload::WaveTiles tiles = {}, bool borrowed = false,
                    OperatorRoofline on = kDevice) {
  return OperatorTimes(
      on, std::make_shared<const OperatorTables>(kDevice, std::move(tiles), std::make_unique<const Literal>(rows)),
      borrowed);
}

MatrixProduct product(std::int64_t m, std::int64_t n, std::int64_t k) { return {OperatorPrecision::kBf16, m, n, k}; }
double microseconds(OperatorTime t) { return static_cast<double>(t.time.count()) / 1e6; }

DecodeAttention decode(std::int64_t batch, std::int64_t cached, bool latent = false) {
  return {OperatorPrecision::kBf16, batch, cached, 8, 2, 128, latent};
}

TEST(OperatorsOfDecoding, TimesAreTheRowsAndBetweenThem) {
  Literal rows;
  // Caches of 2 x 2 x 128 x 2 bytes a token: 1,024 B. 1,000 tokens of 4 sequences are 4.096 us at 1e6 B a microsecond.
  for (const std::int64_t cached : {100, 10'000}) {
    rows.decode.emplace_back(decode(4, cached), 2.0 * (1e-3 * 4.096 * static_cast<double>(cached) + 1.0));
    rows.decode_latent.emplace_back(decode(4, cached, true), 50.0);
  }
  const OperatorTimes t = times(rows);
  EXPECT_NEAR(microseconds(t.time(decode(4, 100))), 2.0 * 1.4096, 1e-4);
  EXPECT_EQ(t.time(decode(4, 100)).source, OperatorSource::kTable);
  const OperatorTime between = t.time(decode(4, 1000));
  EXPECT_EQ(between.source, OperatorSource::kInterpolated);
  EXPECT_GT(microseconds(between), 2.9);
  EXPECT_LT(microseconds(between), 82.0);
  DecodeAttention wide = decode(4, 100);
  wide.head_dim = 256;
  EXPECT_EQ(t.time(wide).source, OperatorSource::kExtrapolated);
  EXPECT_NEAR(microseconds(t.time(decode(4, 10'000, true))), 50.0, 1e-3);
  EXPECT_EQ(OperatorTimes(kDevice).time(decode(4, 100)).source, OperatorSource::kRoofline);
  // 4 x 8 heads x 1,000 x 4 x 128 FLOPs, or 4 x 1,000 x 1,024 B.
  EXPECT_DOUBLE_EQ(operator_flops(decode(4, 1000)), 16'384'000.0);
  EXPECT_DOUBLE_EQ(operator_bytes(decode(4, 1000)), 4'096'000.0);
  EXPECT_DOUBLE_EQ(operator_bytes(decode(4, 1000, true)), 4.0 * 1000 * 576 * 2);
  DecodeAttention none = decode(4, 0);
  EXPECT_THROW(static_cast<void>(t.time(none)), ConfigError);
}

TEST(OperatorRooflines, AProductTakesItsFlopsOrItsBytes) {
  const OperatorTimes t{kDevice};
  // 2 x 1000^3 FLOPs at 1e8 a microsecond; its 6e6 bytes would take 6 us.
  EXPECT_DOUBLE_EQ(microseconds(t.time(product(1000, 1000, 1000))), 20.0);
  EXPECT_EQ(t.time(product(1000, 1000, 1000)).source, OperatorSource::kRoofline);
  // 2e6 FLOPs take 0.02 us; 2 x (1e6 + 2,000) bytes at 1e6 a microsecond 2.004 us.
  EXPECT_DOUBLE_EQ(microseconds(t.time(product(1, 1000, 1000))), 2.004);
  // fp8 at twice the rate; no fp4 here, so that it computes as fp8.
  EXPECT_DOUBLE_EQ(microseconds(t.time(MatrixProduct{OperatorPrecision::kFp8, 1000, 1000, 1000})), 10.0);
  EXPECT_DOUBLE_EQ(microseconds(t.time(MatrixProduct{OperatorPrecision::kFp4, 1000, 1000, 1000})), 10.0);
}

TEST(OperatorRooflines, MemoryBoundOnesTakeBytesAndLaunches) {
  const OperatorTimes t{kDevice};
  // 8e6 bytes at 0.8 of 1e6 bytes a microsecond, and 3 us for each of two kernels.
  EXPECT_DOUBLE_EQ(microseconds(t.time(MemoryBound{8'000'000, 2})), 16.0);
  EXPECT_DOUBLE_EQ(microseconds(t.time(MemoryBound{8'000'000, 0})), 10.0);
  // Of them 2e6 bytes one element at a time: here at 0.25e6 bytes a microsecond, and where that is more, as the others.
  OperatorRoofline slow = kDevice;
  slow.element_gb_per_s = 250.0;
  EXPECT_DOUBLE_EQ(microseconds(OperatorTimes{slow}.time(MemoryBound{8'000'000, 2, 2'000'000})), 6.0 + 7.5 + 8.0);
  EXPECT_DOUBLE_EQ(microseconds(t.time(MemoryBound{8'000'000, 2, 2'000'000})), 16.0);
  EXPECT_EQ(t.time(MemoryBound{1, 1}).source, OperatorSource::kRoofline);
}

TEST(OperatorRooflines, FlopsAreThoseOfThePapers) {
  Attention a;
  a.batch = 2;
  a.heads = 4;
  a.kv_heads = 1;
  a.head_dim = 64;
  a.queries = a.keys = 1024;
  EXPECT_DOUBLE_EQ(operator_flops(a), 4.0 * 2 * 4 * 1024 * 1024 * 64 / 2);  // causal: half
  a.backward = true;
  EXPECT_DOUBLE_EQ(operator_flops(a), 2.5 * 4.0 * 2 * 4 * 1024 * 1024 * 64 / 2);
  a.backward = false;
  a.window = 128;  // each query sees 128 keys, but the first 128 fewer: 128 x 1024 - 128^2 / 2 pairs
  EXPECT_DOUBLE_EQ(operator_flops(a), 4.0 * 2 * 4 * (128.0 * 1024 - 128.0 * 128 / 2) * 64);
  a.window = 0;
  a.keys = 2048;  // a block of context parallelism: nothing is hidden
  EXPECT_DOUBLE_EQ(operator_flops(a), 4.0 * 2 * 4 * 1024 * 2048 * 64);
  const GroupedProduct g{OperatorPrecision::kBf16, 100, 64, 32, 4, 2, 8};
  EXPECT_DOUBLE_EQ(operator_flops(g), 6.0 * 100 * 64 * 32);
  LatentCore l;
  l.heads = 2;
  l.queries = l.keys = 100;
  EXPECT_DOUBLE_EQ(operator_flops(l), 2.0 * 2 * 100 * 100 * (192 + 128) / 2);
}

TEST(OperatorRooflines, SizesArePositive) {
  const OperatorTimes t{kDevice};
  EXPECT_THROW(static_cast<void>(t.time(product(0, 1, 1))), ConfigError);
  EXPECT_THROW(static_cast<void>(t.time(MemoryBound{-1, 1})), ConfigError);
  EXPECT_THROW(static_cast<void>(t.time(MemoryBound{1, 1, 2})), ConfigError);
  EXPECT_THROW(static_cast<void>(t.time(Attention{OperatorPrecision::kBf16, 1, 0})), ConfigError);
}

/// Products of 1000 x 1000 x {1000, 2000, 4000}, of which the second may be missing.
Literal three_products(bool all) {
  Literal rows;
  rows.product = {{product(1000, 1000, 1000), 40.0}, {product(4000, 1000, 1000), 100.0}};
  if (all) rows.product.push_back({product(2000, 1000, 1000), 70.0});
  return rows;
}

TEST(OperatorTables, SayWhatWasMeasured) {
  const OperatorTimes t = times(three_products(true));
  const OperatorTime found = t.time(product(2000, 1000, 1000));
  EXPECT_NEAR(microseconds(found), 70.0, 1e-4);
  EXPECT_EQ(found.source, OperatorSource::kTable);
}

TEST(OperatorTables, InterpolateTheRatioInTheLogarithmOfTheSize) {
  const OperatorTimes t = times(three_products(false));
  // Rooflines 20, 40 and 80 us, and 40 us of the smallest row: 40 / 60 at 1,000 rows and 100 / 120 at 4,000. Halfway in the
  // logarithm, at 2,000, sqrt(2/3 x 5/6) of 80 us.
  const OperatorTime found = t.time(product(2000, 1000, 1000));
  EXPECT_NEAR(microseconds(found), 80.0 * std::sqrt(2.0 / 3.0 * 5.0 / 6.0), 1e-4);
  EXPECT_EQ(found.source, OperatorSource::kInterpolated);
}

TEST(OperatorTables, SayThatTheyExtrapolate) {
  const OperatorTimes t = times(three_products(true));
  // The ratio of the last row, 100 / 120, of 160 + 40 us.
  const OperatorTime found = t.time(product(8000, 1000, 1000));
  EXPECT_NEAR(microseconds(found), 200.0 * 100.0 / 120.0, 1e-4);
  EXPECT_EQ(found.source, OperatorSource::kExtrapolated);
  EXPECT_EQ(t.time(product(2000, 1000, 999)).source, OperatorSource::kExtrapolated);
}

TEST(OperatorTables, FillAHoleFromTheOtherSizes) {
  Literal rows;
  // Twice the roofline everywhere; one position of the grid was not measured.
  for (const std::int64_t m : {1024, 2048, 4096}) {
    for (const std::int64_t k : {1024, 2048, 4096}) {
      const double roofline = 2.0 * static_cast<double>(m * k) * 1024.0 / 1e8;
      if (m != 2048 || k != 2048) rows.product.push_back({product(m, 1024, k), 2.0 * roofline});
    }
  }
  // With x the roofline and s = 42.95 us the smallest time, ratios are 2 x / (x + s). On each line through the hole x
  // is 42.95 and 171.8 us at its ends, so that the ratios are 1 and 1.6: sqrt(1.6) of 85.9 + 42.95 us.
  const OperatorTime found = times(rows).time(product(2048, 1024, 2048));
  EXPECT_NEAR(microseconds(found), std::sqrt(1.6) * 3.0 * 2.0 * 1024 * 1024 * 1024 / 1e8 * 2.0, 1e-3);
  EXPECT_EQ(found.source, OperatorSource::kInterpolated);
}

TEST(OperatorTables, AnotherGpuHasTheirShareOfItsOwnRoofline) {
  OperatorRoofline faster = kDevice;
  faster.bf16_tflops = 200.0;
  const OperatorTime found = times(three_products(true), {}, true, faster).time(product(4000, 1000, 1000));
  EXPECT_NEAR(microseconds(found), (40.0 + 40.0) * 100.0 / 120.0, 1e-4);  // half of 80 us, the same ratio
  EXPECT_EQ(found.source, OperatorSource::kExtrapolated);
}

TEST(OperatorTables, WavesOfTilesAreFilledOrNot) {
  // 10 multiprocessors, tiles of 100 x 100: 1000 x 1000 are 100 tiles in 10 waves; one more row makes 110 in 11; 110 tiles
  // compute 1.1e6 elements for 1.001e6.
  const workload::WaveTiles tiles{10, {{100, 100, 1.0}}};
  EXPECT_DOUBLE_EQ(tiles.waste(1000, 1000), 1.0);
  EXPECT_DOUBLE_EQ(tiles.waste(1001, 1000), 1.1e6 / 1.001e6);
  EXPECT_DOUBLE_EQ(workload::WaveTiles{}.waste(1001, 1000), 1.0);
  // A slower kernel with smaller tiles is taken where it wastes less: 10 x 100 elements in one wave of ten 10 x 10 tiles.
  const workload::WaveTiles two{10, {{100, 100, 1.0}, {10, 10, 1.5}}};
  EXPECT_DOUBLE_EQ(two.waste(10, 100), 1.5);
  EXPECT_DOUBLE_EQ(two.waste(1000, 1000), 1.0);
  const OperatorTimes t = times(three_products(true), tiles);
  EXPECT_GT(t.time(product(2001, 1000, 1000)).time, t.time(product(2000, 1000, 1000)).time);
}

TEST(OperatorTables, OddRowsAreRowsOfTheirOwn) {
  Literal rows = three_products(true);
  rows.product.push_back({product(1001, 1000, 1000), 60.0});
  rows.product.push_back({product(2001, 1000, 1000), 110.0});
  const OperatorTimes t = times(rows);
  EXPECT_NEAR(microseconds(t.time(product(1001, 1000, 1000))), 60.0, 1e-4);
  EXPECT_GT(microseconds(t.time(product(1501, 1000, 1000))), 80.0);  // between 60 and 110
  EXPECT_LT(microseconds(t.time(product(1502, 1000, 1000))), 60.0);  // between 40 and 70
}

TEST(OperatorTables, AttentionBackwardComesFromForward) {
  Literal rows;
  Attention a;
  a.heads = 8;
  a.kv_heads = 8;
  for (const std::int64_t s : {1024, 4096}) {
    a.queries = a.keys = s;
    rows.core.push_back({a, 2.0 * operator_flops(a) / 1e8});
  }
  const OperatorTimes t = times(rows);
  EXPECT_EQ(t.time(a).source, OperatorSource::kTable);
  a.backward = true;
  // 2.5 times the FLOPs at 63/73 of the rate. With u the roofline of the short one, the smallest time is 2 u and the
  // roofline of the long one 16 u, of which it takes 32 u: a ratio of 32 / 18 to (16 x 2.5 x 73 / 63 + 2) u.
  const double u = operator_flops(rows.core.front().first) / 1e8;
  EXPECT_NEAR(microseconds(t.time(a)), 32.0 / 18.0 * (40.0 * 73.0 / 63.0 + 2.0) * u, 1e-3 * u);
  EXPECT_EQ(t.time(a).source, OperatorSource::kExtrapolated);
  a.backward = false;
  a.keys = 2 * a.queries;
  EXPECT_EQ(t.time(a).source, OperatorSource::kExtrapolated);
  a.keys = a.queries;
  a.window = 128;
  EXPECT_EQ(t.time(a).source, OperatorSource::kExtrapolated);
  a.window = 100'000;  // hides nothing
  EXPECT_EQ(t.time(a).source, OperatorSource::kTable);
}

TEST(OperatorTables, AttentionOfTrainingIsWhatTrainingMeasured) {
  Literal rows;
  Attention a;
  a.heads = a.kv_heads = 8;
  for (const std::int64_t s : {1024, 4096}) {
    a.queries = a.keys = s;
    rows.core.push_back({a, 2.0 * operator_flops(a) / 1e8});
  }
  Attention wide = a;
  wide.heads = wide.kv_heads = 16;
  rows.core.push_back({wide, 3.0 * operator_flops(a) / 1e8});
  const double table = rows.core[1].second;
  rows.training.push_back({a, 0.5 * table});
  a.backward = true;
  rows.training.push_back({a, 4.0 * table});
  const OperatorTimes t = times(rows);
  EXPECT_NEAR(microseconds(t.time(a)), 4.0 * table, 1e-3 * table);
  EXPECT_EQ(t.time(a).source, OperatorSource::kTable);
  a.backward = false;
  EXPECT_NEAR(microseconds(t.time(a)), 0.5 * table, 1e-3 * table);
  // Shapes differ as the table says, half as long all of them.
  EXPECT_NEAR(microseconds(t.time(wide)), 0.5 * 1.5 * table, 1e-3 * table);
  a.window = 128;  // not measured: the table's own
  EXPECT_NEAR(microseconds(t.time(a)),
              microseconds(times([&] {
                             auto plain = rows;
                             plain.training.clear();
                             return plain;
                           }())
                               .time(a)),
              1e-6);
}

// A kernel that ignores its window takes as long as without one; only operators with a window hear of it.
TEST(OperatorTables, AttentionOfTrainingKnowsWindows) {
  Literal rows;
  Attention whole;
  whole.heads = whole.kv_heads = 8;
  whole.queries = whole.keys = 4096;
  Attention windowed = whole;
  windowed.window = 128;
  rows.core = {{whole, 1000.0}, {windowed, 100.0}};
  windowed.backward = true;
  rows.training.push_back({windowed, 2500.0});
  const OperatorTimes t = times(rows);
  EXPECT_NEAR(microseconds(t.time(windowed)), 2500.0, 1.0);
  EXPECT_EQ(t.time(windowed).source, OperatorSource::kTable);
  windowed.head_dim /= 2;  // the ratio of the nearest
  EXPECT_EQ(t.time(windowed).source, OperatorSource::kExtrapolated);
  whole.backward = true;
  Literal plain = rows;
  plain.training.clear();
  EXPECT_EQ(microseconds(t.time(whole)), microseconds(times(plain).time(whole)));
}

TEST(OperatorTables, ExpertsWithoutATableAreProductsOneAfterAnother) {
  Literal rows;
  for (const std::int64_t m : {100, 200}) {
    for (const std::int64_t n : {1000, 2000}) {
      for (const std::int64_t k : {1000, 2000}) {
        rows.product.push_back({product(m, n, k), 2.0 * static_cast<double>(m * n * k) / 1e8 * 2.0});
      }
    }
  }
  // 4 experts of 200 rows: up 200 x 2,000 x 1,000 and down 200 x 1,000 x 1,000, at half the roofline: 16 and 8 us each.
  const GroupedProduct op{OperatorPrecision::kBf16, 800, 1000, 1000, 4, 2, 16};
  const OperatorTime found = times(rows).time(op);
  EXPECT_NEAR(microseconds(found), 4.0 * (16.0 + 8.0), 1e-3);
  EXPECT_EQ(found.source, OperatorSource::kExtrapolated);
}

TEST(OperatorTables, ExpertsHaveACurveForEachShape) {
  Literal rows;
  GroupedProduct op{OperatorPrecision::kBf16, 1024, 1024, 512, 8, 2, 8};
  for (const std::int64_t pairs : {1024, 4096}) {
    op.pairs = pairs;
    rows.grouped.push_back({op, static_cast<double>(pairs)});
  }
  const OperatorTimes t = times(rows);
  EXPECT_NEAR(microseconds(t.time(op)), 4096.0, 0.01);
  EXPECT_EQ(t.time(op).source, OperatorSource::kTable);
  op.pairs = 2048;
  EXPECT_EQ(t.time(op).source, OperatorSource::kInterpolated);
  op.pass = GroupedProduct::Pass::kWeightGradient;
  EXPECT_EQ(t.time(op).source, OperatorSource::kExtrapolated);
  op.pass = GroupedProduct::Pass::kForward;
  op.pairs = 100'000;
  EXPECT_EQ(t.time(op).source, OperatorSource::kExtrapolated);
  op.pairs = 2048;
  op.hidden = 8192;  // a factor of 8
  EXPECT_EQ(t.time(op).source, OperatorSource::kExtrapolated);
}

}  // namespace
}  // namespace photonrail::test
