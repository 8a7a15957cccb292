package legacy_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/legacy"
)

// TestEveryClient asks both compilers about every client that the fixtures can distinguish.
// Each key is absent, has each named value, or has another value.
func TestEveryClient(t *testing.T) {
	t.Parallel()
	dev, prod := legacy.Label("env", "dev"), legacy.Label("env", "prod")
	fixtures := maps.Clone(examples)
	fixtures["a deny between two allows"] = []legacy.Item{
		{Action: legacy.Allow},
		{Tags: []legacy.Tag{dev}, Action: legacy.Deny},
		{Tags: []legacy.Tag{prod}, Action: legacy.Allow},
	}
	fixtures["two meshes"] = []legacy.Item{
		{Tags: []legacy.Tag{legacy.Member("consume")}, Action: legacy.Deny},
		{Tags: []legacy.Tag{legacy.Service("consume", "backend")}, Action: legacy.Allow},
		{Tags: []legacy.Tag{legacy.Service("consume", "backend"), legacy.Label("version", "v1")}, Action: legacy.DenyWithShadowAllow},
		{Tags: []legacy.Tag{legacy.Service("expose", "web")}, Action: legacy.AllowWithShadowDeny},
	}
	for name, items := range fixtures {
		all := everyClient(items)
		for _, opts := range []legacy.Options{{}, {Precise: true}, {Compiler: legacy.Full}, {Compiler: legacy.Full, Precise: true}} {
			allowed := 0
			for _, uris := range all {
				got, want := decide(t, items, opts, uris), want(items, opts.Precise, uris)
				if got != want {
					t.Errorf("%s, %s, precise %t, client %v: got %+v, want %+v", name, opts.Compiler, opts.Precise, uris, got, want)
				}
				if got.Effect == policy.Allow {
					allowed++
				}
			}
			if allowed == 0 || allowed == len(all) {
				t.Errorf("%s: %d of %d clients are allowed: the fixture does not tell the clients apart", name, allowed, len(all))
			}
		}
	}
}

// everyClient returns the URI SANs of each client.
func everyClient(items []legacy.Item) [][]string {
	ids := map[string]bool{"spiffe://unnamed/x": true}
	values := map[string][]string{}
	for _, item := range items {
		for _, tag := range item.Tags {
			san := tag.String()
			if strings.HasPrefix(san, "spiffe://") {
				mesh := san[:strings.LastIndex(san, "/")+1]
				ids[mesh+"unnamed"] = true
				ids[strings.TrimSuffix(san, "/")] = san != mesh
				continue
			}
			key := san[:strings.LastIndex(san, "/")+1]
			if !slices.Contains(values[key], san) {
				values[key] = append(values[key], san)
			}
		}
	}
	var out [][]string
	for id, whole := range ids {
		if whole {
			out = append(out, []string{id})
		}
	}
	for key, sans := range values {
		for _, uris := range out {
			for _, san := range append(sans, key+"unnamed") {
				out = append(out, append(slices.Clone(uris), san))
			}
		}
	}
	return out
}
