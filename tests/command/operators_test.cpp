#include "command/command.hpp"

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Command, OperatorTablesAreListedCheckedAndImported) {
  const Outcome info = run("operators info h100");
  ASSERT_EQ(info.status, 0) << info.err;
  EXPECT_THAT(unbroken(info.out), HasSubstr("built in: h100/products_bf16"));
  EXPECT_THAT(info.out, Not(HasSubstr("a100")));
  std::ofstream(folder_ / "t.csv")
      << "# photonrail.operators/1\n# gpu: x1\n# kind: latent_attention\n# precision: bf16\n# source: a "
         "bench\nheads,batch,sequence,time_s\n1,1,1024,1e-5\n1,1,2048,2e-5\n1,1,4096,8e-5\n";
  const Outcome imported = run("operators import t.csv -o tables");
  ASSERT_EQ(imported.status, 0) << imported.err;
  EXPECT_EQ(imported.out, "wrote tables/x1/latent_attention_bf16.csv, 3 rows\n");
  EXPECT_EQ(run("operators check x1 --tables tables").status, 2);  // no datasheet to compare with
  std::ofstream(folder_ / "tables/x1/device.csv")
      << "# photonrail.operators/1\n# kind: device\nquantity,value\nbf16_tflops,1000\nmemory_gb_per_s,3000\n";
  const Outcome check = run("operators check x1 --tables tables");
  ASSERT_EQ(check.status, 0) << check.err;
  EXPECT_THAT(check.out, HasSubstr("latent_attention  bf16"));
  const Outcome unknown = run("operators info k80");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("known: a100"));
}

}  // namespace
}  // namespace photonrail::test
