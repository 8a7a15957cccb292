package cases

import (
	"regexp"
	"slices"

	"github.com/meshproof/meshproof/policy/manifest"
)

// Advisory is a released security advisory that a case shows: the case holds where the flaw
// is mended. The gate of the case says by which behaviour an Envoy shows the flaw; a case
// without such a gate holds on every release that meshproof runs on.
type Advisory struct {
	// ID is the number, such as CVE-2026-73551 or consul#10699. Aliases are further numbers.
	ID      string
	Aliases []string
	// Product is the project that has the flaw, such as Envoy.
	Product string
	// Loses says what the author of a policy loses by the flaw.
	Loses string
	// Fixed are the first releases of the product with the fix, one of each line. It is empty
	// where there is none.
	Fixed []string
}

// advisorySchema is the field advisory of a case.
type advisorySchema struct{ advisory *Advisory }

// advisoryID is the number of an advisory, or the issue of a project that has published none.
var advisoryID = regexp.MustCompile(`^(CVE-[0-9]{4}-[0-9]{4,}|GHSA(-[0-9a-z]{4}){3}|[a-z][a-z0-9-]*#[0-9]+)$`)

// UnmarshalManifest lets [manifest.Document.Decode] read the type.
func (s *advisorySchema) UnmarshalManifest(d manifest.Document) error {
	var schema struct {
		ID      string   `yaml:"id"`
		Aliases []string `yaml:"aliases"`
		Product string   `yaml:"product"`
		Loses   string   `yaml:"loses"`
		Fixed   []string `yaml:"fixed"`
	}
	if err := d.Decode(&schema); err != nil {
		return err
	}
	malformed := func(id string) bool { return !advisoryID.MatchString(id) }
	switch {
	case malformed(schema.ID):
		return d.Errorf("id", "%q is no number of an advisory: write one such as CVE-2026-73551, GHSA-2w8w-rfw7-8gg4 or consul#10699", schema.ID)
	case slices.ContainsFunc(schema.Aliases, malformed):
		return d.Errorf("aliases", "one of them is no number of an advisory: write numbers such as GHSA-2w8w-rfw7-8gg4")
	case schema.Product == "":
		return d.Errorf("product", "the product is missing: name the project that has the flaw, such as Envoy")
	case schema.Loses == "":
		return d.Errorf("loses", "the loss is missing: say what the author of a policy loses by the flaw")
	}
	s.advisory = &Advisory{ID: schema.ID, Aliases: schema.Aliases, Product: schema.Product, Loses: schema.Loses, Fixed: schema.Fixed}
	return nil
}
