# An image with everything: docker build -t blanketflow . (docs/environments.md says how it is run)
# The tag names what is newest; docs/environments.md says how to build on one image for good, by its digest.
ARG BASE=debian:bookworm-slim
FROM ${BASE}
COPY Makefile pyproject.toml README.md LICENSE Snakefile config.yaml /opt/blanketflow/
COPY config /opt/blanketflow/config
COPY docs /opt/blanketflow/docs
COPY envs /opt/blanketflow/envs
COPY profiles /opt/blanketflow/profiles
COPY rules /opt/blanketflow/rules
COPY scripts /opt/blanketflow/scripts
COPY src /opt/blanketflow/src
RUN sh /opt/blanketflow/envs/fill-image
ENV PATH=/opt/blanketflow/.venv/bin:$PATH HOME=/home/blanketflow USER=blanketflow
USER 1000
WORKDIR /study
ENTRYPOINT ["blanketflow"]
CMD ["--help"]
