package controlplane

import (
	"encoding/base64"
	"encoding/pem"
	"testing"

	"go.uber.org/goleak"

	"github.com/meshproof/meshproof/internal/programtest"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// redact replaces PEM data by the types of its blocks.
func redact(value any) {
	switch value := value.(type) {
	case map[string]any:
		if encoded, ok := value["inlineBytes"].(string); ok {
			raw, _ := base64.StdEncoding.DecodeString(encoded)
			types := []string{}
			for block, rest := pem.Decode(raw); block != nil; block, rest = pem.Decode(rest) {
				types = append(types, block.Type)
			}
			value["inlineBytes"] = types
		}
		for _, v := range value {
			redact(v)
		}
	case []any:
		for _, v := range value {
			redact(v)
		}
	}
}

func mustCompile(t testing.TB, p policy.Program) xds.Filters {
	t.Helper()
	f, err := xds.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

var (
	allow, is, enforce        = programtest.Allow, programtest.Is, programtest.Enforce
	twoPolicies, severalGates = programtest.TwoPolicies, programtest.SeveralGates
)
