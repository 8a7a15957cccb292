package mesh_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"example.com/mesh"

	"google.golang.org/grpc/credentials/insecure"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/conformance"
)

// TestConformance runs every case of the profile. The compiler expects validated policies,
// so it exempts their validation, and its report says so.
func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Suite{
		Compiler:       mesh.Compiler{},
		Implementation: conformance.Implementation{Organization: "example", Project: "mesh", URL: "https://example.com/mesh", Version: "v0.1.0", Contact: []string{"@example"}},
		Selection:      conformance.Selection{Profiles: []conformance.Profile{"GEP-3779"}, Exempt: []conformance.Feature{"AuthorizationPolicyValidation"}},
		ReportDir:      "report",
	})
}

// TestCommand runs a compiler in another language. MESH_COMPILER has its command line, for example
// "python3 ../python/compiler.py".
func TestCommand(t *testing.T) {
	command := strings.Fields(os.Getenv("MESH_COMPILER"))
	if len(command) == 0 {
		t.Skip("MESH_COMPILER is not set")
	}
	conformance.Run(t, conformance.Suite{Cases: story(t, "gateway-spiffe"), Command: command})
}

// TestControlPlane runs a control plane. MESH_CONTROL_PLANE has its address, which "go run ../controlplane"
// prints.
func TestControlPlane(t *testing.T) {
	target := os.Getenv("MESH_CONTROL_PLANE")
	if target == "" {
		t.Skip("MESH_CONTROL_PLANE is not set")
	}
	results, err := conformance.Suite{
		Cases:        story(t, "mesh-operator-1"),
		ControlPlane: &conformance.ControlPlane{Target: target, Transport: insecure.NewCredentials()},
	}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range results[0].Cases {
		if !c.Passed {
			t.Errorf("%s: %q", c.Name, c.Problems)
		}
	}
}

// story returns the built-in cases of a story.
func story(t *testing.T, name string) []cases.Case {
	all, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(c cases.Case) bool { return c.Story != name })
}
