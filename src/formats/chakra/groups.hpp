// The communicator groups of a trace: from the groups file, from metadata nodes, and the world.
#pragma once

#include "formats/chakra/rank_traces.hpp"
#include "json/json_reader.hpp"
#include "photonrail/formats/trace.hpp"
#include "photonrail/task_graph.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::formats::chakra {

using json::JsonReader;

struct Group {
  std::vector<RankId> members;                 ///< ascending
  std::optional<CommunicatorId> communicator;  ///< none in a group of one
  bool from_file = false;                      ///< the user's own word, which stands where metadata says something else
};

/// Numbers by value, then words.
struct NaturalOrder {
  using is_transparent = void;
  [[nodiscard]] bool operator()(std::string_view a, std::string_view b) const;
};

class Groups {
 public:
  /// Adds a communicator to `builder` for every group of two or more. Throws ConfigError.
  Groups(const ChakraOptions& options, const std::vector<std::filesystem::path>& files,
         const std::vector<RankTrace>& traces, TaskGraphBuilder& builder);

  /// Returns what a pg_name means; nullptr when it means nothing. "" is the world, and so is "0" unless it is defined; a
  /// group "0" of all ranks is the world.
  [[nodiscard]] const Group* find(std::string_view pg_name);
  [[nodiscard]] std::string known() const;
  [[nodiscard]] Dimension link_dimension() const { return link_dimension_; }

 private:
  using Members = std::map<std::string, Group, NaturalOrder>;
  void read_file_groups(const std::filesystem::path& file);
  void read_text_groups(const std::vector<GroupText>& texts);
  void define(const JsonReader& place, const std::string& name, std::vector<RankId> members, bool from_file);
  void check_dimensions() const;
  [[nodiscard]] Dimension dimension_of(const std::string& group) const;
  void add_communicator(const std::string& name, Group& group);

  std::size_t ranks_;
  TaskGraphBuilder& builder_;
  const std::map<std::string, Dimension>& dimensions_;
  Dimension link_dimension_ = Dimension::kOther;
  Members groups_;
  std::string world_ = "world";  // its name
};

}  // namespace photonrail::formats::chakra
