# Spack: put this file into a repository's packages/photonrail/ (spack repo create).
from spack.package import *


class Photonrail(CMakePackage):
    """Simulates ML training on photonic rails: a C++20 library, a command and a Python module."""

    homepage = "https://photonrail.invalid"
    license("Apache-2.0")

    version("0.1.0")

    variant("tools", default=True, description="Build the photonrail command")
    variant("python", default=False, description="Build the Python module")

    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("boost@1.74:+graph", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("protozero", type="build")
    depends_on("zlib-api")
    depends_on("yaml-cpp")
    depends_on("pugixml@1.11:")
    depends_on("sqlitecpp")
    depends_on("cli11", type="build", when="+tools")
    depends_on("spdlog", when="+tools")
    depends_on("py-pybind11@2.10:", type="build", when="+python")
    depends_on("googletest", type="build", when="+python")
    depends_on("python@3.9:", type=("build", "run"), when="+python")
    depends_on("py-numpy", type=("build", "run"), when="+python")
    depends_on("py-pandas", type=("build", "run"), when="+python")

    def cmake_args(self):
        return [
            self.define_from_variant("PHOTONRAIL_BUILD_TOOLS", "tools"),
            self.define("PHOTONRAIL_PYTHON", "ON" if "+python" in self.spec else "OFF"),
            self.define("PHOTONRAIL_BUILD_TESTS", False),
            self.define("PHOTONRAIL_REPORT_PAGE", False),
        ]
