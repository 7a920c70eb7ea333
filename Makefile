# Two commands do all their own set-up: `make demo` and `make test`.
# What each needs (a C compiler for the race detector, Chromium for the browser
# smoke test) is installed by scripts/setup where that is possible, else it says how.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  = -s -w -X main.version=$(VERSION)
TEMPL    = $(GO) tool -modfile=tools/go.mod templ
STATIC   = $(GO) tool -modfile=tools/go.mod staticcheck

.PHONY: build demo test test-all fuzz long bench generate format check-format check-generated vet unit browser setup clean

build: ## the one binary: bin/shardboard
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/shardboard ./cmd/shardboard

demo: build ## a live dashboard over a simulated sharded cluster full of Yorkie-shaped data
	./bin/shardboard demo

test: setup check-format check-generated vet unit browser ## what every change must pass, within 8 minutes

setup:
	@sh scripts/setup

check-format:
	@bad=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go' | grep -v _templ.go)); if [ -n "$$bad" ]; then echo "not gofmt'ed: $$bad"; exit 1; fi

check-generated:
	@sh scripts/check-generated

vet:
	$(GO) vet ./...
	$(STATIC) ./...

# The packages that simulate or drive whole clusters run their long tests without
# the race detector here, and with it in test-all.
HEAVY = ./internal/simcluster/... ./internal/cluster ./internal/conformance ./internal/actions/enginetest ./internal/app ./internal/heat/survey ./web

unit:
	$(GO) test -race -timeout 6m $$($(GO) list ./... | grep -v -e /internal/simcluster -e /internal/cluster -e /internal/conformance -e /enginetest -e /internal/app -e /heat/survey -e 'shardboard/web$$')
	$(GO) test -race -short -timeout 6m $(HEAVY)
	$(GO) test -timeout 6m $(HEAVY)
	$(GO) test -run TestLocateNamesTheShardThatExplainTargets ./internal/placement

# What people do most; test-all has every browser test.
browser: build
	SHARDBOARD_BROWSER=1 $(GO) test -count=1 -timeout 4m -run 'BrowserSplits|BrowserSigns|BrowserShowsEveryPage|BrowserSees|BrowserSays|BrowserReadsEvery' ./internal/app/

test-all: setup ## longer runs; within 40 minutes
	sh scripts/setup-node
	cd tools && npx --no-install tsc -p .
	SHARDBOARD_BROWSER=1 SHARDBOARD_LONG=1 $(GO) test -count=1 -timeout 15m -run 'Browser' ./internal/app/
	$(GO) test -race -timeout 15m $(HEAVY)
	SHARDBOARD_LONG=1 $(GO) test -timeout 25m $$($(GO) list ./... | grep -v /test/)
	sh scripts/outside-clients
	$(GO) test -run '^$$' -bench . -benchtime 10x ./...

# Not part of test-all: what a fuzzer finds by chance must not fail a change that
# has nothing to do with it. What it found before is replayed by every test run.
fuzz: ## every fuzz target for a while: make fuzz TIME=5m
	sh scripts/fuzz $(or $(TIME),20s)

long: setup ## what takes hours; output goes to docs/long-runs.md
	sh scripts/long

bench: ## figures, as ratios within one run where two things are compared
	$(GO) test -run '^$$' -bench . -benchmem ./...

generate: ## templ components
	$(TEMPL) generate

format:
	gofmt -w $$(git ls-files -co --exclude-standard '*.go' | grep -v _templ.go)
	$(TEMPL) fmt web/templates

clean:
	rm -rf bin
