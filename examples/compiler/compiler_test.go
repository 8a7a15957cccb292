package mesh_test

import (
	"testing"

	"example.com/mesh"

	"github.com/meshproof/meshproof/cases/feature"
	"github.com/meshproof/meshproof/conformance"
)

// The policies come validated, as from an API server: refusing others is not this
// compiler's task, and its report says so.
func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Suite{
		Compiler:       mesh.Compiler{},
		Implementation: conformance.Implementation{Organization: "example", Project: "mesh", URL: "https://example.com/mesh", Version: "v0.1.0", Contact: []string{"@example"}},
		Selection:      conformance.Selection{Profiles: []feature.Profile{feature.GEP3779}, Exempt: []feature.Name{"AuthorizationPolicyValidation"}},
		ReportDir:      "report",
	})
}
