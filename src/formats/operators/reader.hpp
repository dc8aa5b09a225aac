// Rows of tables as operators with their times.
#pragma once

#include "photonrail/workload/operators.hpp"
#include "workload/operators/tables.hpp"

#include <filesystem>
#include <string>
#include <utility>

namespace photonrail::formats::operators {

class FileReader final : public workload::OperatorTableReader {
 public:
  FileReader(std::string gpu, std::filesystem::path folder) : gpu_(std::move(gpu)), folder_(std::move(folder)) {}

  [[nodiscard]] workload::Measured<MatrixProduct> products(OperatorPrecision precision) const override;
  [[nodiscard]] workload::Measured<Attention> attention(OperatorPrecision precision) const override;
  [[nodiscard]] workload::Measured<LatentCore> latent_attention(OperatorPrecision precision) const override;
  [[nodiscard]] workload::Measured<Attention> training_attention(OperatorPrecision precision) const override;
  [[nodiscard]] workload::Measured<LatentCore> training_latent_attention(OperatorPrecision precision) const override;
  [[nodiscard]] workload::Measured<DecodeAttention> decode_attention(OperatorPrecision precision,
                                                                     bool latent) const override;
  [[nodiscard]] workload::Measured<GroupedProduct> grouped_products(OperatorPrecision precision) const override;

 private:
  std::string gpu_;
  std::filesystem::path folder_;
};

/// device.csv of a GPU.
struct Device {
  OperatorRoofline roofline;
  workload::WaveTiles tiles;
};
[[nodiscard]] Device read_device(const std::string& gpu, const std::filesystem::path& folder);

}  // namespace photonrail::formats::operators
