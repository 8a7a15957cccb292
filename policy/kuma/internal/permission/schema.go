package permission

import (
	"fmt"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/target"
	"github.com/meshproof/meshproof/policy/kuma/internal/tree"
	"github.com/meshproof/meshproof/policy/manifest"
)

type specSchema struct {
	TargetRef *target.Ref   `yaml:"targetRef"`
	Rules     *[]ruleSchema `yaml:"rules"`
	Default   *confSchema   `yaml:"default"`
	From      *[]fromSchema `yaml:"from"`
}

type ruleSchema struct {
	// Conditions are of Option 3; their conf has an action instead of lists.
	Conditions *[]matcherSchema `yaml:"conditions"`
	Default    confSchema       `yaml:"default"`
}

type confSchema struct {
	Action              *tree.Action     `yaml:"action"`
	Deny                *[]matcherSchema `yaml:"deny"`
	AllowWithShadowDeny *[]matcherSchema `yaml:"allowWithShadowDeny"`
	Allow               *[]matcherSchema `yaml:"allow"`
}

func (c confSchema) lists() [3]*[]matcherSchema {
	return [...]*[]matcherSchema{Deny: c.Deny, AllowWithShadowDeny: c.AllowWithShadowDeny, Allow: c.Allow}
}

type matcherSchema struct {
	SPIFFEID      *stringSchema `yaml:"spiffeId"`
	SPIFFEIDUpper *stringSchema `yaml:"spiffeID"`
	SNI           *sniSchema    `yaml:"sni"`
	Path          *stringSchema `yaml:"path"`
	Method        *string       `yaml:"method"`
}

// UnmarshalManifest lets [manifest.Document.Decode] read the type. It refuses dataplaneLabels,
// which the design considers and gives up.
func (m *matcherSchema) UnmarshalManifest(d manifest.Document) error {
	if _, ok := d.Lookup("dataplaneLabels"); ok {
		return d.Errorf("dataplaneLabels", "a certificate proves an identity, and no labels: any client could give itself the label; write spiffeId")
	}
	type fields matcherSchema
	return d.Decode((*fields)(m))
}

type stringSchema struct {
	Type  *matchType `yaml:"type"`
	Value string     `yaml:"value"`
}

// sniSchema is compared as a whole: Kuma has no other type for a server name.
type sniSchema struct {
	Type  *sniType `yaml:"type"`
	Value string   `yaml:"value"`
}

type sniType struct{}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (*sniType) UnmarshalText(text []byte) error {
	if string(text) != "Exact" {
		return fmt.Errorf("match type %q is not supported for a server name: use Exact", text)
	}
	return nil
}

// matchType adds strict reading to the kind of a match.
type matchType struct{ kind policy.MatchKind }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (t *matchType) UnmarshalText(text []byte) error {
	switch string(text) {
	case "Exact":
		t.kind = policy.Exact
	case "Prefix":
		t.kind = policy.Prefix
	default:
		return fmt.Errorf("match type %q is not supported: use Exact or Prefix", text)
	}
	return nil
}

// SpecFields returns the fields that its documents may have in their spec.
func SpecFields() []string { return manifest.Fields(specSchema{}) }
