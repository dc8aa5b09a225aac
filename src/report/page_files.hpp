// What the page of a report is made of, bundled from src/report/page by the build.
#pragma once

#include <string_view>

namespace photonrail::report {

struct PageFiles {
  std::string_view page;  ///< HTML with <!--title-->, <!--subtitle-->, <!--document--> and <!--script-->, once each or more
  std::string_view script;   ///< JavaScript that defines `photonrail`: start() for a page, files(document, format) for Node
  std::string_view missing;  ///< why there is no page in this build; empty when there is one
};
[[nodiscard]] PageFiles page_files();

}  // namespace photonrail::report
