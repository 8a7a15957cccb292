package adversary_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/semver"

	"github.com/meshproof/meshproof/internal/adversary"
	"github.com/meshproof/meshproof/internal/envoy"
)

var golden = filepath.Join("testdata", "measured.txt")

// preface explains the golden file.
var preface = fmt.Sprintf(`# What Envoy does with the attacks of this package, measured on a running Envoy of each version.
# go test ./internal/adversary -rewrite measures all versions again, and go test measures one.
#
# A cell has the answer of the caller (an HTTP status; closed; handshake for a TLS alert), the policy
# that decided ("none" when no policy matched, nothing when no policy was asked), and then the request
# that the upstream saw, if any. After an allow, a status without such a request is a later refusal: 404
# of Envoy without a route, 400 and 502 of the upstream (Go's net/http), 503 of the upstream connection.
#
# victim is %s, attacker
# %s; the path %s, the method %s and the header
# %s: %s are protected. Columns with "matcher" use xDS matchers, columns with "rules" use the
# RBAC rules of envoy.config.rbac.v3. The rules on identities only allow, as in GEP-3779, so a deny is
# an allow of all other callers. The rules on headers have either action. "+h2" marks a line that is
# the same over HTTP/2.
`, victim, attacker, protectedPath, protectedMethod, protectedHeader, protectedValue)

const (
	measuredOn      = "# Measured on "
	identitiesTitle = "identities, by policy on the victim; xfcc is the header of the upstream without a policy"
	requestsTitle   = "requests, by policy on path and method; allow-both allows only both together"
	headersTitle    = "headers, by policy on the header"
)

// measured has the results of one version.
type measured struct {
	identities []claim
	requests   []attempt
	headers    []attempt
}

func measure(t *testing.T, version string) measured {
	t.Helper()
	l := startLab(t, version, requestFilters(t))
	return measured{
		identities: measureIdentities(t, version, append(soundIdentities(), adversary.Identities(victim)...)),
		requests:   measureRequests(t, l, append(plainRequests(), adversary.Requests(protectedMethod, protectedPath)...), requestColumns),
		headers:    measureRequests(t, l, append(plainHeaderRequests(), adversary.Headers(protectedHeader, protectedValue)...), headerColumns),
	}
}

func (m measured) tables() []table {
	return []table{
		tabulateIdentities(m.identities),
		tabulate(requestsTitle, requestColumns, m.requests),
		tabulate(headersTitle, headerColumns, m.headers),
	}
}

// render writes the golden file of several versions.
func render(versions []string, tables map[string][]table) string {
	var w strings.Builder
	w.WriteString(preface)
	fmt.Fprintf(&w, "%s%s.\n", measuredOn, strings.Join(versions, ", "))
	for i, first := range tables[versions[0]] {
		var sameTable []table
		for _, v := range versions {
			sameTable = append(sameTable, tables[v][i])
		}
		merge(&w, versions, sameTable)
		for _, note := range notes(first.title, sameTable) {
			w.WriteString(note + "\n")
		}
	}
	return w.String()
}

// measuredVersions returns the versions of a golden file.
func measuredVersions(text string) []string {
	for line := range strings.Lines(text) {
		if list, ok := strings.CutPrefix(line, measuredOn); ok {
			return strings.Split(strings.TrimSuffix(list, ".\n"), ", ")
		}
	}
	return nil
}

// TestMeasured compares the results of Envoy with the golden file, and checks the facts
// that hold on every version.
func TestMeasured(t *testing.T) {
	t.Parallel()
	versions := []string{testedVersion()}
	if *rewrite {
		versions = versions[:0]
		for _, release := range must(envoy.List())(t) {
			versions = append(versions, release.Version)
		}
		slices.SortFunc(versions, func(a, b string) int { return semver.Compare("v"+a, "v"+b) })
	}
	tables := map[string][]table{}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			m := measure(t, version)
			tables[version] = m.tables()
			t.Run("identities", func(t *testing.T) { checkIdentities(t, m.identities) })
			t.Run("requests", func(t *testing.T) { checkRequests(t, m.requests) })
			t.Run("headers", func(t *testing.T) { checkHeaders(t, m.headers) })
		})
	}
	if t.Failed() {
		return
	}
	if *rewrite {
		if err := os.WriteFile(golden, []byte(render(versions, tables)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text := string(must(os.ReadFile(golden))(t))
	checkGolden(t, text)
	for _, version := range versions {
		if !slices.Contains(measuredVersions(text), version) {
			t.Errorf("%s has no column for Envoy %s: rerun with -rewrite", golden, version)
			continue
		}
		one := []string{version}
		want := render(one, map[string][]table{version: readTables(text, version)})
		if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(render(one, tables), "\n")); diff != "" {
			t.Errorf("Envoy %s: rerun with -rewrite if this is meant (-golden +measured):\n%s", version, diff)
		}
	}
}

// checkGolden finds a file that was edited by hand: its notes must follow from its tables.
func checkGolden(t *testing.T, text string) {
	versions := measuredVersions(text)
	if len(versions) == 0 {
		t.Fatalf("%s names no versions: rerun with -rewrite", golden)
	}
	tables := map[string][]table{}
	for _, v := range versions {
		tables[v] = readTables(text, v)
	}
	if diff := cmp.Diff(strings.Split(render(versions, tables), "\n"), strings.Split(text, "\n")); diff != "" {
		t.Errorf("%s was edited: rerun with -rewrite (-tables +file):\n%s", golden, diff)
	}
}
