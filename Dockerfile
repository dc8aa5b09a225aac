# The command and the Python module, built from this checkout: docker build -t photonrail . && docker run --rm photonrail list controllers
FROM debian:12-slim AS build
COPY . /photonrail
WORKDIR /photonrail
RUN apt-get update && bash tools/setup && apt-get install -y --no-install-recommends pybind11-dev python3-dev dpkg-dev file \
    && cmake -S . -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release -DPHOTONRAIL_BUILD_TESTS=OFF -DPHOTONRAIL_PYTHON=ON \
    && cmake --build /build && cd /build && cpack -G DEB && mkdir /packages && mv *.deb /packages

FROM debian:12-slim
COPY --from=build /packages /packages
RUN apt-get update && apt-get install -y --no-install-recommends /packages/photonrail_*.deb /packages/python3-photonrail_*.deb \
    && rm -rf /var/lib/apt/lists/* /packages
WORKDIR /usr/share/photonrail
ENTRYPOINT ["photonrail"]
