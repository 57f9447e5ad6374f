# The README's commands in a container. No image can be built where bugzoo is developed, so this file was never run there.
#   docker build -t bugzoo .
#   docker run --rm -it -p 9000:9000 bugzoo
FROM python:3.11-slim
RUN apt-get update && apt-get install --yes --no-install-recommends git make && rm -rf /var/lib/apt/lists/*
WORKDIR /bugzoo
COPY . .
# PyTorch's build for the CPU makes a small image: --build-arg TORCH_INDEX=URL (docs/portable.md). pip keeps no second copy
ARG TORCH_INDEX
ENV PIP_NO_CACHE_DIR=1
RUN make install
# A container has no browser to open; the sandbox for hand-ins needs `--privileged`
CMD ["make", "lab", "LAB_ARGS=--no-browser --port 9000 --ip 0.0.0.0 --allow-root"]
