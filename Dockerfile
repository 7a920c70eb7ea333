# Build: one static binary, no C library needed at run time.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/shardboard ./cmd/shardboard
RUN mkdir -m 700 -p /out/data /out/keys /out/tmp

# Run: nothing but the binary and the certificate roots, as a user without rights.
# It listens on loopback (docker run --network host) until it is told how people
# sign in and who does TLS; the healthcheck then asks --ops-listen by
# SHARDBOARD_SERVER=http://127.0.0.1:8091. Keep /data and, apart from it, /keys: both
# have to belong to user 65532 alone, as named volumes do by themselves (docs/files.md).
FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/shardboard /shardboard
COPY --from=build --chown=65532:65532 /out/data /data
COPY --from=build --chown=65532:65532 /out/keys /keys
COPY --from=build --chown=65532:65532 /out/tmp /tmp
ENV SHARDBOARD_DATA_DIR=/data SHARDBOARD_AUDIT_KEY=/keys/audit.key
VOLUME ["/data", "/keys"]
USER 65532:65532
EXPOSE 8090
HEALTHCHECK --interval=15s --timeout=3s CMD ["/shardboard", "healthcheck"]
ENTRYPOINT ["/shardboard"]
CMD ["serve"]
