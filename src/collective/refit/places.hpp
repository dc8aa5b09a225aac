// The servers of a refit's members.
#pragma once

#include "photonrail/collective/traffic_matrix.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <vector>

namespace photonrail::collective {

class RefitPlaces {
 public:
  explicit RefitPlaces(std::span<const std::uint32_t> servers) {
    std::map<std::uint32_t, std::uint32_t> number_of;
    for (const std::uint32_t server : servers) {
      const std::uint32_t number =
          number_of.try_emplace(server, static_cast<std::uint32_t>(number_of.size())).first->second;
      if (number == members_of_.size()) members_of_.emplace_back();
      server_of_.push_back(number);
      rail_of_.push_back(static_cast<std::uint32_t>(members_of_[number].size()));
      members_of_[number].push_back(static_cast<Member>(server_of_.size() - 1));
    }
    rails_ = static_cast<std::uint32_t>(members_of_.front().size());
    for (const auto& members : members_of_) rails_ = std::min(rails_, static_cast<std::uint32_t>(members.size()));
  }

  /// Servers in the order in which members come.
  [[nodiscard]] std::uint32_t server(Member m) const { return server_of_[m]; }
  [[nodiscard]] std::uint32_t rail(Member m) const { return rail_of_[m]; }
  [[nodiscard]] const std::vector<std::vector<Member>>& servers() const { return members_of_; }
  /// Rails on which every server has a member.
  [[nodiscard]] std::uint32_t rails() const { return rails_; }
  /// The member of the server on the rail; where it has none, another.
  [[nodiscard]] Member at(std::uint32_t server, std::uint32_t rail) const {
    return members_of_[server][rail % members_of_[server].size()];
  }

 private:
  std::vector<std::uint32_t> server_of_;
  std::vector<std::uint32_t> rail_of_;
  std::vector<std::vector<Member>> members_of_;
  std::uint32_t rails_ = 1;
};

}  // namespace photonrail::collective
