# Conan 2: conan create packaging/conan, from a checkout.
import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout


class Photonrail(ConanFile):
    name = "photonrail"
    version = "0.1.0"
    license = "Apache-2.0"
    description = "Simulates ML training on photonic rails"
    settings = "os", "compiler", "build_type", "arch"
    requires = ("zlib/[>=1.2.13]", "yaml-cpp/[>=0.7]", "pugixml/[>=1.11]", "sqlitecpp/[>=3.2]")
    build_requires = ("boost/[>=1.74]", "nlohmann_json/[>=3.11]", "protozero/[>=1.7]")

    def export_sources(self):
        from conan.tools.files import copy
        root = os.path.join(self.recipe_folder, "..", "..")
        for part in ("CMakeLists.txt", "LICENSE", "include/*", "src/*", "tools/*", "configs/*", "python/*"):
            copy(self, part, root, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for option in ("PHOTONRAIL_BUILD_TOOLS", "PHOTONRAIL_BUILD_TESTS", "PHOTONRAIL_REPORT_PAGE"):
            toolchain.cache_variables[option] = False
        toolchain.cache_variables["PHOTONRAIL_PYTHON"] = "OFF"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        self.cpp_info.libs = ["photonrail"]
        self.cpp_info.system_libs = ["pthread"]
