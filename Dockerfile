# Build: one static binary, no C library needed at run time.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/shardboard ./cmd/shardboard

# Run: nothing but the binary and the certificate roots, as a user without rights.
# Until there is sign-in the server listens on loopback only: run it with the
# host's network (docker run --network host).
FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/shardboard /shardboard
USER 65532:65532
EXPOSE 8090
HEALTHCHECK --interval=15s --timeout=3s CMD ["/shardboard", "healthcheck"]
ENTRYPOINT ["/shardboard"]
CMD ["serve"]
