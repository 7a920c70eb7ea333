# The base image of the build is pinned by its version, and what it compiles does not depend on anything else in it:
# Go's own release decides the bytes, and scripts/release makes the same program without Docker. To pin the image by
# digest too, build with --build-arg GO_IMAGE=golang:1.26.8-bookworm@sha256:… of the registry that you trust.
ARG GO_IMAGE=golang:1.26.8-bookworm

# Build: one static binary. It needs no C library, certificates or time zones at run time; the latter two are in it.
FROM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -gcflags=all=-dwarf=false -ldflags "-s -w -buildid= -X main.version=${VERSION}" \
    -o /out/shardboard ./cmd/shardboard
RUN mkdir -m 700 -p /out/data /out/keys /out/tmp

# Run: nothing but the binary, as a user without rights. The root file system may be read-only.
# It listens on loopback (docker run --network host) until it is told how people
# sign in and who does TLS; the healthcheck then asks --ops-listen by
# SHARDBOARD_SERVER=http://127.0.0.1:8091. Keep /data and, apart from it, /keys: both
# have to belong to user 65532 alone, as named volumes do by themselves (docs/data.md).
FROM scratch
ARG VERSION=dev
LABEL org.opencontainers.image.title="shardboard" \
      org.opencontainers.image.description="The dashboard for sharded MongoDB" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"
COPY --from=build /out/shardboard /shardboard
COPY --from=build --chown=65532:65532 /out/data /data
COPY --from=build --chown=65532:65532 /out/keys /keys
COPY --from=build --chown=65532:65532 /out/tmp /tmp
ENV SHARDBOARD_DATA_DIR=/data SHARDBOARD_AUDIT_KEY=/keys/audit.key
VOLUME ["/data", "/keys"]
WORKDIR /
USER 65532:65532
EXPOSE 8090 8091
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=3s --start-period=10s CMD ["/shardboard", "healthcheck"]
ENTRYPOINT ["/shardboard"]
CMD ["serve"]
