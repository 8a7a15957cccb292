package advisory

import (
	"fmt"

	"github.com/meshproof/meshproof/internal/sarif"
)

// SARIF returns the requests that pass policies as a log: each is a finding at the rule that
// it gets past. An advisory without such a request is a finding of the Envoy, without a
// place.
func (r *Report) SARIF(version string) sarif.Log {
	var rules []sarif.Rule
	var findings []sarif.Finding
	for _, f := range r.Findings {
		rules = append(rules, sarif.Rule{ID: f.ID, Description: fmt.Sprintf("%s loses %s", f.Product, f.Loses)})
		if f.State == Present && len(f.Bypasses) == 0 {
			findings = append(findings, sarif.Finding{Rule: f.ID, Text: fmt.Sprintf("Envoy %s has the flaw.", r.Envoy)})
		}
		for _, b := range f.Bypasses {
			findings = append(findings, sarif.Finding{
				Rule: f.ID, Place: b.Place,
				Text: fmt.Sprintf("Envoy %s serves %s as %s. Without the flaw the request is %s.", r.Envoy, b.Request.Text(), b.Request.From.Name, b.text()),
			})
		}
	}
	return sarif.New(version, rules, findings)
}
